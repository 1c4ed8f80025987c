// What several tabs are made of: tables, facts, questions, times, and polling.

import { h, toast } from "../scripts/elements/dom.js";

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time of the server as an element; the dash for none. */
export function time(text, { seconds = false } = {}) {
    if (!text) return "–";
    return h("time", { datetime: text, title: text }, (seconds ? exact : dates).format(new Date(text)));
}

export function duration(seconds) {
    const units = [[86_400, "d"], [3_600, "h"], [60, "min"], [1, "s"]];
    const index = units.findIndex(([size]) => seconds >= size);
    if (index < 0) return "0 s";
    return units.slice(index, index + 2)
        .map(([size, unit], position) => [Math.floor((position ? seconds % units[index][0] : seconds) / size), unit])
        .filter(([count]) => count > 0).map((part) => part.join(" ")).join(" ");
}

/** A short label of a state: `good`, `bad` or plain. */
export const pill = (text, kind = "") => h("span", { class: `pill-label ${kind}` }, text);

/**
 * A table whose rows become cards on a phone. `columns` are names, `rows` arrays of cells; the roles keep it a table
 * for screen readers whatever its layout is.
 */
export function table(label, columns, rows) {
    return h("table", { class: "list", role: "table", "aria-label": label },
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
            columns.map((name) => h("th", { scope: "col", role: "columnheader" }, name)))),
        h("tbody", { role: "rowgroup" }, rows.map((cells) => row(columns, cells))));
}

export const row = (columns, cells) => h("tr", { role: "row" },
    cells.map((cell, index) => h("td", { role: "cell", data: { label: columns[index] } }, cell)));

/** Names and what they are, for one thing. */
export const facts = (pairs) => h("dl", { class: "facts" }, pairs.map(([name, value]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value))));

export const heading = (text, ...beside) => h("div", { class: "heading" }, h("h1", {}, text), beside);

/** Asks before something that cannot be taken back. Resolves to whether to go on. */
export function confirm({ title, text, action, danger = true }) {
    return new Promise((resolve) => {
        const dialog = h("dialog", { class: "dialog", "aria-labelledby": "question" },
            h("h2", { id: "question" }, title), h("p", {}, text),
            h("form", { method: "dialog", class: "choices" },
                h("button", { value: "no", class: "soft" }, "Cancel"),
                h("button", { value: "yes", class: danger ? "danger" : "primary" }, action)));
        dialog.addEventListener("close", () => {
            dialog.remove();
            resolve(dialog.returnValue === "yes");
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

export const fail = (error) => { if (error.status !== 401) toast(error.message, { error: true }); };

/** Copies a text, and says so. */
export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        toast("Copied");
    } catch {
        toast("The browser does not allow copying: select the text.", { error: true });
    }
}

/**
 * Runs `work(signal)` now and again `interval` milliseconds after it has ended, but not while the page is hidden.
 * Returns a function that stops it.
 */
export function poll(work, interval) {
    const controller = new AbortController();
    let timer;
    async function run() {
        clearTimeout(timer);
        if (!document.hidden) await work(controller.signal).catch(() => {});
        if (!controller.signal.aborted) timer = setTimeout(run, interval);
    }
    run();
    return () => {
        clearTimeout(timer);
        controller.abort();
    };
}

/**
 * A list that is read in pages: `read(cursor)` resolves to [rows, nextCursor]. Returns { element, reload }.
 */
export function pages(label, columns, read, { empty, more = "More" }) {
    const body = h("div", {});
    const button = h("button", { type: "button", class: "soft", hidden: true }, more);
    let cursor;
    let turn = 0;

    async function load(isFirst) {
        const mine = ++turn;
        button.setAttribute("aria-busy", "true");
        try {
            const [rows, next] = await read(isFirst ? undefined : cursor);
            if (mine !== turn) return;
            if (isFirst) {
                body.replaceChildren(rows.length ? table(label, columns, rows) : h("p", { class: "hint nothing" }, empty));
            } else {
                body.querySelector("tbody")?.append(...rows.map((cells) => row(columns, cells)));
            }
            cursor = next;
            button.hidden = !next;
        } catch (error) {
            if (mine !== turn) return;
            if (isFirst) body.replaceChildren(h("p", { class: "form-error", role: "alert" }, error.message));
            else fail(error);
        } finally {
            if (mine === turn) button.removeAttribute("aria-busy");
        }
    }

    button.addEventListener("click", () => load(false));
    return { element: h("div", { class: "pages" }, body, button), reload: () => load(true) };
}

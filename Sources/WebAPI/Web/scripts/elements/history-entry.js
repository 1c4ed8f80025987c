// An entry of the browser's history that stands for something over a page: Back closes that first, and only then the page.
// What a dialog shows over it is closed before it.
//
// Where one has gone on from such an entry to another page, or has reloaded it, it stands for nothing and is skipped.

/** The state of the current entry, and of the one that was left last: the event does not have it. */
let current = history.state;
let left;
addEventListener("popstate", ({ state }) => { [left, current] = [current, state]; });
addEventListener("hashchange", () => { current = history.state; });

/** The state of the entry from which Back, or Forward, has come. */
export const leftEntry = () => left;

/** Adds an entry. That of a dialog which is closed is of no use any more: it becomes the new one. */
export function addEntry(state) {
    const isFree = history.state?.dialog && !document.querySelector("dialog.dialog[open]");
    if (isFree) history.replaceState(state, "");
    else history.pushState(state, "");
    current = state;
}

export class HistoryEntry {
    #name;
    #close;

    /** `name` is one of its own among all that have an entry. */
    constructor(name) {
        this.#name = name;
        addEventListener("popstate", ({ state }) => this.#handle(state));
        if (history.state?.[name]) history.back();
    }

    /** It is there: `close` is called by Back, and by going to another address. */
    add(close) {
        this.#close = close;
        addEntry({ [this.#name]: true });
    }

    /** It was closed in another way. */
    remove() {
        this.#close = undefined;
        if (history.state?.[this.#name]) history.back();
    }

    #handle(state) {
        const close = this.#close;
        if (state?.[this.#name]) return close ? undefined : history.back();
        // A call over it has an entry of its own.
        if (!close || state?.call) return undefined;
        const dialogs = [...document.querySelectorAll("dialog.dialog[open]")];
        if (dialogs.length > 0) {
            for (const dialog of dialogs) dialog.close();
            return this.add(close);
        }
        this.#close = undefined;
        return close();
    }
}

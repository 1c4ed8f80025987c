// Server keys: the list, making one, rotating and revoking.

import { busy, h, toast } from "../../scripts/elements/dom.js";
import { get, request } from "../session.js";
import { confirm, copy, fail, heading, pages, pill, time } from "../widgets.js";

const COLUMNS = ["Name", "State", "Scopes", "Addresses", "Dates", "What to do"];
const SCOPES = [
    ["users", "Create, read, disable and sign out users"], ["tokens", "Issue access tokens of users"],
    ["calls:read", "Read calls"], ["calls:write", "Place and end calls"],
    ["conversations:read", "Read conversations"], ["conversations:write", "Write in conversations"],
    ["recordings", "Read recordings"], ["events", "Read events"], ["operator", "Everything on this page"],
];
const LIFETIMES = [["", "Until it is revoked"], ["1d", "A day"], ["30d", "30 days"], ["90d", "90 days"], ["365d", "A year"]];

export const keys = {
    id: "keys",
    title: "Keys",

    open(root) {
        const made = h("div", {});
        const list = pages("Keys", COLUMNS, async () => [(await get("/admin/v1/keys")).keys.reverse().map(cells)],
            { empty: "There are no keys." });

        function cells(key) {
            const isActive = key.state === "active";
            return [
                h("div", { class: "name" }, h("strong", {}, h("bdi", {}, key.name)), h("code", { class: "hint" }, key.id)),
                pill(key.state[0].toUpperCase() + key.state.slice(1), isActive ? "good" : "bad"),
                key.scopes.join(", "), key.addresses.join(", ") || "any",
                h("ul", { class: "dates" }, [
                    ["created", key.createdAt], ["expires", key.expiresAt], ["revoked", key.revokedAt],
                    ["used", key.lastUsedAt], ["the previous one works until", key.previousUntil],
                ].filter(([, at]) => at).map(([name, at]) => h("li", {}, `${name} `, time(at)))),
                h("div", { class: "actions" }, isActive && rotate(key), key.state !== "revoked" && revoke(key)),
            ];
        }

        function rotate(key) {
            // One id for each rotation, so that a request whose response was lost can be sent again.
            const clientID = crypto.randomUUID();
            const button = h("button", { type: "button", class: "soft small", onclick: async () => {
                if (!await confirm({ title: `Rotate ${key.name}?`, action: "Rotate", danger: false,
                    text: "You get a new key with the same id. The old one works for another 24 hours, and one that was "
                        + "rotated before no longer does." })) return;
                await busy(button, async () => {
                    showKey(await request("POST", `/admin/v1/keys/${key.id}/rotate`, { clientID }));
                    await list.reload();
                }, fail);
            } }, "Rotate");
            return button;
        }

        function revoke(key) {
            const button = h("button", { type: "button", class: "soft danger-text small", onclick: async () => {
                if (!await confirm({ title: `Revoke ${key.name}?`, action: "Revoke",
                    text: "It stops working at once and for ever, and who is signed in here with it is signed out." })) return;
                await busy(button, async () => {
                    await request("POST", `/admin/v1/keys/${key.id}/revoke`);
                    toast("The key is revoked");
                    await list.reload();
                }, fail);
            } }, "Revoke");
            return button;
        }

        function showKey({ key, text }) {
            made.replaceChildren(h("section", { class: "card made", "aria-labelledby": "made" },
                h("h2", { id: "made", tabindex: "-1" }, `The key ${key.name}`),
                h("p", {}, "Copy it now: it is not stored, and cannot be shown again."),
                h("p", { class: "secret" }, h("code", { id: "made-key" }, text)),
                h("div", { class: "actions" },
                    h("button", { type: "button", class: "primary", onclick: () => copy(text) }, "Copy"),
                    h("button", { type: "button", class: "quiet", onclick: () => made.replaceChildren() }, "Done"))));
            document.getElementById("made").focus();
        }

        root.append(heading("Keys"), made, form(async (body) => {
            showKey(await request("POST", "/admin/v1/keys", body));
            await list.reload();
        }), list.element);
        list.reload();
    },
};

function form(create) {
    let clientID = crypto.randomUUID();
    const error = h("p", { class: "form-error", role: "alert", hidden: true });
    const name = h("input", { id: "key-name", required: true, maxlength: "80", autocomplete: "off" });
    const scopes = SCOPES.map(([scope]) => h("input", { type: "checkbox", id: `scope-${scope}`, value: scope }));
    const expires = h("select", { id: "key-expires" },
        LIFETIMES.map(([value, text]) => h("option", { value }, text)));
    const addresses = h("input", { id: "key-addresses", autocomplete: "off", "aria-describedby": "key-addresses-hint" });
    const button = h("button", { class: "primary" }, "Create the key");
    const element = h("form", { class: "stack", onsubmit: (event) => {
        event.preventDefault();
        busy(button, async () => {
            error.hidden = true;
            await create({
                clientID, name: name.value, scopes: scopes.filter((one) => one.checked).map((one) => one.value),
                ...(expires.value && { expires: expires.value }),
                addresses: addresses.value.split(/[\s,]+/).filter(Boolean),
            });
            clientID = crypto.randomUUID();
            element.reset();
            details.open = false;
        }, (problem) => {
            // Another content is another request.
            if (problem.status) clientID = crypto.randomUUID();
            error.textContent = problem.message;
            error.hidden = false;
        });
    } },
    error,
    h("div", { class: "field" }, h("label", { for: "key-name" }, "What it is for"), name),
    h("fieldset", { class: "scopes" }, h("legend", {}, "What it may do"), scopes.map((box, index) =>
        h("div", { class: "check" }, box, h("label", { for: box.id }, h("code", {}, SCOPES[index][0]), ` ${SCOPES[index][1]}`)))),
    h("div", { class: "columns" },
        h("div", { class: "field" }, h("label", { for: "key-expires" }, "How long"), expires),
        h("div", { class: "field" }, h("label", { for: "key-addresses" }, "From which addresses"), addresses,
            h("p", { id: "key-addresses-hint", class: "hint" }, "Ranges such as 192.0.2.0/24; empty for any."))),
    h("div", { class: "actions" }, button));
    const details = h("details", { class: "card" }, h("summary", {}, "New key"), element);
    return details;
}

// The form to sign in with a key.

import { busy, h } from "../scripts/elements/dom.js";
import { session } from "./session.js";

export function showSignIn(page) {
    const error = h("p", { class: "form-error", role: "alert", hidden: !session.notice }, session.notice);
    const input = h("input", {
        id: "key", name: "key", type: "password", autocomplete: "off", spellcheck: "false", required: true,
        "aria-describedby": "key-hint", placeholder: "sbk_…",
    });
    const button = h("button", { class: "primary wide" }, "Sign in");
    const form = h("form", {
        class: "card sign-in", onsubmit: (event) => {
            event.preventDefault();
            busy(button, async () => {
                error.hidden = true;
                await session.signIn(input.value.trim());
            }, ({ message }) => {
                error.textContent = message;
                error.hidden = false;
                input.focus();
            });
        },
    },
    h("h1", {}, "Switchboard"),
    h("p", { class: "hint" }, "The operator’s page"),
    error,
    h("div", { class: "field" },
        h("label", { for: "key" }, "Key"), input,
        h("p", { id: "key-hint", class: "hint" }, "A server key of the scope operator. The first one is made by ",
            h("code", {}, "switchboard key create --name you --scope operator"), ".")),
    button);
    page.replaceChildren(h("main", { id: "main", tabindex: "-1", class: "alone" }, form));
    document.title = "Sign in · Switchboard";
    input.focus();
    return () => {};
}

// The first page: sign in, or sign up where the server allows it.

import { signIn, signUp } from "../api.js";
import { credentials } from "../credentials.js";
import { busy, button, field, h } from "../dom.js";
import { errorMessage } from "../problems.js";

/** `notice` says why the server cannot be reached; undefined if it can. */
export function showWelcome(root, server, { mode = "sign-in", notice } = {}) {
    const canSignUp = server.signUp !== "closed";
    const isNew = mode === "sign-up" && canSignUp;
    const other = (to) => () => showWelcome(root, server, { mode: to, notice });
    const form = isNew ? signUpForm(server) : signInForm();
    root.replaceChildren(h("main", { id: "main", class: "welcome" },
        notice && h("p", { id: "offline", class: "banner", role: "status" }, notice),
        h("section", { class: "brand", "aria-label": "About" },
            h("img", { src: "/favicon.svg", alt: "", class: "logo" }),
            h("p", { class: "wordmark" }, "Switchboard"),
            h("p", { class: "tagline" }, "Calls that stay between you and the people you call."),
            h("ul", { class: "promises" },
                h("li", {}, "Audio and video, straight from browser to browser."),
                h("li", {}, "Keeps going when your network changes."),
                h("li", {}, "Runs on your own server."))),
        h("section", { class: "card sign", "aria-labelledby": "sign-title" },
            h("h1", { id: "sign-title" }, isNew ? "Create your account" : "Welcome back"),
            form,
            canSignUp && h("p", { class: "switch-form" }, isNew ? "Already have an account? " : "New here? ",
                h("button", { type: "button", class: "link", id: isNew ? "to-sign-in" : "to-sign-up",
                    onclick: other(isNew ? "sign-in" : "sign-up") }, isNew ? "Sign in" : "Create an account")),
            !canSignUp && h("p", { class: "hint" }, "Accounts are created by the server’s operator."))));
    form.querySelector("input").focus();
}

function signInForm() {
    return accountForm("sign-in-form", "Sign in", [
        field({ label: "E-mail", name: "email", type: "email", autocomplete: "username", required: true }),
        field({ label: "Password", name: "password", type: "password", autocomplete: "current-password", required: true }),
    ], ({ email, password }) => signIn({ email, password }));
}

function signUpForm(server) {
    const languages = [...new Set(navigator.languages ?? [])].slice(0, 3);
    return accountForm("sign-up-form", "Create account", [
        field({ label: "Your name", name: "displayName", autocomplete: "name", required: true, maxlength: "80" }),
        field({ label: "E-mail", name: "email", type: "email", autocomplete: "username", required: true }),
        field({ label: "Password", name: "password", type: "password", autocomplete: "new-password", required: true,
            minlength: "8", maxlength: "128", hint: "At least 8 characters." }),
        server.signUp === "invite" && field({ label: "Invitation code", name: "invite", autocomplete: "off",
            required: true, hint: "Ask the server’s operator for one." }),
    ], ({ displayName, email, password, invite }) =>
        signUp({ displayName, email, password, languages, ...(invite && { invite }) }));
}

function accountForm(id, label, fields, submit) {
    const error = h("p", { class: "form-error", role: "alert", hidden: true });
    const keep = h("input", { type: "checkbox", id: "keep", name: "keep", checked: true });
    const send = button({ label, type: "submit", class: "primary wide" });
    const form = h("form", { id, novalidate: true }, fields,
        h("div", { class: "check" }, keep, h("label", { for: "keep" }, "Keep me signed in on this device")),
        error, send);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const wrong = form.querySelector("input:invalid");
        if (wrong) return showError(form, error, wrong.name, validationMessage(wrong));
        const values = Object.fromEntries(new FormData(form));
        return busy(send, async () => {
            credentials.begin(await submit({ ...values, email: values.email.trim() }), keep.checked);
        }, (problem) => showError(form, error, problem.field, messageFor(problem)));
    });
    return form;
}

/** Shows the error, and focuses the field that it is about. */
function showError(form, error, name, text) {
    for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    error.textContent = text;
    error.hidden = false;
    const input = name && form.elements[name];
    input?.setAttribute?.("aria-invalid", "true");
    (input?.focus ? input : form.querySelector("input")).focus();
}

function messageFor(problem) {
    if (problem.type === "conflict") return "There is already an account with this e-mail. Sign in instead?";
    return errorMessage(problem);
}

function validationMessage(input) {
    if (input.validity.valueMissing) {
        return { email: "Enter your e-mail address.", password: "Enter your password.",
            displayName: "Enter your name.", invite: "Enter your invitation code." }[input.name];
    }
    if (input.type === "email") return "That doesn’t look like an e-mail address.";
    return "The password needs at least 8 characters.";
}

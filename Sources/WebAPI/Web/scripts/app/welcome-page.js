// The first page: sign in, or sign up where the server allows it.

import { signIn, signUp } from "../connection/api.js";
import { credentials } from "../connection/credentials.js";
import { errorMessage } from "../connection/problems.js";
import { busy, button, field, h, icon } from "../elements/dom.js";
import { t } from "../language/texts.js";
import { languageList } from "../settings/language-list.js";

/** `notice` says why the server cannot be reached; undefined if it can. `isNowhere` says that there is no page at the address. */
export function showWelcome(root, server, { mode = "sign-in", notice, isNowhere = false } = {}) {
    const canSignUp = server.signUp !== "closed";
    const isNew = mode === "sign-up" && canSignUp;
    const other = (to) => () => showWelcome(root, server, { mode: to, notice, isNowhere });
    const form = isNew ? signUpForm(server) : signInForm();
    root.replaceChildren(h("main", { id: "main", class: "welcome" },
        notice && h("p", { id: "offline", class: "banner", role: "status" }, notice),
        h("section", { class: "brand", "aria-label": t("welcome.about") },
            h("img", { src: "/favicon.svg", alt: "", class: "logo" }),
            h("p", { class: "wordmark" }, "Switchboard"),
            h("p", { class: "tagline" }, t("welcome.tagline")),
            h("ul", { class: "promises" },
                h("li", {}, t("welcome.promiseDirect")),
                h("li", {}, t("welcome.promiseRoaming")),
                h("li", {}, t("welcome.promiseOwn")))),
        h("section", { class: "card sign", "aria-labelledby": "sign-title" },
            isNowhere && h("p", { class: "nowhere", role: "status" }, icon("search"), h("span", {}, t("address.nowhere"))),
            h("h1", { id: "sign-title" }, isNew ? t("welcome.createYours") : t("welcome.back")),
            form,
            canSignUp && h("p", { class: "switch-form" }, isNew
                ? t.rich("welcome.haveAccount", { signIn: switchButton("to-sign-in", t("welcome.signIn"), other("sign-in")) })
                : t.rich("welcome.newHere", { create: switchButton("to-sign-up", t("welcome.createAn"), other("sign-up")) })),
            !canSignUp && h("p", { class: "hint" }, t("welcome.closed")))));
    form.querySelector("input").focus();
}

const switchButton = (id, text, onclick) => h("button", { type: "button", class: "link", id, onclick }, text);

function signInForm() {
    return accountForm("sign-in-form", t("welcome.signIn"), [
        field({ label: t("welcome.email"), name: "email", type: "email", autocomplete: "username", required: true }),
        field({ label: t("welcome.password"), name: "password", type: "password", autocomplete: "current-password", required: true }),
    ], ({ email, password }) => signIn({ email, password }));
}

function signUpForm(server) {
    const languages = languageList({ id: "sign-up-languages", label: t("settings.languages"), hint: server.translates && t("languages.signUpHint"),
        languages: [...new Set(navigator.languages ?? [])].slice(0, 3) });
    return accountForm("sign-up-form", t("welcome.create"), [
        field({ label: t("settings.name"), name: "displayName", autocomplete: "name", required: true, maxlength: "80" }),
        field({ label: t("welcome.email"), name: "email", type: "email", autocomplete: "username", required: true }),
        field({ label: t("welcome.password"), name: "password", type: "password", autocomplete: "new-password", required: true,
            minlength: "8", maxlength: "128", hint: t("welcome.passwordHint") }),
        server.signUp === "invite" && field({ label: t("welcome.invite"), name: "invite", autocomplete: "off",
            required: true, hint: t("welcome.inviteHint") }),
        languages.node,
    ], ({ displayName, email, password, invite }) =>
        signUp({ displayName, email, password, languages: languages.value, ...(invite && { invite }) }));
}

function accountForm(id, label, fields, submit) {
    const error = h("p", { class: "form-error", role: "alert", hidden: true });
    const keep = h("input", { type: "checkbox", id: "keep", name: "keep", checked: true });
    const send = button({ label, type: "submit", class: "primary wide" });
    const form = h("form", { id, novalidate: true }, fields,
        h("div", { class: "check" }, keep, h("label", { for: "keep" }, t("welcome.keep"))),
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
    if (problem.type === "conflict") return t("welcome.exists");
    if (problem.type === "unauthenticated") return t("welcome.wrong");
    return errorMessage(problem);
}

function validationMessage(input) {
    if (input.validity.valueMissing) {
        return t(`missing.${input.name}`);
    }
    if (input.type === "email") return t("welcome.noEmail");
    return t("welcome.shortPassword");
}

// The settings of the account and of this browser.

import { authorized } from "../connection/api.js";
import { credentials } from "../connection/credentials.js";
import { request } from "../connection/requests.js";
import { avatar } from "../elements/avatar.js";
import { ask } from "../elements/dialogs.js";
import { busy, button, field, h, toast, toggle } from "../elements/dom.js";
import { language } from "../language/language.js";
import { t } from "../language/texts.js";
import { push } from "../notifications/push.js";
import { contactLink } from "../people/contact-link.js";
import { scaled } from "../people/photo.js";
import { preferences } from "../store/preferences.js";
import { localDrafts } from "../sync/local-drafts.js";
import { outbox } from "../sync/outbox.js";
import { deletionSection } from "./delete-account.js";
import { appearanceSection } from "./settings-appearance.js";
import { languagesSection } from "./settings-languages.js";
import { blockedSection, devicesSection } from "./settings-lists.js";
import { notificationsSection } from "./settings-notifications.js";
import { report, section } from "./settings-section.js";
import { shortcutList } from "./shortcuts.js";

/** `name` is that of the section to go to: without such a one there is no page. */
export function settingsPage(_, name) {
    const [devices, blocked, languages, notifications] = [devicesSection(), blockedSection(), languagesSection(), notificationsSection()];
    const page = {
        node: h("div", { class: "page settings" }, h("h1", {}, t("settings.title")),
            profileSection(), languages.node, languageSection(), appearanceSection(), callsSection(), privacySection(), contactLink(), browserSection(), notifications.node, devices.node, blocked.node, passwordSection(),
            shortcutsSection(), signOutSection(), deletionSection()),
        opened() { if (heading) goTo(heading); },
        close() {
            devices.close();
            blocked.close();
            languages.close();
            notifications.close();
        },
    };
    const heading = name && page.node.querySelector(`#section-${name}`);
    if (!name || heading) return page;
    page.close();
    return undefined;
}

function goTo(heading) {
    heading.closest("section").scrollIntoView();
    heading.setAttribute("tabindex", "-1");
    heading.focus({ preventScroll: true });
}

async function change(values) {
    credentials.setUser(await request("me.update", values));
}

function profileSection() {
    const me = credentials.user;
    const save = button({ label: t("common.save"), type: "submit", class: "primary" });
    const form = h("form", { id: "profile-form" },
        field({ label: t("settings.name"), name: "displayName", value: me.displayName, required: true, maxlength: "80", autocomplete: "name" }),
        me.email && h("p", { class: "hint" }, t("settings.signedInAs", { email: me.email })), save);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        busy(save, async () => {
            await change({ displayName: form.elements.displayName.value.trim() });
            toast(t("settings.profileSaved"));
        }, report);
    });
    return section("profile", t("settings.profile"), photoRow(), form);
}

/** The user's photo, with buttons to change it. */
function photoRow() {
    const preview = h("div", { class: "photo-preview" });
    const input = h("input", { type: "file", accept: "image/*", class: "unseen", id: "photo-file", tabindex: "-1", "aria-hidden": "true" });
    const choose = button({ name: "upload", label: t("settings.choosePhoto"), class: "small soft", data: { action: "choose-photo" },
        onclick: () => input.click() });
    const remove = button({ label: t("common.remove"), class: "small quiet danger-text", data: { action: "remove-photo" }, "aria-label": t("settings.removePhoto"),
        onclick: () => busy(remove, async () => { show(await authorized("DELETE", "/v1/me/photo")); toast(t("settings.photoRemoved")); }, report) });
    const show = ({ positions: _, ...user }) => {
        credentials.setUser(user);
        preview.replaceChildren(avatar(user, { size: "large" }));
        remove.hidden = !user.photoURL;
    };
    input.addEventListener("change", () => {
        const [file] = input.files;
        input.value = "";
        if (file) busy(choose, async () => {
            show(await authorized("PUT", "/v1/me/photo", await scaled(file), { timeout: 60_000 }));
            toast(t("settings.photoSaved"));
        }, report);
    });
    show(credentials.user);
    return h("div", { class: "photo-row", id: "photo" }, preview, h("div", {}, choose, input, remove,
        h("p", { class: "hint" }, t("settings.photoHint"))));
}

/** The language of the page, which is drawn anew in it. */
function languageSection() {
    const values = [["", t("settings.languageOfBrowser")], ...Object.entries(language.choices)];
    const input = h("select", { id: "setting-language", name: "language" },
        values.map(([tag, name]) => h("option", { value: tag, selected: tag === language.chosen, lang: tag || undefined }, name)));
    input.addEventListener("change", async () => {
        try {
            await language.choose(input.value);
            document.getElementById("setting-language")?.focus();
        } catch {
            input.value = language.chosen;
            toast(t("settings.languageMissing"), { error: true });
        }
    });
    return section("language", t("settings.language"), h("div", { class: "field" },
        h("label", { for: "setting-language", class: "unseen" }, t("settings.language")), input));
}

function callsSection() {
    const me = credentials.user;
    const set = (name, value) => async (on, input) => {
        try { await change({ [name]: value(on) }); } catch (error) {
            input.checked = !on;
            report(error);
        }
    };
    return section("calls", t("settings.calls"),
        toggle({ id: "call-waiting", label: t("settings.callWaiting"), checked: me.callWaiting, onchange: set("callWaiting", (on) => on),
            hint: t("settings.callWaitingHint") }),
        toggle({ id: "presence", label: t("settings.presence"), checked: me.presence !== "nobody",
            onchange: set("presence", (on) => on ? "everybody" : "nobody"),
            hint: t("settings.presenceHint") }));
}

function privacySection() {
    const me = credentials.user;
    const choice = (name, label, hint, values) => {
        const input = h("select", { id: `setting-${name}`, name },
            values.map(([value, text]) => h("option", { value, selected: value === me[name] }, text)));
        let last = input.value;
        input.addEventListener("change", async () => {
            try {
                await change({ [name]: input.value });
                last = input.value;
            } catch (error) {
                input.value = last;
                report(error);
            }
        });
        return h("div", { class: "field" }, h("label", { for: `setting-${name}` }, label), input, h("p", { class: "hint" }, hint));
    };
    return section("privacy", t("settings.privacy"),
        choice("lastSeen", t("settings.lastSeen"), t("settings.lastSeenHint"),
            ["everybody", "friends", "nobody"].map((value) => [value, t(`lastSeen.${value}`)])),
        choice("messageRequests", t("settings.messageRequests"), t("settings.messageRequestsHint"),
            ["ask", "accept", "refuse"].map((value) => [value, t(`messageRequests.${value}`)])),
        choice("reach", t("settings.reach"), t("settings.reachHint"),
            ["everybody", "exact"].map((value) => [value, t(`reach.${value}`)])),
        toggle({ id: "receipts", label: t("settings.receipts"), checked: me.receipts !== false,
            onchange: async (on, input) => {
                try { await change({ receipts: on }); } catch (error) {
                    input.checked = !on;
                    report(error);
                }
            },
            hint: t("settings.receiptsHint") }));
}

function browserSection() {
    return section("this-browser", t("diagnostics.browser"),
        toggle({ id: "relay-always", label: t("settings.hideAddress"), checked: preferences.get("relayOnly"),
            onchange: (on) => preferences.set("relayOnly", on),
            hint: t("settings.hideAddressHint") }),
        toggle({ id: "save-data", label: t("settings.saveData"), checked: preferences.get("saveData"),
            onchange: (on) => preferences.set("saveData", on),
            hint: t("settings.saveDataHint") }),
        toggle({ id: "sound", label: t("settings.ringAloud"), checked: preferences.get("sound"),
            onchange: (on) => preferences.set("sound", on) }));
}

function passwordSection() {
    const save = button({ label: t("settings.changePassword"), type: "submit", class: "primary" });
    const form = h("form", { id: "password-form" },
        h("input", { type: "text", autocomplete: "username", value: credentials.user.email ?? "", hidden: true }),
        field({ label: t("settings.currentPassword"), name: "currentPassword", type: "password", autocomplete: "current-password", required: true }),
        field({ label: t("settings.newPassword"), name: "newPassword", type: "password", autocomplete: "new-password", required: true,
            minlength: "8", maxlength: "128", hint: t("settings.newPasswordHint") }), save);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        busy(save, async () => {
            await authorized("POST", "/v1/me/password", Object.fromEntries(new FormData(form)));
            form.reset();
            toast(t("settings.passwordChanged"));
        }, report);
    });
    return section("password", t("welcome.password"), form);
}

function shortcutsSection() { return section("keyboard", t("shortcuts.title"), shortcutList()); }

function signOutSection() {
    return button({ name: "signOut", label: t("settings.signOut"), class: "soft danger-text wide", data: { action: "sign-out" },
        onclick: (event) => busy(event.target.closest("button"), signOut, report) });
}

async function signOut() {
    const unsent = outbox.unsentMessages;
    const consequences = [document.getElementById("call") && t("settings.signOutConsequence"),
        unsent > 0 && t("settings.signOutUnsent", { count: unsent }), !localDrafts.isEmpty && t("settings.signOutBegun")].filter(Boolean);
    if (consequences.length > 0 && !await ask({ title: t("settings.signOutSure"), text: consequences.join(" "), danger: unsent > 0 || !localDrafts.isEmpty,
        choices: [{ value: true, label: t("settings.signOut") }] })) return;
    await push.end();
    try { await authorized("DELETE", "/v1/sessions/current"); } finally { credentials.end(); }
}

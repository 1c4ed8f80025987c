// The settings of the account and of this browser.

import { authorized } from "../api.js";
import { credentials } from "../credentials.js";
import { busy, button, field, h, toast, toggle } from "../dom.js";
import { scaled } from "../photo.js";
import { preferences } from "../preferences.js";
import { request } from "../requests.js";
import { avatar } from "./avatar.js";
import { deletionSection } from "./delete-account.js";
import { ask } from "./dialogs.js";
import { blockedSection, devicesSection } from "./settings-lists.js";
import { report, section } from "./settings-section.js";

export function settingsPage() {
    return {
        node: h("div", { class: "page settings" }, h("h1", {}, "Settings"),
            profileSection(), callsSection(), privacySection(), browserSection(), devicesSection(), blockedSection(), passwordSection(),
            shortcutsSection(), signOutSection(), deletionSection()),
    };
}

async function change(values) {
    credentials.setUser(await request("me.update", values));
}

function profileSection() {
    const me = credentials.user;
    const save = button({ label: "Save", type: "submit", class: "primary" });
    const form = h("form", { id: "profile-form" },
        field({ label: "Your name", name: "displayName", value: me.displayName, required: true, maxlength: "80", autocomplete: "name" }),
        field({ label: "Languages you speak", name: "languages", value: (me.languages ?? []).join(", "),
            hint: "Language codes, separated by commas, such as en, es, ar." }),
        me.email && h("p", { class: "hint" }, `Signed in as ${me.email}`), save);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        busy(save, async () => {
            const languages = form.elements.languages.value.split(/[\s,]+/).filter(Boolean);
            await change({ displayName: form.elements.displayName.value.trim(), languages });
            toast("Profile saved.");
        }, report);
    });
    return section("Profile", photoRow(), form);
}

/** The user's photo, with buttons to change it. */
function photoRow() {
    const preview = h("div", { class: "photo-preview" });
    const input = h("input", { type: "file", accept: "image/*", class: "unseen", id: "photo-file", tabindex: "-1", "aria-hidden": "true" });
    const choose = button({ name: "upload", label: "Choose a photo", class: "small soft", data: { action: "choose-photo" },
        onclick: () => input.click() });
    const remove = button({ label: "Remove", class: "small quiet danger-text", data: { action: "remove-photo" }, "aria-label": "Remove your photo",
        onclick: () => busy(remove, async () => { show(await authorized("DELETE", "/v1/me/photo")); toast("Photo removed."); }, report) });
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
            toast("Photo saved.");
        }, report);
    });
    show(credentials.user);
    return h("div", { class: "photo-row", id: "photo" }, preview, h("div", {}, choose, input, remove,
        h("p", { class: "hint" }, "Everyone who can find you sees it.")));
}

function callsSection() {
    const me = credentials.user;
    const set = (name, value) => async (on, input) => {
        try { await change({ [name]: value(on) }); } catch (error) {
            input.checked = !on;
            report(error);
        }
    };
    return section("Calls",
        toggle({ id: "call-waiting", label: "Call waiting", checked: me.callWaiting, onchange: set("callWaiting", (on) => on),
            hint: "Others can still ring you while you are in a call. When this is off, they are told that you are busy." }),
        toggle({ id: "presence", label: "Show when I’m online", checked: me.presence !== "nobody",
            onchange: set("presence", (on) => on ? "everyone" : "nobody"),
            hint: "Friends, and people you chat with, see a green dot while you are here." }));
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
    return section("Privacy",
        choice("lastSeen", "Who sees when you were last here", "You see it of those who see it of you.",
            [["everybody", "Everybody you chat with"], ["friends", "Friends"], ["nobody", "Nobody"]]),
        choice("messageRequests", "Messages from people you don’t know", "If you refuse them, nobody is told.",
            [["ask", "Ask me first"], ["accept", "Accept them"], ["refuse", "Refuse them"]]),
        choice("reach", "Who finds you by your name", "Your e-mail address and your link always find you.",
            [["everybody", "Everybody"], ["exact", "Friends"]]),
        toggle({ id: "receipts", label: "Show what I have read", checked: me.receipts !== false,
            onchange: async (on, input) => {
                try { await change({ receipts: on }); } catch (error) {
                    input.checked = !on;
                    report(error);
                }
            },
            hint: "If this is off, you don’t see what others have read either." }));
}

function browserSection() {
    const permission = window.Notification?.permission;
    return section("This browser",
        toggle({ id: "relay-always", label: "Hide my address", checked: preferences.get("relayOnly"),
            onchange: (on) => preferences.set("relayOnly", on),
            hint: "Calls go through the server’s relay, so the other person doesn’t learn your network address." }),
        toggle({ id: "save-data", label: "Save data", checked: preferences.get("saveData"),
            onchange: (on) => preferences.set("saveData", on),
            hint: "Your camera sends a small picture: for slow connections, mobile data and longer battery life." }),
        toggle({ id: "sound", label: "Ring aloud", checked: preferences.get("sound"),
            onchange: (on) => preferences.set("sound", on) }),
        permission === "default" && button({ name: "bell", label: "Turn on notifications", class: "soft",
            onclick: (event) => Notification.requestPermission().then(() => event.target.closest("button").remove()) }),
        permission === "denied" && h("p", { class: "hint" },
            "Notifications are blocked. Allow them in your browser’s site settings to be notified of calls in the background."));
}

function passwordSection() {
    const save = button({ label: "Change password", type: "submit", class: "primary" });
    const form = h("form", { id: "password-form" },
        h("input", { type: "text", autocomplete: "username", value: credentials.user.email ?? "", hidden: true }),
        field({ label: "Current password", name: "currentPassword", type: "password", autocomplete: "current-password", required: true }),
        field({ label: "New password", name: "newPassword", type: "password", autocomplete: "new-password", required: true,
            minlength: "8", maxlength: "128", hint: "At least 8 characters. Your other devices will be signed out." }), save);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        busy(save, async () => {
            await authorized("POST", "/v1/me/password", Object.fromEntries(new FormData(form)));
            form.reset();
            toast("Password changed. Your other devices were signed out.");
        }, report);
    });
    return section("Password", form);
}

function shortcutsSection() {
    const keys = [["Ctrl K", "Go to a chat"], ["↑", "Edit your last message, or go from message to message"], ["R", "Reply to the chosen message"],
        ["M", "Mute or unmute"], ["V", "Camera on or off"], ["H", "Hold or resume"], ["D", "Connection details"],
        ["Enter", "Accept a ringing call"], ["Esc", "Decline a ringing call, close a panel"]];
    return section("Keyboard", h("dl", { class: "keys" },
        keys.map(([key, meaning]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, meaning)))));
}

function signOutSection() {
    return button({ name: "signOut", label: "Sign out", class: "soft danger-text wide", data: { action: "sign-out" },
        onclick: (event) => busy(event.target.closest("button"), signOut, report) });
}

async function signOut() {
    const live = document.getElementById("call");
    if (live && !await ask({ title: "Sign out?", text: "This ends the call you are in.",
        choices: [{ value: true, label: "Sign out" }] })) return;
    try { await authorized("DELETE", "/v1/sessions/current"); } finally { credentials.end(); }
}

// The card of a person: a dialog over any page.

import { button, h, toast } from "../dom.js";
import { errorMessage } from "../problems.js";
import { request } from "../requests.js";
import { avatar } from "./avatar.js";
import { ask, open } from "./dialogs.js";
import { writeTo } from "./inbox.js";
import { callPerson } from "./start-call.js";

/** A person's card: their languages, calling them, blocking them. */
export function showPerson(user) {
    const call = (kind) => () => { dialog.close(); callPerson(user, kind); };
    const names = new Intl.DisplayNames(undefined, { type: "language" });
    const speak = (user.languages ?? []).map((code) => { try { return names.of(code); } catch { return code; } });
    const dialog = open({ "aria-labelledby": "person-name", id: "person" },
        h("div", { class: "person" }, avatar(user, { size: "large" }),
            h("h2", { id: "person-name" }, user.displayName),
            speak.length > 0 && h("p", { class: "hint" }, `Speaks ${speak.join(", ")}`),
            h("div", { class: "choices" },
                button({ name: "phone", label: "Call", class: "primary", onclick: call("audio") }),
                button({ name: "video", label: "Video call", class: "primary", onclick: call("video") })),
            button({ name: "chat", label: "Message", class: "soft wide", data: { action: "write" },
                onclick: () => { dialog.close(); writeTo(user); } }),
            button({ name: "block", label: "Block", class: "quiet danger-text", data: { action: "block" },
                onclick: () => { dialog.close(); block(user); } }),
            button({ name: "close", label: "Close", bare: true, class: "round quiet corner",
                onclick: () => dialog.close() })));
}

async function block(user) {
    const sure = await ask({ title: `Block ${user.displayName}?`, danger: true,
        text: "Their calls and messages won’t reach you. They won’t be notified.",
        choices: [{ value: "block", label: "Block" }] });
    if (!sure) return;
    try {
        await request("blocks.add", { user: user.id });
        toast(`${user.displayName} is blocked. You can undo this in the settings.`);
    } catch (error) { toast(errorMessage(error), { error: true }); }
}

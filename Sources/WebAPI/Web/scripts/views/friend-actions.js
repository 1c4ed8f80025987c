// Becoming friends.

import { friends } from "../friends.js";
import { t } from "../language/texts.js";
import { askText } from "./dialogs.js";

/** Asks somebody to become a friend. */
export async function askFriend(user) {
    const note = await askText({ title: t("friends.askTitle", { name: user.displayName }), label: t("friends.note"), action: t("friends.ask"), maxlength: 200,
        hint: t("friends.noteHint") });
    if (note !== undefined) friends.ask(user, note);
}

// Becoming friends.

import { askText } from "../elements/dialogs.js";
import { t } from "../language/texts.js";
import { friends } from "../sync/friends.js";

/** Asks somebody to become a friend. */
export async function askFriend(user) {
    const note = await askText({ title: t("friends.askTitle", { name: user.displayName }), label: t("friends.note"), action: t("friends.ask"), maxlength: 200,
        hint: t("friends.noteHint") });
    if (note !== undefined) friends.ask(user, note);
}

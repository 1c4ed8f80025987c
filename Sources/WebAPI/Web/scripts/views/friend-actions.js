// Becoming friends, and ending it.

import { friends } from "../friends.js";
import { randomID } from "../identity.js";
import { t } from "../language/texts.js";
import { request } from "../requests.js";
import { attempt } from "./attempt.js";
import { askText } from "./dialogs.js";

/** Asks somebody to become a friend. Resolves to whether it was done. */
export async function askFriend(user) {
    const note = await askText({ title: t("friends.askTitle", { name: user.displayName }), label: t("friends.note"), action: t("friends.ask"), maxlength: 200,
        hint: t("friends.noteHint") });
    if (note === undefined) return false;
    return attempt(async () => {
        const { friend } = await request("friends.request", { clientID: randomID(), user: user.id, ...(note && { note }) });
        friends.apply(friend);
    });
}

export const acceptFriend = (user) => attempt(async () => friends.apply((await request("friends.accept", { user: user.id })).friend));

/** Declines a request, takes one's own back, or ends a friendship. */
export const endFriend = (user, name = "friends.remove") => attempt(async () => {
    await request(name, { user: user.id });
    friends.remove(user.id);
});

// Starting conversations.

import { pickPeople } from "../calls/people-picker.js";
import { hasFeature } from "../connection/features.js";
import { attempt } from "../elements/attempt.js";
import { askText } from "../elements/dialogs.js";
import { t } from "../language/texts.js";
import { openNotes, startConversation } from "../sync/inbox.js";

/** Opens the conversation with a person. */
export const writeTo = (user) => attempt(async () => { location.hash = `#/c/${await startConversation([user])}`; });

export const writeNotes = () => attempt(async () => { location.hash = `#/c/${await openNotes()}`; });

export async function newChat() {
    const chosen = await pickPeople({ title: t("inbox.newChat"), most: hasFeature("groups") ? undefined : 1,
        actions: [{ value: "start", label: t("newChat.start"), name: "chat" }] });
    if (!chosen) return;
    if (chosen.people.length === 1) return writeTo(chosen.people[0]);
    const name = await askText({ title: t("newChat.newGroup"), label: t("details.groupName"), action: t("newChat.create"), maxlength: 80,
        hint: t("newChat.emptyName") });
    if (name !== undefined) await attempt(async () => { location.hash = `#/c/${await startConversation(chosen.people, name)}`; });
}

// Calling people and joining calls, from any page.

import { Problem, errorMessage } from "../connection/problems.js";
import { request } from "../connection/requests.js";
import { ask } from "../elements/dialogs.js";
import { toast } from "../elements/dom.js";
import { t } from "../language/texts.js";
import { calls } from "./calls.js";

/** Calls these people; asks what to do about a call in progress. */
export function callPeople(users, kind) { return withCallInProgress("call", (other) => calls.start(users, kind, other)); }

/** Calls the members of a group. */
export function callGroup(conversation, users, kind) {
    return withCallInProgress("call", (other) => calls.start(users, kind, other, conversation));
}

export const callPerson = (user, kind) => callPeople([user], kind);

/** Joins a group call in progress. */
export function joinCall(document) { return withCallInProgress("join", (other) => calls.join(document, { other })); }

/** Joins the call that is on in a conversation, by its id. */
export async function joinLive(id) {
    try { await joinCall((await request("calls.get", { call: id })).call); } catch (error) { toast(errorMessage(error), { error: true }); }
}

async function withCallInProgress(verb, work, other) {
    try {
        await work(other);
    } catch (error) {
        if (error instanceof Problem && error.type === "conflict" && !other) {
            const choice = await ask({ title: t("start.inCall"), text: error.detail, choices: [
                { value: "hold", label: t(`holdAnd.${verb}`) }, { value: "end", label: t(`endAnd.${verb}`) },
            ] });
            if (choice) await withCallInProgress(verb, work, choice);
            return;
        }
        toast(errorMessage(error, "microphone"), { error: true });
    }
}

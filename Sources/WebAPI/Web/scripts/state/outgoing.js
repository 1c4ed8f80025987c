// Messages of the user that the server has not stored yet, in the order in which they were written.

/** @typedef {{clientID: string, text?: string, file?: string, replyTo?: number, state: "sending"|"failed", problem?: string}} Outgoing */

/** A text, or a voice message's file. */
export const added = (list, { clientID, text, file, replyTo }) =>
    [...list, { clientID, ...(file ? { file } : { text }), replyTo, state: "sending" }];

export const removed = (list, clientID) => list.filter((one) => one.clientID !== clientID);

/** `isTransient`: it was not refused, and is sent again when the server can be reached. */
export const failed = (list, clientID, problem, isTransient) =>
    changed(list, clientID, { state: "failed", problem, isTransient });

export const retried = (list, clientID) =>
    changed(list, clientID, { state: "sending", problem: undefined, isTransient: undefined });

/** Without those that are stored: their messages came by the stream, perhaps before the results of their requests. */
export function unstored(list, messages, me) {
    const stored = new Set(messages.filter((one) => one.author === me).map((one) => one.clientID));
    return list.some((one) => stored.has(one.clientID)) ? list.filter((one) => !stored.has(one.clientID)) : list;
}

const changed = (list, clientID, values) => list.map((one) => one.clientID === clientID ? { ...one, ...values } : one);

// Messages of the user that the server has not stored yet, in the order in which they were written.

/**
 * A text, a voice message's file, or a message that is forwarded. `draft` is the revision of the draft that it was.
 *
 * @typedef {{clientID: string, text?: string, file?: string, forward?: {conversation: string, number: number},
 *     replyTo?: number, thread?: number, draft?: number, state: "sending"|"failed", problem?: string}} Outgoing
 */

export const added = (list, message) => [...list, { ...message, state: "sending" }];

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

/** The body of the request that sends one. */
export const sendBody = ({ clientID, text, file, forward, replyTo, thread, draft }) => ({ clientID,
    ...(file ? { kind: "voice", file } : forward ? { forward } : { text }), ...(replyTo && { replyTo }), ...(thread && { thread }),
    ...(draft && { draft }) });

const changed = (list, clientID, values) => list.map((one) => one.clientID === clientID ? { ...one, ...values } : one);

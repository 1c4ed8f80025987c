// The rules of the queue: what is written, in the order in which it was, until the server has it.
//
// An entry is one request. Entries of a lane are sent one after the other; one that was refused stays until somebody
// looks at it, and those after it go on. A conversation has two lanes: how the user keeps it and what they have read, and
// all that others see. What is about people, and no conversation, has one. A later entry with the key of one that waits takes its turn, such as a
// star that is taken back, so that days without a server leave no more than the last of each.

/**
 * `order` is given by the store; an entry without one is not on disk yet, which it waits for unless it `isOverdue`. `state` is `waiting`, `sending` or `failed`;
 * `wasSent` says that the server may have it.
 * `person` is who it is about, for what is shown of it.
 *
 * @typedef {{clientID: string, conversation?: string, name: string, params: object, key?: string, blob?: Blob, person?: object,
 *     createdAt: number, order?: number, isOverdue?: boolean, state: string, problem?: string, wasSent?: boolean}} Entry
 */

export const MESSAGE = "messages.send";
const MARK = "conversations.mark";
const OWN = new Set([MARK, "members.updateMe", "conversations.clear", "conversations.delete"]);
/** An entry that nobody could send for so long is given up. */
const LONGEST = 30 * 86_400_000;

export const isMessage = (entry) => entry.name === MESSAGE;
export const isMark = (entry) => entry.name === MARK;

/** What waits may be given another text: a message, or the text of one. It matters whether the server may have it. */
export const isChangeable = (entry) => isMessage(entry) || "textVersion" in entry.params;

/** Whether a message can be written anew: its client id is the server's name for the first text that it gets. */
export const isRevisable = (entry) => isMessage(entry) && entry.params.text !== undefined && !entry.wasSent
    && entry.state !== "sending" && entry.order !== undefined;

/** The values of a message that was written anew. */
export const revised = (entry, text, now) => ({ params: { ...entry.params, text }, state: "waiting", problem: undefined, createdAt: now });

/** No message waits for the response to a mark. */
export const laneOf = ({ name, conversation = "people" }) => OWN.has(name) ? `own ${conversation}` : conversation;

/** The queue as it was left: what was being sent may have arrived. Its client id makes a repetition harmless. */
export const restored = (entries) => [...entries].sort((one, other) => one.order - other.order)
    .map((one) => one.state === "failed" ? one : { ...one, state: "waiting" });

/** The queue as another tab has left it, with what this tab knows of its own: that one is being sent, or is not on disk yet. */
export function reloaded(entries, stored) {
    const own = new Map(entries.map((one) => [one.clientID, one]));
    const next = restored(stored).map((one) => {
        const known = own.get(one.clientID);
        const isSame = known?.createdAt === one.createdAt && known.state !== "failed" && one.state !== "failed";
        return isSame || known?.state === "sending" ? known : one;
    });
    const there = new Set(stored.map((one) => one.clientID));
    return [...next, ...entries.filter((one) => one.order === undefined && !there.has(one.clientID))];
}

/** With another one at the end: `{entries, entry, replaced}`, those whose turn it takes. */
export function added(entries, entry) {
    const replaced = entry.key === undefined ? [] : entries.filter((one) => one.key === entry.key
        && one.conversation === entry.conversation && one.state === "waiting" && !(one.wasSent && "textVersion" in one.params));
    const merged = replaced.reduceRight(merge, { ...entry, state: "waiting" });
    return { entries: [...entries.filter((one) => !replaced.includes(one)), merged], entry: merged, replaced };
}

/** Marks only rise, and an edit is based on what the first of them was. */
function merge(entry, before) {
    const params = { ...entry.params };
    if (isMark(entry)) params.read = Math.max(params.read, before.params.read);
    if ("textVersion" in before.params) params.textVersion = before.params.textVersion;
    return { ...entry, params };
}

export const changed = (entries, clientID, values) => entries.map((one) => one.clientID === clientID ? { ...one, ...values } : one);

export const removed = (entries, clientID) => entries.filter((one) => one.clientID !== clientID);

/** Whether an entry may be sent, if there is one. */
export const isSendable = (entry) => entry !== undefined && (entry.order !== undefined || Boolean(entry.isOverdue));

/** The next one of a lane, or undefined. */
export const nextOf = (entries, lane) => entries.find((one) => laneOf(one) === lane && one.state !== "failed");

export const waitingLanes = (entries) => [...new Set(entries.filter((one) => one.state !== "failed").map(laneOf))];

/** How many wait that somebody would miss. What is not on disk yet does not count: it would not outlive a reload. */
export const countWaiting = (entries) => entries.filter((one) => one.state !== "failed" && !isMark(one) && isSendable(one)).length;

/** Those that wait and change one text again are based on the version that this change has made. */
export function rebased(entries, { conversation, name, key }, result) {
    const textVersion = result?.message?.textVersion;
    if (name !== "messages.edit" || textVersion === undefined) return entries;
    return entries.map((one) => one.conversation === conversation && one.key === key && one.state === "waiting"
        ? { ...one, params: { ...one.params, textVersion } } : one);
}

/** Without the messages that are stored: they came by the stream, perhaps before the results of their requests. */
export function unstored(entries, conversation, messages, me) {
    const waiting = entries.filter((one) => one.conversation === conversation && isMessage(one));
    if (waiting.length === 0) return entries;
    const stored = new Set(messages.filter((one) => one.author === me).map((one) => one.clientID));
    return waiting.some((one) => stored.has(one.clientID)) ? entries.filter((one) => !stored.has(one.clientID)) : entries;
}

/**
 * The body of the request that sends a message: a text, a voice message's file, or a message that is forwarded. `draft` is the
 * revision of the draft that it was.
 */
export const sendBody = ({ clientID, text, file, forward, replyTo, thread, draft }) => ({ clientID,
    ...(file ? { kind: "voice", file } : forward ? { forward } : { text }), ...(replyTo && { replyTo }), ...(thread && { thread }),
    ...(draft && { draft }) });

/** `now` is by the same clock that `createdAt` is, which may have been set since. */
export const isTooOld = (entry, now) => Math.abs(now - entry.createdAt) > LONGEST;

/**
 * What follows from an error: `wait` for the server, `pause` this lane alone, `stop` until somebody has signed in
 * again, or `refuse` the entry.
 */
export function afterError({ type, status, isTransient }) {
    if (type === "rate_limited") return "pause";
    if (status === 401 || ["unauthenticated", "sign_in_again"].includes(type)) return "stop";
    return isTransient ? "wait" : "refuse";
}

const FIRST_PAUSE = 1_000;
const MAX_PAUSE = 30_000;
export const pauseAfter = (failures) => Math.min(FIRST_PAUSE * 2 ** failures, MAX_PAUSE);

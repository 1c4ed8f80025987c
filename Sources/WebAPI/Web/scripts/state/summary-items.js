// What is worth knowing of messages, as the server sums it up, and which unread ones come first.

/** The kinds of items, in the order in which they are shown. */
const KINDS = ["point", "decision", "action", "question"];
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;

/** From so many unread messages on, the mark above the first offers to sum them up. */
export const LONG = 30;

/**
 * The items by their kinds, `[{kind, items}]`. One that rests on no message is left out, and so are kinds that this client
 * does not know.
 */
export function sectionsOf({ items = [] }) {
    const grounded = items.filter(({ messages = [] }) => messages.length > 0);
    return KINDS.map((kind) => ({ kind, items: grounded.filter((one) => one.kind === kind) })).filter((one) => one.items.length > 0);
}

/** When something is due, `{at, isDay}`: a day of the calendar, or a time. Undefined of what is neither. */
export function dueOf({ due } = {}) {
    const [, year, month, day] = DATE.exec(due ?? "") ?? [];
    const at = day ? new Date(Number(year), Number(month) - 1, Number(day)) : new Date(due ?? "");
    // The 31st of a month that has 30 days is another day.
    if (Number.isNaN(at.getTime()) || day && at.getDate() !== Number(day)) return undefined;
    return { at, isDay: Boolean(day) };
}

/** Those that were not read here since: `read` has the last number that was on the screen, by conversation. */
export const stillUnread = (messages, { read = {} }) => messages.filter(({ message }) => message.number > (read[message.conversation] ?? 0));

/**
 * Why machines did not do what they were asked for, `{kind, until?, canRetry}`: `consent` (it may not be given to them),
 * `budget` (used up, `until` a time), `unavailable`, or `other`, which the problem itself says.
 */
export function failureOf({ type, status = 0, retryAfter }, now) {
    if (type === "consent_required") return { kind: "consent", canRetry: false };
    if (type === "budget_exhausted") return { kind: "budget", canRetry: false, ...(retryAfter && { until: new Date(now + retryAfter).toISOString() }) };
    const isUnavailable = ["provider_failed", "provider_not_configured", "unavailable"].includes(type) || [502, 503].includes(status);
    return { kind: isUnavailable ? "unavailable" : "other", canRetry: !["not_found", "forbidden", "encrypted_conversation"].includes(type) };
}

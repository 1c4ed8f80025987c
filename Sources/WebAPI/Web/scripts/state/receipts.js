// How far a message of the user has come: stored, received by the others, read by them.

/** Who lets the user see that they have read the message. Who has left is not among them: whoever listens now is not told. */
export const readersOf = (thread, number) => Object.keys(thread.shown)
    .filter((user) => thread.members[user]?.state !== "left" && thread.shown[user].some(([after, upTo]) => after < number && number <= upTo));

/** Who lets the user see that they have it. What was read was received. */
export function receiversOf(thread, number) {
    const readers = readersOf(thread, number);
    const receivers = Object.keys(thread.delivered).filter((user) => thread.delivered[user] >= number);
    return [...new Set([...readers, ...receivers])];
}

/** `{state: sent|delivered|read, readers}` of a stored message: what holds of every other member. */
export function receiptOf(thread, number, me) {
    const readers = readersOf(thread, number).filter((user) => user !== me);
    const others = Object.values(thread.members).filter((one) => one.user !== me && one.state === "member");
    const all = (users) => others.length > 0 && others.every((one) => users.includes(one.user));
    if (all(readers)) return { state: "read", readers };
    return { state: all(receiversOf(thread, number)) ? "delivered" : "sent", readers };
}

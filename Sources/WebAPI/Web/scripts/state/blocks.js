// The messages that are held of a conversation, in blocks of 64 numbers: a change copies a block, not a conversation.
//
// A block is never changed, so that what all of its messages say together is found once, when it is made. Blocks are in
// the order of their numbers, and so are the messages of each.

const SIZE = 64;

export const noBlocks = [];

/** The message with a number, if it is held. */
export function messageIn(blocks, number) {
    const index = Math.floor(number / SIZE);
    return blocks.find((one) => one.index === index)?.messages.find((one) => one.number === number);
}

/** The blocks with these messages. Of two copies `choose(known, one)` keeps one. */
export function withMessages(blocks, list, choose) {
    const changed = new Map();
    for (const one of list) {
        const index = Math.floor(one.number / SIZE);
        if (!changed.has(index)) changed.set(index, [...blocks.find((block) => block.index === index)?.messages ?? []]);
        put(changed.get(index), one, choose);
    }
    if (changed.size === 0) return blocks;
    const made = [...changed].map(([index, messages]) => blockOf(index, messages));
    return [...blocks.filter((one) => !changed.has(one.index)), ...made].sort((one, other) => one.index - other.index);
}

/** Those of them from one number to another. */
export function between(blocks, first, last = Infinity) {
    const found = [];
    for (const block of blocks) {
        const { index, messages } = block;
        if (messages[0].number >= first && messages.at(-1).number <= last) found.push(block);
        else {
            const kept = messages.filter(({ number }) => number >= first && number <= last);
            if (kept.length > 0) found.push(blockOf(index, kept));
        }
    }
    return found.length === blocks.length && found.every((one, index) => one === blocks[index]) ? blocks : found;
}

/** Those that do not lie between two numbers. */
export function outside(blocks, after, before) {
    const [lower, higher] = [between(blocks, 0, after), between(blocks, before)];
    const [last, first] = [lower.at(-1), higher[0]];
    if (last?.index !== first?.index || !first) return [...lower, ...higher];
    return [...lower.slice(0, -1), blockOf(first.index, [...last.messages, ...first.messages]), ...higher.slice(1)];
}

/** All messages, in their order. */
export const messagesIn = (blocks) => blocks.flatMap((one) => one.messages);

export const countIn = (blocks) => blocks.reduce((sum, one) => sum + one.messages.length, 0);

/** Everybody who has written or is mentioned in them; some more than once. */
export const peopleIn = (blocks) => blocks.flatMap((one) => one.people);

/** When the first of those that disappear does, in milliseconds; Infinity if none does. */
export const expiryIn = (blocks) => blocks.reduce((soonest, one) => Math.min(soonest, one.expiry), Infinity);

function put(messages, one, choose) {
    // Nearly always the newest.
    let index = messages.length;
    while (index > 0 && messages[index - 1].number > one.number) index -= 1;
    if (index > 0 && messages[index - 1].number === one.number) messages[index - 1] = choose(messages[index - 1], one);
    else messages.splice(index, 0, one);
}

function blockOf(index, messages) {
    const people = new Set();
    let expiry = Infinity;
    for (const { author, ranges = [], expiresAt, deletedAt } of messages) {
        people.add(author);
        for (const { user } of ranges) if (user) people.add(user);
        if (expiresAt && !deletedAt) expiry = Math.min(expiry, Date.parse(expiresAt));
    }
    return { index, messages, people: [...people], expiry };
}

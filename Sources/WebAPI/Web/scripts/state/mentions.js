// Mentions while a message is written: `@Ann Abel` in the field, `<@id>` in the text that is sent.

const MAX_QUERY = 30;
const TOKEN = /<@([0-9a-fA-F-]{36}|all)>/g;

/** The beginning of a name at the caret, `{start, query}`: after an @ that begins a word. Undefined if there is none. */
export function mentionAt(text, caret) {
    const start = text.lastIndexOf("@", caret - 1);
    if (start < 0 || caret - start > MAX_QUERY || start > 0 && !/[\s(\p{P}]/u.test(text[start - 1])) return undefined;
    const query = text.slice(start + 1, caret);
    return /[\n@]|\s\s/.test(query) || /^\s/.test(query) ? undefined : { start, query };
}

/** The people of whom a word of the name begins with the query, those whose name begins with it first. */
export function matchingPeople(people, query) {
    const wanted = folded(query);
    const rank = (one) => {
        const name = folded(one.displayName);
        return name.startsWith(wanted) ? 0 : name.split(/\s+/).some((word) => word.startsWith(wanted)) ? 1 : -1;
    };
    return people.map((one) => [rank(one), one]).filter(([position]) => position >= 0)
        .sort(([one, person], [other, second]) => one - other || person.displayName.localeCompare(second.displayName))
        .map(([, one]) => one);
}

/** The text with a chosen person in place of what was begun: `{text, caret, mention}`. */
export function withMention(text, { start, query }, person) {
    const label = `@${person.displayName}`;
    const after = text.slice(start + 1 + query.length);
    const space = /^\s/.test(after) ? "" : " ";
    return { text: text.slice(0, start) + label + space + after, caret: start + label.length + 1, mention: { label, user: person.id } };
}

/** The text to send: of those who were chosen, their ids for their names. */
export function encoded(text, mentions) {
    let result = "";
    let rest = text;
    const left = [...mentions];
    while (rest !== "") {
        const found = left.map((one) => [labelIn(rest, one.label), one]).filter(([index]) => index >= 0)
            .sort(([one, a], [other, b]) => one - other || b.label.length - a.label.length)[0];
        if (!found) break;
        const [index, mention] = found;
        result += `${rest.slice(0, index)}<@${mention.user}>`;
        rest = rest.slice(index + mention.label.length);
        // Two people of one name: each stands for itself, in order.
        if (left.some((one) => one.label === mention.label && one.user !== mention.user)) left.splice(left.indexOf(mention), 1);
    }
    return result + rest;
}

/** The text of the field for a text that was sent: `{text, mentions}`. People without a known name stay as they are. */
export function decoded(text, nameOf) {
    const mentions = [];
    const shown = text.replace(TOKEN, (token, user) => {
        const name = user === "all" ? "all" : nameOf(user);
        if (!name) return token;
        mentions.push({ label: `@${name}`, user });
        return `@${name}`;
    });
    return { text: shown, mentions };
}

/** Where a label stands that does not go on as another word; -1 if nowhere. */
function labelIn(text, label) {
    let index = text.indexOf(label);
    while (index >= 0 && /^[\p{L}\p{N}]/u.test(text.slice(index + label.length))) index = text.indexOf(label, index + 1);
    return index;
}

/**
 * Without case and accents, to compare, and in the usual width: ﾃ is テ. Marks that belong to one script, such as the vowels of
 * Hindi, are no accents.
 */
export const folded = (text) => text.replace(/[\uff01-\uffee]+/g, (wide) => wide.normalize("NFKC")).normalize("NFD")
    .replace(/(?=\p{M})\p{Script=Inherited}/gu, "").toLowerCase();

/** A folded text with where its parts are in the text as it was written: `rangeOf(start, end)` is `{start, length}` there. */
export function foldedParts(text) {
    let whole = "";
    const sources = [];
    // A mark is folded with what it stands on.
    for (const { 0: part, index } of text.matchAll(/\P{M}\p{M}*|\p{M}+/gu)) {
        const short = folded(part);
        whole += short;
        for (let unit = 0; unit < short.length; unit += 1) sources.push([index, index + part.length]);
    }
    const rangeOf = (start, end) => {
        const [first] = sources[start];
        // What was left out after it is a part of it: the mark of ｶﾞ is no letter of its own.
        const last = Math.max(sources[end - 1][1], sources[end]?.[0] ?? text.length);
        return { start: first, length: last - first };
    };
    return { text: whole, rangeOf };
}

/** Whether a message mentions somebody, by name or with everybody. */
export const mentionsUser = ({ ranges = [] }, me) => ranges.some(({ kind, user }) => kind === "mention" && (user === undefined || user === me));

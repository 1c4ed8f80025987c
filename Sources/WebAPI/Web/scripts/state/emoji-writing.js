// Emoji that are written by name: a colon and two letters begin one, and another colon ends it.

const BEGUN = /(?<=^|\s):([\p{L}\p{N}_+-][\p{L}\p{M}\p{N}_+-]{1,40})$/u;
const WHOLE = /(?<=^|\s):([\p{L}\p{N}_+-][\p{L}\p{M}\p{N}_+-]{0,40}):$/u;

/** The beginning of a name at the caret, `{start, end, query}`: `:smi`. Undefined if there is none, and in code. */
export const emojiAt = (text, caret) => nameAt(BEGUN, text, caret);

/** A whole name that ends at the caret: `:smile:`. */
export const wholeEmojiAt = (text, caret) => nameAt(WHOLE, text, caret);

function nameAt(pattern, text, caret) {
    const found = pattern.exec(text.slice(0, caret));
    if (!found || isInCode(text, found.index)) return undefined;
    return { start: found.index, end: caret, query: found[1] };
}

/** The text with an emoji in place of its name: `{text, caret}`. */
export const withEmoji = (text, { start, end }, emoji) => ({ text: text.slice(0, start) + emoji + text.slice(end), caret: start + emoji.length });

/** Whether an index lies in code, as the server finds it; what is not closed yet is code that is being written. */
export function isInCode(text, index) {
    let at = 0;
    while (at < index) {
        const open = text.indexOf("`", at);
        if (open < 0 || open >= index) return false;
        const after = open + runAt(text, open);
        const end = codeEnd(text, after, after - open);
        const isOpen = end === undefined && (after - open >= 3 || !text.slice(after, index).includes("\n"));
        if (isOpen || end > index) return true;
        at = end ?? after;
    }
    return false;
}

/** Where the code ends that a run of backticks begins: with as many on the same line, or with three or more anywhere. */
function codeEnd(text, after, length) {
    let at = after;
    while (at < text.length) {
        if (text[at] === "\n" && length < 3) return undefined;
        const run = runAt(text, at);
        if (run > 0 && (length < 3 ? run === length : run >= 3)) return at + run;
        at += Math.max(run, 1);
    }
    return undefined;
}

function runAt(text, start) {
    let end = start;
    while (text[end] === "`") end += 1;
    return end - start;
}

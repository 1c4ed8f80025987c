// Which languages somebody reads, and how they read the others: the rules of the server.

/** `{mode, into, known}` of a user: `membership` is theirs in the conversation, which may say otherwise than the profile. */
export function readerOf(me, membership) {
    const known = me?.languages ?? [];
    const { mode = "onRequest", into } = membership?.translation ?? me?.translation ?? {};
    return { mode, into: into ?? known[0], known };
}

/**
 * Whether somebody who knows these languages reads this one. As in RFC 4647, regions tell who writes, not who can read;
 * scripts have to be the same. `no` is Bokmål or Nynorsk.
 */
export function isReadable(tag, known) {
    const one = parsed(tag);
    return known.some((other) => {
        const two = parsed(other);
        if (!one || !two || one.language !== two.language && !isNorwegian(one.language, two.language)) return false;
        return !one.script || !two.script || one.script === two.script;
    });
}

/** Whether who reads automatically has it translated: a guess that may be a language that they know is left. */
export function needsTranslation(message, { me, known, into }) {
    const { code, confidence } = message.language ?? {};
    if (!isTranslatable(message, me) || !code || !into || isReadable(code, known) || isReadable(code, [into])) return false;
    const script = scriptOf(code);
    return confidence === "high" || !known.some((one) => scriptOf(one) === script);
}

/** What somebody has written or said; undefined if there is nothing, or not yet. */
export function wordsOf({ kind, text, voice, deletedAt }) {
    if (deletedAt) return undefined;
    return kind === "voice" ? voice?.transcript?.status === "complete" ? voice.transcript.text : undefined : kind === "text" ? text : undefined;
}

/** Whether a translation is offered: of words of somebody else, in a language that the user does not know, or nobody does. */
export function offersTranslation(message, { me, known, into }) {
    const { code, confidence } = message.language ?? {};
    return isTranslatable(message, me) && (!code || confidence === "low" || !isReadable(code, into ? [...known, into] : known));
}

const isTranslatable = (message, me) => message.author !== me && /\p{L}/u.test(wordsOf(message) ?? "");

const scriptOf = (tag) => (parsed(tag) ?? parsed("en")).script;

const isNorwegian = (one, other) => [one, other].includes("no") && ["nb", "nn"].some((tag) => [one, other].includes(tag));

const known = new Map();

/** `{language, script}`: the script that a tag is read for, which `zh` alone does not say. Undefined for what is no tag. */
function parsed(tag) {
    // It is asked for each message, many times, and there are few tags.
    if (!known.has(tag)) known.set(tag, parse(tag));
    return known.get(tag);
}

function parse(tag) {
    try {
        const { language, script, region } = new Intl.Locale(tag);
        return { language, script: language === "zh" && !script && !region ? undefined : new Intl.Locale(tag).maximize().script };
    } catch { return undefined; }
}

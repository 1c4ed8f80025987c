// The terms that are always translated in the same way in a conversation: a list that is replaced as a whole.

/** So many the server takes. */
export const MOST_TERMS = 200;
export const MAX_TERM_LENGTH = 100;

const isSame = (one, other) => one.source === other.source && one.language === other.language;

/** Whether the list has a term for these words into this language, other than the one that is changed. */
export const hasTerm = (terms, term, changed) => terms.some((one) => isSame(one, term) && !(changed && isSame(one, changed)));

/** The list with a term: in the place of the one that is changed, else at its end. */
export function withTerm(terms, term, changed) {
    const index = changed ? terms.findIndex((one) => isSame(one, changed)) : -1;
    return index < 0 ? [...terms, term] : terms.with(index, term);
}

export const withoutTerm = (terms, term) => terms.filter((one) => !isSame(one, term));

/** By their words, then by language. */
export const sortedTerms = (terms, compare) => [...terms].sort((one, other) =>
    compare(one.source, other.source) || compare(one.language, other.language));

/** Which field of a term a problem is about, `source`, `target` or `language`; undefined if about none. */
export const fieldOfTerm = (field = "") => /^terms\[\d+\]\.(source|target|language)$/.exec(field)?.[1];

// What is written in a conversation and not sent, here and on the user's other devices.
//
// A draft has a revision, which rises with every change that is saved; the server keeps the one with the highest. `sent` is
// the revision that the last message was sent with: nothing up to it comes back.

/** @typedef {{text: string, replyTo?: number, revision: number, sent: number, isSaved: boolean}} Draft */

export const emptyDraft = () => ({ text: "", revision: 0, sent: 0, isSaved: true });

/** What the user has written now. The same object if it is what it was. */
export function written(draft, text, replyTo) {
    if (draft.text === text && draft.replyTo === replyTo) return draft;
    return { ...draft, text, replyTo, revision: draft.isSaved ? draft.revision + 1 : draft.revision, isSaved: false };
}

/** A save of it begins: what is written from now on is another revision. */
export const saving = (draft) => ({ ...draft, isSaved: true });

/** The save failed: what is there is saved with the next one. */
export const unsaved = (draft) => draft.isSaved ? { ...draft, revision: draft.revision + 1, isSaved: false } : draft;

/**
 * What the server has: of another device, or of this one. It never replaces what is not saved yet, nor what the user is
 * typing in: that is newer, and gets a revision above.
 */
export function received(draft, server, { isTyping = false } = {}) {
    if (!server || server.revision <= draft.sent) return draft;
    if (!draft.isSaved || isTyping) {
        return server.revision > draft.revision || server.revision === draft.revision && !draft.isSaved
            ? { ...draft, revision: server.revision + 1, isSaved: false } : draft;
    }
    if (server.revision <= draft.revision) return draft;
    return { ...draft, text: server.text, replyTo: server.replyTo, revision: server.revision };
}

/** It was sent: the field is empty, and a draft up to this revision is over. */
export function sent(draft) {
    const revision = Math.max(draft.revision, 1);
    return { text: "", revision, sent: revision, isSaved: true };
}

export const isEmpty = (draft) => !draft?.text && draft?.replyTo === undefined;

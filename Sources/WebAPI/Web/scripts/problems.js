// Errors, and the messages that people are shown for them.
//
// The server responds with problem documents (RFC 9457) whose `type` is a stable token. Where the server's own detail
// is written for people (a wrong password, an invalid field), it is shown; otherwise the messages below are.

export class Problem extends Error {
    constructor(document) {
        super(document.detail ?? document.title ?? document.type);
        this.name = "Problem";
        this.type = document.type ?? "internal";
        this.status = document.status ?? 0;
        this.field = document.field;
        this.detail = document.detail;
        this.retryAfter = document.retryAfter;
        this.winner = document.winner;
    }

    /** The request was not rejected: it may be sent again. */
    get isTransient() {
        return ["network", "timeout", "unavailable", "storage_full", "rate_limited"].includes(this.type) || this.status >= 500;
    }
}

export const networkProblem = () => new Problem({ type: "network" });
export const timeoutProblem = () => new Problem({ type: "timeout" });

const messages = {
    network: "Can’t reach the server. Check your connection and try again.",
    timeout: "The server took too long to respond. Please try again.",
    unauthenticated: "Please sign in again.",
    sign_in_again: "Please sign in again: the server was restored from a backup.",
    forbidden: "You’re not allowed to do that.",
    not_found: "That doesn’t exist any more.",
    conflict: "That conflicts with something that already exists.",
    client_id_reused: "That was already sent. Please try again.",
    predecessor_missing: "An earlier message has not been sent yet. Please try again.",
    answered_elsewhere: "Answered on another device.",
    call_ended: "This call has already ended.",
    payload_too_large: "That is too large to send.",
    unsupported_media_type: "Files of this kind can’t be sent.",
    feature_disabled: "The operator of this server has turned that off.",
    quota_exceeded: "Your recordings and voice messages use up your storage. Delete some first.",
    rate_limited: "Too many requests. Please wait a moment and try again.",
    unavailable: "The server is busy right now. Please try again in a moment.",
    storage_full: "The server has run out of storage. Please try again later.",
    internal: "Something went wrong on the server. Please try again.",
};

const media = {
    NotAllowedError: (what) => `Switchboard may not use your ${what}. Allow it in your browser’s site settings.`,
    NotFoundError: (what) => `No ${what} was found. Connect one and try again.`,
    NotReadableError: (what) => `Your ${what} is in use by another program.`,
    OverconstrainedError: (what) => `The chosen ${what} is not connected.`,
};

/** The message for any error; `what` names the device when media was requested. */
export function errorMessage(error, what = "microphone") {
    if (error instanceof Problem) {
        const hasDetail = ["invalid_request", "unauthenticated", "conflict", "forbidden"].includes(error.type);
        return (hasDetail && error.detail) || messages[error.type] || error.detail || messages.internal;
    }
    return media[error?.name]?.(what) ?? "Something went wrong. Please try again.";
}

// Errors, and the messages that people are shown for them.
//
// The server responds with problem documents (RFC 9457) whose `type` is a stable token, with the `field` that is wrong.
// They are worded by both, in the language of the page. What the catalogue has no words for is in the server's English.

import { locale } from "../language/locale.js";
import { hasText, t } from "../language/texts.js";

const devices = ["microphone", "camera", "speaker", "screen"];

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
        this.reason = document.reason;
    }

    /** The request was not rejected: it may be sent again. What the server has not will not be there in a moment, and what a provider has failed at costs something each time. */
    get isTransient() {
        return ["network", "timeout", "unavailable", "storage_full", "rate_limited"].includes(this.type)
            || !["provider_not_configured", "provider_failed"].includes(this.type) && this.status >= 500;
    }
}

export const networkProblem = () => new Problem({ type: "network" });
export const timeoutProblem = () => new Problem({ type: "timeout" });

/** Problems that the server words for people, in English. */
const wordedByServer = ["invalid_request", "unauthenticated", "conflict", "forbidden"];

/** Errors of a device that was asked for. */
const deviceErrors = ["NotAllowedError", "NotFoundError", "NotReadableError", "OverconstrainedError"];

/** The message for any error; `what` names the device when media was requested: `microphone`, `camera`, `speaker`. */
export function errorMessage(error, what) {
    if (error instanceof Problem) return problemText(error);
    if (!deviceErrors.includes(error?.name)) return t("errors.unknown");
    return t(`deviceErrors.${error.name}_${devices.includes(what) ? what : "microphone"}`);
}

/** Why the server could not do by itself what it was to do, `{type, detail}`: in English its own words, which say more. */
export function failureMessage({ type, detail } = {}) {
    return detail && type !== "consent_required" && locale().tag === "en" ? detail : problemText({ type: type ?? "internal", detail });
}

/** In English the server's own words come first; in another language those of the catalogue, by field or type, and then the server's. */
function problemText({ type, field, detail }) {
    const isWorded = wordedByServer.includes(type) && detail;
    if (isWorded && locale().tag === "en") return detail;
    if (type === "invalid_request" && hasText(`problemsOfFields.${field}`)) return t(`problemsOfFields.${field}`);
    return hasText(`problems.${type}`) ? t(`problems.${type}`) : detail || t("problems.internal");
}

// Somebody who is signed in on an empty page, and a server in place of which a test answers.

import { credentials } from "/scripts/connection/credentials.js";
import { realtime } from "/scripts/connection/realtime.js";

/** Signs in, after whoever was, and makes what short messages are shown in. */
export function signIn(id) {
    for (const name of ["toasts", "announcer"]) {
        if (!document.getElementById(name)) document.body.append(Object.assign(document.createElement("div"), { id: name, className: name }));
    }
    credentials.begin({ user: { id, displayName: id }, session: { id }, accessToken: id, refreshToken: id, expiresIn: 3_600 }, false);
}

/**
 * Answers requests over the socket: `responses` are functions of the parameters by the name of the request, which may return
 * promises and throw. What was asked so far, `[name, params]`, is returned.
 */
export function serve(responses) {
    const asked = [];
    realtime.state = "online";
    realtime.request = async (name, params) => {
        asked.push([name, params]);
        return responses[name]?.(params) ?? {};
    };
    return asked;
}

/** The connection is there, again or for the first time. */
export function connect() {
    realtime.state = "online";
    realtime.emit("state", "online");
}

/** Polls, since pages draw in frames and promises. */
export async function until(what, condition, limit = 8_000) {
    const end = performance.now() + limit;
    while (!condition()) {
        if (performance.now() > end) throw new Error(`waited for ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
}

/** Waits until everything that promises and timers without a pause have begun is done. */
export async function settle() { for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setTimeout(resolve)); }

export const shownToasts = () => [...document.querySelectorAll("#toasts > *")].map((one) => one.textContent);

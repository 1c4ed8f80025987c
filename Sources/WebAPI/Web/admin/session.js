// The operator's session: its token, and requests with it. The token is kept for this browser tab alone; there is no
// cookie that another page could make the browser send.

const KEY = "switchboard.operator";

/** A problem document of the server, or that the server did not respond. */
export class RequestError extends Error {
    constructor(problem, status = 0) {
        super(problem.detail ?? "The server does not respond.");
        this.type = problem.type ?? "network";
        this.status = status;
        this.field = problem.field;
    }
}

async function send(method, path, { body, token, signal }) {
    let response;
    try {
        response = await fetch(path, {
            method, signal, cache: "no-store", credentials: "omit",
            headers: {
                ...(token && { Authorization: `Bearer ${token}` }),
                ...(body && { "Content-Type": "application/json" }),
            },
            body: body && JSON.stringify(body),
        });
    } catch (error) {
        if (signal?.aborted) throw error;
        throw new RequestError({});
    }
    if (response.status === 204) return {};
    const document = await response.json().catch(() => ({}));
    if (!response.ok) throw new RequestError(document, response.status);
    return document;
}

export const session = {
    token: sessionStorage.getItem(KEY),
    /** Why the last session ended, for the form to sign in. */
    notice: "",
    onchange() {},

    async signIn(key) {
        const opened = await send("POST", "/admin/v1/sessions", { token: key });
        this.set(opened.token);
    },

    async signOut() {
        const token = this.token;
        await send("DELETE", "/admin/v1/sessions/current", { token }).catch(() => {});
        this.set(null);
    },

    set(token, notice = "") {
        this.token = token;
        this.notice = notice;
        if (token) sessionStorage.setItem(KEY, token);
        else sessionStorage.removeItem(KEY);
        this.onchange();
    },
};

/** Sends a request of the operator. Throws a `RequestError`; a session that is over leads to the form to sign in. */
export async function request(method, path, body, signal) {
    const token = session.token;
    try {
        return await send(method, path, { body, token, signal });
    } catch (error) {
        // A request that went out without a token, when the session was over, says nothing of why it ended.
        if (error.status === 401 && token && session.token === token) session.set(null, error.message);
        throw error;
    }
}

export const get = (path, signal) => request("GET", path, undefined, signal);

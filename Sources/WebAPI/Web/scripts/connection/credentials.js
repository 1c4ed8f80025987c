// Who is signed in here: the user, the session and its tokens.
//
// "Keep me signed in" puts the tokens into localStorage, shared by all tabs of this browser; without it they stay in
// sessionStorage and end with the tab, for computers that others use too. An httpOnly cookie would hide them from
// scripts, but the API takes bearer tokens from any client, and this page runs no script but its own (its content
// security policy enforces that). The refresh token rotates on every use, and using an old one ends the session, so
// only one tab refreshes at a time (a Web Lock) and a tab that waited uses the tokens that the other has stored.

import { Emitter } from "../state/emitter.js";
import { hasExpired, noteExpiry } from "../store/kept-databases.js";
import { Problem } from "./problems.js";

const KEY = "switchboard.credentials";

class Credentials extends Emitter {
    #store = localStorage;
    #value;
    #refreshing;
    #timer;
    /** The user whose sign-in was the last in this tab, if it has expired. */
    #expired;

    load() {
        for (const store of [sessionStorage, localStorage]) {
            const value = read(store);
            if (value) { this.#store = store; this.#value = value; break; }
        }
        addEventListener("storage", (event) => {
            if (event.key === KEY && this.#store === localStorage) this.#adopt(read(localStorage));
        });
        this.#schedule();
    }

    get user() { return this.#value?.user; }
    get session() { return this.#value?.session; }
    get accessToken() { return this.#value?.accessToken; }
    get isSignedIn() { return Boolean(this.#value); }
    /** Whether this sign-in, and what belongs to it, stays when the tab is closed. */
    get isKept() { return this.#store === localStorage; }
    /** The user whose sign-in is kept in this browser, in this tab or in others. */
    get keptUser() { return read(localStorage)?.user; }

    /** Whether the sign-in of this user was not ended but has expired. Of one that is not kept this page alone knows it. */
    hasExpired(user) { return this.#expired === user || this.isKept && hasExpired(user); }

    /** Stores a new sign-in. */
    begin({ user, session, accessToken, refreshToken, expiresIn }, keep) {
        this.#store = keep ? localStorage : sessionStorage;
        this.#save({ user, session, accessToken, refreshToken, expiresAt: Date.now() + expiresIn * 1000 });
    }

    setUser(user) { if (this.#value) this.#save({ ...this.#value, user }); }

    /**
     * Forgets everything, in every tab of this browser when the sign-in was kept. What belongs to one that has expired waits
     * for the same user.
     */
    end({ isExpired = false } = {}) {
        if (isExpired && this.isKept) noteExpiry(this.user.id);
        this.#expired = isExpired ? this.user.id : undefined;
        this.#store.removeItem(KEY);
        this.#adopt(undefined);
    }

    /** A token that is valid for at least 30 s. `exchange` posts a refresh token to the server. */
    async fresh(exchange, { force = false } = {}) {
        if (!this.#value) throw new Problem({ type: "unauthenticated", status: 401 });
        const stale = this.#value.accessToken;
        if (!force && this.#value.expiresAt - Date.now() > 30_000) return stale;
        this.#refreshing ??= exclusively(() => this.#refresh(exchange, stale)).finally(() => {
            this.#refreshing = undefined;
        });
        await this.#refreshing;
        return this.accessToken;
    }

    async #refresh(exchange, stale) {
        const stored = read(this.#store);
        if (!stored) return this.#adopt(undefined);
        if (stored.accessToken !== stale) return this.#adopt(stored);
        try {
            const tokens = await exchange(stored.refreshToken);
            this.#save({ ...stored, ...tokens, expiresAt: Date.now() + tokens.expiresIn * 1000 });
        } catch (error) {
            if (error.status === 401) this.end({ isExpired: isExpiry(error) });
            throw error;
        }
    }

    #save(value) {
        this.#store.setItem(KEY, JSON.stringify(value));
        this.#adopt(value);
    }

    #adopt(value) {
        const before = this.#value;
        this.#value = value;
        if (value) this.#expired = undefined;
        this.#schedule();
        if (Boolean(before) !== Boolean(value) || before?.user?.id !== value?.user?.id) this.emit("signedIn", this.isSignedIn);
        else if (value && before.accessToken !== value.accessToken) this.emit("token", value.accessToken);
        if (value && JSON.stringify(before?.user) !== JSON.stringify(value.user)) this.emit("user", value.user);
    }

    /** Schedules a refresh well before the token expires, so that the server never closes an open socket for it. */
    #schedule() {
        clearTimeout(this.#timer);
        if (!this.#value) return;
        const left = this.#value.expiresAt - Date.now();
        this.#timer = setTimeout(() => this.emit("expiring"), Math.max(left * 0.8, 1_000));
    }
}

/** Nobody has ended the sign-in, by signing out or revoking it, as far as the server says. */
const isExpiry = ({ reason = "unknown" }) => ["expired", "unknown", "restored"].includes(reason);

function exclusively(work) {
    return navigator.locks ? navigator.locks.request("switchboard.refresh", work) : work();
}

function read(store) {
    try { return JSON.parse(store.getItem(KEY)) ?? undefined; } catch { return undefined; }
}

export const credentials = new Credentials();

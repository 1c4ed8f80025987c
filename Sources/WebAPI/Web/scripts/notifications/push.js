// Web Push: the server reaches this browser while no tab is open (RFC 8030, and RFC 8292 for the server's key).
//
// A subscription belongs to the browser and to the key of the server, and its registration to a sign-in. So every start
// compares what is registered with what should be. Only sign-ins that are kept are registered: others end with their tab.
// Nothing here asks the user for permission.

import { credentials } from "../connection/credentials.js";
import { server } from "../connection/features.js";
import { Problem } from "../connection/problems.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { updates } from "../connection/updates.js";
import { Emitter } from "../state/emitter.js";
import { bytesOfKey, isRegistered, keyOfBytes } from "../state/subscription.js";
import { preferences } from "../store/preferences.js";
import { notifications } from "./notifications.js";

const KEY = "switchboard.push";
/** Signing out does not wait longer, in milliseconds: the registration ends with the sign-in anyway. */
const END_TIME = 3_000;
/** For so long a browser looks for its push service, in milliseconds: some never give up, and others' work waits. */
const SUBSCRIPTION_TIME = 20_000;

/** Event: `change`. */
class Push extends Emitter {
    /**
     * `on` or `off`; without a choice `unknown`, `unsupported` (by the browser), `absent` (the server has none) or `temporary`
     * (the sign-in ends with the tab); where it should be on `refused` or `noService` (by the browser) or `failed`, with a
     * `problem`.
     */
    state = "unknown";
    problem;
    #work = Promise.resolve();

    /** Follows whatever decides whether this browser is registered. */
    watch() {
        for (const name of ["notifications", "push"]) preferences.on(name, () => this.update());
        server.on("change", () => this.update());
        notifications.on("permission", () => this.update());
        realtime.on("state", (state) => { if (state === "online" && this.state === "failed") this.update(); });
        navigator.serviceWorker?.addEventListener("message", ({ data }) => { if (data?.subscriptionChanged) this.update(); });
    }

    /** Registers this browser or ends its registration, one after the other, also of several tabs. */
    update() {
        return this.#do(() => this.#update());
    }

    /** Ends the registration, by a user who signs out. */
    async end() {
        if (read()?.user !== credentials.user?.id || !credentials.isKept) return;
        await within(END_TIME, request("push.unregister", { kind: "web" }, { timeout: END_TIME }));
        await within(END_TIME, this.forget());
    }

    /** Ends the subscription, after a sign-in has ended and before the next one is registered. */
    forget() {
        this.#set("unknown");
        return this.#do(async () => { if (read()) await forgetSubscription(); });
    }

    async #update() {
        if (!credentials.isSignedIn || !server.isKnown) return;
        if (!credentials.isKept) return this.#set("temporary");
        const registration = await updates.registration;
        if (!registration?.pushManager) return this.#set("unsupported");
        if (!server.pushKey || !preferences.get("push") || !notifications.isOn) {
            await this.#unregister();
            return this.#set(server.pushKey ? "off" : "absent");
        }
        try {
            await this.#register(await navigator.serviceWorker.ready, server.pushKey);
            this.#set("on");
        } catch (error) {
            console.info("without push:", error.name, error.message);
            this.#set(error instanceof Problem ? "failed" : error.name === "NotAllowedError" ? "refused" : "noService", error);
        }
    }

    async #register({ pushManager }, key) {
        const subscription = await subscribe(pushManager, key);
        const { endpoint, keys } = subscription.toJSON();
        const wanted = { user: credentials.user.id, session: credentials.session?.id, endpoint, key };
        if (isRegistered(read(), wanted, Date.now())) return;
        await request("push.register", { kind: "web", endpoint, keys, shared: false });
        localStorage.setItem(KEY, JSON.stringify({ ...wanted, at: Date.now() }));
    }

    async #unregister() {
        const known = read();
        if (!known) return;
        if (known.user === credentials.user.id) {
            try { await request("push.unregister", { kind: "web" }); } catch (error) {
                console.info("could not end the registration for pushes:", error.message);
            }
        }
        await forgetSubscription();
    }

    #do(step) {
        this.#work = this.#work.then(() => exclusively(step)).catch((error) => console.error(error));
        return this.#work;
    }

    #set(state, problem) {
        Object.assign(this, { state, problem });
        this.emit("change");
    }
}

/** The subscription with the server's key: another key needs another one. */
async function subscribe(pushManager, key) {
    const known = await pushManager.getSubscription();
    if (known && keyOfBytes(known.options.applicationServerKey) === key) return known;
    await known?.unsubscribe();
    const made = pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOfKey(key) });
    made.then(() => { if (push.state === "noService") push.update(); }, () => {});
    return Promise.race([made, new Promise((_, reject) => setTimeout(() => reject(new DOMException("no push service was reached", "TimeoutError")), SUBSCRIPTION_TIME))]);
}

async function forgetSubscription() {
    localStorage.removeItem(KEY);
    await within(END_TIME, unsubscribe());
}

async function unsubscribe() {
    const registration = await navigator.serviceWorker?.getRegistration();
    await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}

function read() {
    try { return JSON.parse(localStorage.getItem(KEY)) ?? undefined; } catch { return undefined; }
}

/** What fails or takes too long is given up. */
const within = (time, work) => Promise.race([work.catch(() => {}), new Promise((resolve) => setTimeout(resolve, time))]);

const exclusively = (work) => navigator.locks ? navigator.locks.request("switchboard.push", work) : work();

export const push = new Push();

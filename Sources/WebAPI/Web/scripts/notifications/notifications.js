// Notifications of the system: one for each thing that happened, though several tabs notice it, and none for what one of
// them shows.
//
// The service worker shows them: it asks the tabs, and opens one on a click. Without a worker (in a browser without
// one, or with a certificate that it does not trust) the tabs agree among themselves, and one of them shows it.

import { Emitter } from "../state/emitter.js";
import { preferences } from "../store/preferences.js";

/** A tab that does not answer in time shows nothing. */
const ANSWER_TIME = 300;
/** For so long the tab that shows a notification keeps others from showing it, in milliseconds. */
const LOCK_TIME = 10_000;

/** Where there is no worker: `{ask, page}` and `{answer}` between tabs, `{withdrawn}` for what is read. */
const channel = globalThis.BroadcastChannel ? new BroadcastChannel("switchboard.notifications") : undefined;

/** Event: `permission`. */
class Notifications extends Emitter {
    /** Those that this tab shows without a worker, by tag. */
    #own = new Map();

    constructor() {
        super();
        channel?.addEventListener("message", ({ data }) => {
            if (data.ask && this.isShown(data.page)) channel.postMessage({ answer: data.ask });
            if (data.withdrawn) this.#close(data.withdrawn);
        });
        navigator.serviceWorker?.addEventListener("message", ({ data, ports }) => {
            if (data?.ask) ports[0].postMessage(this.isShown(data.page));
            if (data?.open !== undefined) this.#open(data.open);
        });
        activeWorker().then((worker) => worker?.postMessage({ opened: true }));
        // It may be changed in the browser's settings.
        navigator.permissions?.query({ name: "notifications" })
            .then((status) => { status.onchange = () => this.emit("permission"); }).catch(() => {});
    }

    /** `granted`, `denied`, `default` while the user has not been asked, or `unsupported`. */
    get permission() { return globalThis.Notification?.permission ?? "unsupported"; }

    // The browser asks another process for the permission, and the page waits for that.
    get isOn() { return preferences.get("notifications") && this.permission === "granted"; }

    /** Asks the user, who has to have clicked. Resolves to the permission. */
    async ask() {
        const permission = await Notification.requestPermission();
        this.emit("permission");
        return permission;
    }

    /**
     * Shows one, unless a tab shows the page at `page`; a click opens `address`, which is the same unless it is given.
     * `tag` identifies what happened; `conversation` and `number` say what has to be read for it to go.
     *
     * @param {{tag: string, title: string, body?: string, icon?: string, page: string, address?: string,
     *     conversation?: string, number?: number, requireInteraction?: boolean}} one
     */
    async show(one) {
        if (!this.isOn) return;
        const worker = await activeWorker();
        if (worker) worker.postMessage({ notify: { title: one.title, page: one.page, options: optionsOf(one) } });
        else await this.#showHere(one);
    }

    /** Removes the one with a tag, or those of conversations that were read, `read` up to a number; nothing removes all. */
    async withdraw(filter = {}) {
        const worker = await activeWorker();
        if (worker) return worker.postMessage({ withdraw: filter });
        this.#close(filter);
        channel?.postMessage({ withdrawn: filter });
    }

    /** Whether the user sees that page in this tab; the empty one stands for any. */
    isShown(page) {
        if (document.visibilityState !== "visible") return false;
        return page === "" || `${location.hash}/`.startsWith(`${page}/`) && !document.getElementById("app").inert;
    }

    #open(address) {
        window.focus();
        if (address === "") return;
        // The browser does nothing for the address at which it is, such as that of a message from which one has scrolled away.
        if (location.hash === address) dispatchEvent(new HashChangeEvent("hashchange"));
        else location.hash = address;
    }

    async #showHere(one) {
        if (this.isShown(one.page) || await this.#isShownElsewhere(one.page)) return;
        if (!navigator.locks) return this.#display(one);
        await navigator.locks.request(`switchboard.notify.${one.tag}`, { ifAvailable: true }, async (lock) => {
            if (!lock) return;
            this.#display(one);
            await new Promise((resolve) => setTimeout(resolve, LOCK_TIME));
        });
    }

    #isShownElsewhere(page) {
        const id = crypto.randomUUID();
        return new Promise((resolve) => {
            const listen = ({ data }) => { if (data.answer === id) resolve(true); };
            channel.addEventListener("message", listen);
            setTimeout(() => {
                channel.removeEventListener("message", listen);
                resolve(false);
            }, ANSWER_TIME);
            channel.postMessage({ ask: id, page });
        });
    }

    #display(one) {
        try {
            const notification = new Notification(one.title, optionsOf(one));
            notification.onclick = () => {
                notification.close();
                this.#open(one.address ?? one.page);
            };
            this.#own.set(one.tag, { ...one, notification });
        } catch { /* Some phones allow notifications from service workers only. */ }
    }

    #close({ tag, read }) {
        for (const [key, one] of this.#own) {
            if (tag && key !== tag || read && !(one.number <= read[one.conversation])) continue;
            one.notification.close();
            this.#own.delete(key);
        }
    }
}

const activeWorker = async () => (await navigator.serviceWorker?.getRegistration().catch(() => undefined))?.active;

function optionsOf({ tag, body = "", icon = "/icons/192.png", requireInteraction = false, page, address = page, conversation, number }) {
    const { lang, dir } = document.documentElement;
    return { tag, body, icon, requireInteraction, lang, dir: dir || "auto", data: { address, conversation, number } };
}

export const notifications = new Notifications();

// The build of this page, and a newer one that the server has.
//
// The service worker installs builds. It learns of a new one when the page is opened, and when the server names another
// build than the page's while connecting. A page never changes while it is open: it only says that a reload brings the
// new build. Without a worker (in a browser that has none, over plain HTTP, or with a certificate that the browser does
// not trust) a reload loads whatever the server has.

import { Emitter } from "../state/emitter.js";

/** The name of this page's build; empty where plain modules are served. */
const build = document.querySelector("meta[name=build]")?.content ?? "";

/** The page runs what comes from its own origin. Of scripts that it names by itself it lets this one through alone. */
const WORKER = "/worker.js";
const policy = globalThis.trustedTypes?.createPolicy("switchboard", {
    createScriptURL(address) {
        if (address !== WORKER) throw new TypeError(`${address} is not a script of this page.`);
        return address;
    },
});

/** Events: `ready` (a reload brings another build). */
class Updates extends Emitter {
    isReady = false;
    #registration;
    #settle;
    /** That of the worker, once the page has registered it; undefined without one. */
    registration = new Promise((resolve) => { this.#settle = resolve; });

    /** Installs the worker, once the page has started. */
    async start() {
        const workers = navigator.serviceWorker;
        if (!build || !workers) return this.#settle();
        workers.addEventListener("message", ({ data }) => { if (data && "build" in data && data.build !== build) this.#setReady(); });
        workers.startMessages();
        try {
            this.#registration = await workers.register(policy ? policy.createScriptURL(WORKER) : WORKER, { updateViaCache: "none" });
        } catch (error) {
            console.info("without a service worker:", error.message);
        }
        this.#settle(this.#registration);
    }

    /** The server has named its build. */
    async noteServer(name) {
        if (!build || !name || name === build || this.isReady) return;
        // The worker tells when it is installed. Until then a reload would bring the old build.
        if (this.#registration?.active) await this.#registration.update().catch(() => {});
        else this.#setReady();
    }

    #setReady() {
        if (this.isReady) return;
        this.isReady = true;
        this.emit("ready");
    }
}

export const updates = new Updates();

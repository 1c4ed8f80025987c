// Which tab sends what waits in the queue: the one with the Web Lock. Nothing depends on it, since whatever is sent twice
// has the same client id: it only keeps tabs from doing the same work.

/** Whoever sends asks before each request. */
export class Sender {
    #name;
    /** The promise that holds the lock, while this tab has it. */
    #held;
    #release = () => {};
    #takeOver;
    #waiting;

    /** `name` is that of the lock; `takeOver` is called when the tab that has sent until then is gone. */
    constructor(name, takeOver) {
        this.#name = name;
        this.#takeOver = takeOver;
    }

    /** Whether this tab sends. With `steal` it does from now on, also if another one did. */
    async claim({ steal }) {
        // Without Web Locks (plain HTTP) every tab sends what was written in it.
        if (this.#held || !navigator.locks) return true;
        const isHeld = await this.#request(steal ? { steal } : { ifAvailable: true });
        if (!isHeld) this.#wait();
        return isHeld;
    }

    release() {
        this.#waiting?.abort();
        this.#release();
    }

    /** Takes over as soon as no other tab has the lock. */
    async #wait() {
        if (this.#waiting) return;
        this.#waiting = new AbortController();
        const isHeld = await this.#request({ signal: this.#waiting.signal });
        this.#waiting = undefined;
        if (isHeld) this.#takeOver();
    }

    #request(options) {
        return new Promise((resolve) => {
            let held;
            navigator.locks.request(this.#name, options, (lock) => {
                if (!lock) return resolve(false);
                held = this.#held = new Promise((release) => { this.#release = release; });
                resolve(true);
                return held;
            }).catch(() => resolve(false)).finally(() => { if (held && this.#held === held) this.#held = undefined; });
        });
    }
}

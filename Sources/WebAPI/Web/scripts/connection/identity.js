// Ids that this client generates: client ids for writes, and the endpoint of this tab.
//
// An endpoint is one running client. Its id and secret live in sessionStorage, so they survive a reload (and with
// them the call that this tab is in) and end with the tab. Browsers copy sessionStorage when a tab is duplicated, and
// two tabs with one endpoint would close each other's socket forever. So a tab holds a lock named after its endpoint
// for as long as it is open; a copy finds the lock taken and generates an endpoint of its own.

const KEY = "switchboard.endpoint";

export function randomID() {
    if (crypto.randomUUID) return crypto.randomUUID();
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

function randomSecret() {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

class Endpoint {
    id;
    secret;
    #release = () => {};

    /** Restores this tab's endpoint from sessionStorage, unless another open tab has it. */
    async claim() {
        const stored = this.#stored();
        if (stored && await this.#lock(stored.id)) return this.#set(stored);
        await this.renew();
    }

    /** Generates a new endpoint: after signing out, or when another tab turned out to have this one. */
    async renew() {
        this.#release();
        const fresh = { id: randomID(), secret: randomSecret() };
        await this.#lock(fresh.id);
        this.#set(fresh);
    }

    /** The value of the `Switchboard-Endpoint` header. */
    get header() { return `${this.id} ${this.secret}`; }

    #set({ id, secret }) {
        this.id = id;
        this.secret = secret;
        sessionStorage.setItem(KEY, JSON.stringify({ id, secret }));
    }

    #stored() {
        try {
            const { id, secret } = JSON.parse(sessionStorage.getItem(KEY));
            return id && secret ? { id, secret } : undefined;
        } catch { return undefined; }
    }

    /** Whether this tab now holds the lock of that name. Without Web Locks (plain HTTP) it always does. */
    async #lock(id) {
        if (!navigator.locks) return true;
        // After a reload the previous page may not have released its lock yet.
        for (let attempt = 0; attempt < 5; attempt += 1) {
            if (await this.#tryLock(`switchboard.endpoint.${id}`)) return true;
            await new Promise((resolve) => setTimeout(resolve, 40));
        }
        return false;
    }

    #tryLock(name) {
        return new Promise((resolve) => {
            navigator.locks.request(name, { ifAvailable: true }, (lock) => {
                resolve(Boolean(lock));
                return lock ? new Promise((release) => { this.#release = release; }) : undefined;
            }).catch(() => resolve(true));
        });
    }
}

export const endpoint = new Endpoint();

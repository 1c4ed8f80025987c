// ICE candidates on their way out and in, by generation.
//
// A generation is one offer and its answer as the server committed them. Candidates are gathered before the server has
// said which generation their offer became, and arrive before the description they belong to; both wait here.

const BATCH = 64;
const PAUSE = 15;

/** Collects local candidates for a moment and sends them in batches, the last of them marked as the end. */
export class OutgoingCandidates {
    #send;
    #queue = [];
    #end = false;
    #generation;
    #timer;

    /** `send(generation, {candidates, end})` answers the server's `{status}`. */
    constructor(send) { this.#send = send; }

    /** From now on candidates belong to this generation; those that waited go out. */
    open(generation) {
        this.#generation = generation;
        this.#schedule();
    }

    /** A description is on its way whose generation the server has not told yet. */
    hold() { this.#generation = undefined; }

    /** New ICE credentials: what was gathered under the old ones is worth nothing. */
    restart() {
        this.#queue = [];
        this.#end = false;
    }

    /** Takes what `icecandidate` brings: a candidate, or null when there are no more. */
    add(candidate) {
        if (!candidate) this.#end = true;
        else if (candidate.candidate) this.#queue.push(describe(candidate));
        this.#schedule();
    }

    close() {
        clearTimeout(this.#timer);
        this.#generation = undefined;
    }

    #schedule() {
        this.#timer ??= setTimeout(() => {
            this.#timer = undefined;
            this.#flush();
        }, PAUSE);
    }

    async #flush() {
        const generation = this.#generation;
        if (generation === undefined || (this.#queue.length === 0 && !this.#end)) return;
        const candidates = this.#queue.splice(0, BATCH);
        const end = this.#end && this.#queue.length === 0;
        if (end) this.#end = false;
        if (this.#queue.length > 0) this.#schedule();
        const { status } = await this.#send(generation, { candidates, end }).catch(() => ({}));
        // Overtaken by a newer offer that kept the same ICE credentials: they are still good, under its generation.
        if (status === "ignored" && this.#generation !== undefined && this.#generation > generation) {
            this.#queue.unshift(...candidates);
            this.#end ||= end;
            this.#schedule();
        }
    }
}

/** Keeps remote candidates until the description of their generation is there. */
export class IncomingCandidates {
    #waiting = [];

    /** Adds the batch now if `generation` has been reached, else later. */
    async add(connection, reached, { generation, payload }) {
        if (generation > reached) {
            this.#waiting.push({ generation, payload });
            return;
        }
        for (const candidate of payload.candidates ?? []) await addTo(connection, candidate);
    }

    /** A remote description was set: those that waited for it are added. */
    async release(connection, reached) {
        const waiting = this.#waiting;
        this.#waiting = [];
        for (const batch of waiting) await this.add(connection, reached, batch);
    }
}

/** A candidate of older ICE credentials is refused by the browser, and rightly so. */
async function addTo(connection, candidate) {
    try { await connection.addIceCandidate(candidate); } catch { /* see above */ }
}

function describe({ candidate, sdpMid, sdpMLineIndex, usernameFragment }) {
    const value = { candidate };
    if (sdpMid !== null) value.sdpMid = sdpMid;
    if (sdpMLineIndex !== null) value.sdpMLineIndex = sdpMLineIndex;
    if (usernameFragment) value.usernameFragment = usernameFragment;
    return value;
}

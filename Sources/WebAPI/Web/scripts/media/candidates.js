// Queues of outgoing and incoming ICE candidates, by generation.
//
// A generation is one offer and its answer as the server committed them. Candidates are gathered before the server has
// returned the generation of their offer, and arrive before the description they belong to; both are queued here.

const BATCH_SIZE = 64;
const BATCH_DELAY = 15;

/** Collects local candidates for a moment and sends them in batches, the last of them marked as the end. */
export class OutgoingCandidates {
    #send;
    #queue = [];
    #end = false;
    #generation;
    #timer;

    /** `send(generation, {candidates, end})` returns the server's `{status}`. */
    constructor(send) { this.#send = send; }

    /** From now on candidates belong to this generation; those in the queue are sent. */
    open(generation) {
        this.#generation = generation;
        this.#schedule();
    }

    /** A description was sent whose generation the server has not returned yet. */
    hold() { this.#generation = undefined; }

    /** New ICE credentials: candidates of the old ones are useless. */
    restart() {
        this.#queue = [];
        this.#end = false;
    }

    /** Handles the candidate of an `icecandidate` event: null when there are no more. */
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
        }, BATCH_DELAY);
    }

    async #flush() {
        const generation = this.#generation;
        if (generation === undefined || (this.#queue.length === 0 && !this.#end)) return;
        const candidates = this.#queue.splice(0, BATCH_SIZE);
        const end = this.#end && this.#queue.length === 0;
        if (end) this.#end = false;
        if (this.#queue.length > 0) this.#schedule();
        const { status } = await this.#send(generation, { candidates, end }).catch(() => ({}));
        // A newer offer kept the same ICE credentials: the candidates are still valid, under its generation.
        if (status === "ignored" && this.#generation !== undefined && this.#generation > generation) {
            this.#queue.unshift(...candidates);
            this.#end ||= end;
            this.#schedule();
        }
    }
}

/** Queues remote candidates until the description of their generation is set. */
export class IncomingCandidates {
    #queue = [];

    /** Adds the batch now if `generation` has been reached, otherwise later. */
    async add(connection, reached, { generation, payload }) {
        if (generation > reached) {
            this.#queue.push({ generation, payload });
            return;
        }
        for (const candidate of payload.candidates ?? []) await addCandidate(connection, candidate);
    }

    /** A remote description was set: the queued candidates of its generation are added. */
    async release(connection, reached) {
        const queue = this.#queue;
        this.#queue = [];
        for (const batch of queue) await this.add(connection, reached, batch);
    }
}

/** The browser rightly rejects a candidate of older ICE credentials. */
async function addCandidate(connection, candidate) {
    try { await connection.addIceCandidate(candidate); } catch { /* see above */ }
}

function describe({ candidate, sdpMid, sdpMLineIndex, usernameFragment }) {
    const value = { candidate };
    if (sdpMid !== null) value.sdpMid = sdpMid;
    if (sdpMLineIndex !== null) value.sdpMLineIndex = sdpMLineIndex;
    if (usernameFragment) value.usernameFragment = usernameFragment;
    return value;
}

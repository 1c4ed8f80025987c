// The assistant: asking it, following what it writes, and the threads of what it was asked. Its only memory is there.

import { randomID } from "../connection/identity.js";
import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import * as state from "../state/assistant-runs.js";
import { Emitter } from "../state/emitter.js";

/** So long a request may take, in milliseconds: the answer itself comes on a stream. */
const TIMEOUT = 30_000;

/** Events: `change`; `ended` (a run that was followed). */
class Assistant extends Emitter {
    state = state.emptyAssistant();
    /** A question that was begun, while one looks elsewhere. */
    unsent = "";
    /** The runs that are listened to. Nobody may be for a moment only: the server ends a run that nobody listens to. */
    #followed = new Set();

    constructor() {
        super();
        realtime.on("snapshot", ({ stream, data }) => this.#receive(stream, () => state.withRunSnapshot(this.state, data)));
        realtime.on("event", ({ stream, data }) => this.#receive(stream, (id) => state.withRunEvent(this.state, id, data)));
        realtime.on("reset", ({ stream }) => this.#readAgain(stream));
        realtime.on("refused", ({ stream }) => this.#readAgain(stream));
    }

    /** Somebody else may sign in. */
    reset() {
        for (const id of this.#followed) realtime.unlisten(`run:${id}`);
        this.#followed.clear();
        this.unsent = "";
        this.#set(state.emptyAssistant());
    }

    // Threads

    async loadThreads(cursor) {
        const page = await request("assistant.threads", { limit: 30, ...(cursor && { cursor }) });
        this.#set(state.withThreads(this.state, page, { isFirst: !cursor }));
    }

    async loadThread(id) {
        const page = await request("assistant.thread", { thread: id });
        this.#set(state.withThread(this.state, page));
        this.#followAll();
    }

    async eraseThread(id) {
        await request("assistant.eraseThread", { thread: id });
        for (const { run } of state.runsOf(this.state, id)) this.#leave(run.id);
        this.#set(state.withoutThread(this.state, id));
    }

    // Runs

    /** `question`, and perhaps `thread`, `conversation` and `for`. Resolves to the run, which is followed. */
    async ask(params) {
        const { run } = await request("assistant.ask", { clientID: randomID(), ...params }, { timeout: TIMEOUT });
        this.#set(state.withAsked(this.state, run));
        this.#followAll();
        return run;
    }

    /** Asks the same again in the place of a run that has failed. */
    async askAgain({ id, question, thread, conversation, for: audience }) {
        const run = await this.ask({ question, thread, ...(conversation && { conversation }), for: audience });
        await this.eraseRun(id).catch(() => {});
        return run;
    }

    async cancel(id) {
        const { run } = await request("assistant.cancel", { run: id });
        this.#set(state.withRuns(this.state, [run]));
        this.#leaveEnded();
    }

    async eraseRun(id) {
        await request("assistant.eraseRun", { run: id });
        this.#leave(id);
        this.#set(state.withoutRun(this.state, id));
    }

    // Following

    #followAll() {
        for (const id of state.runningIn(this.state)) {
            if (this.#followed.has(id)) continue;
            this.#followed.add(id);
            realtime.listen(`run:${id}`);
        }
    }

    #leave(id) { if (this.#followed.delete(id)) realtime.unlisten(`run:${id}`); }

    #receive(stream, next) {
        const id = this.#followedIn(stream);
        if (!id) return;
        const before = this.state.runs[id];
        this.#set(next(id));
        const now = this.state.runs[id];
        if (now?.isStale && !before?.isStale) {
            realtime.unlisten(stream);
            realtime.listen(stream);
        }
        this.#leaveEnded();
    }

    #leaveEnded() {
        for (const id of [...this.#followed]) {
            const run = this.state.runs[id]?.run;
            if (run?.status === "running") continue;
            this.#leave(id);
            if (run) this.emit("ended", run);
        }
    }

    /** The stream is not there any more: the run has ended meanwhile, or was erased elsewhere. */
    async #readAgain(stream) {
        const id = this.#followedIn(stream);
        if (!id) return;
        try {
            const { run } = await request("assistant.run", { run: id });
            this.#set(state.withRuns(this.state, [run]));
            if (run.status === "running") return realtime.listen(stream);
        } catch (error) {
            // Without a connection it is asked for again with the next one.
            if (error.status === 404) this.#set(state.withoutRun(this.state, id));
        }
        this.#leaveEnded();
    }

    #followedIn(stream) {
        const id = stream.startsWith("run:") ? stream.slice("run:".length) : undefined;
        return id && this.#followed.has(id) ? id : undefined;
    }

    #set(next) {
        if (next === this.state) return;
        this.state = next;
        this.emit("change");
    }
}

export const assistant = new Assistant();

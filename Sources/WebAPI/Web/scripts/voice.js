// Voice messages: sending and listing them, and events when they are created or removed.
//
// The streams of the two users announce a message without the URL of its audio: the URL expires, while streams are
// kept. It is fetched when the message is shown.

import { authorized, serverInfo } from "./api.js";
import { credentials } from "./credentials.js";
import { Emitter } from "./emitter.js";
import { randomID } from "./identity.js";
import { realtime } from "./realtime.js";
import { withRetries, request } from "./requests.js";

const RETRY_TIMEOUT = 60_000;
const UPLOAD_TIMEOUT = 120_000;

/**
 * Events: `created` and `removed` (a message without its audio), `transcribed` (its id and transcript), `unseen`,
 * `arrived` (the sender's name, while their messages are not shown), `reload` when events may have been missed.
 */
class Voice extends Emitter {
    /** The senders of messages that were not shown on this page: id -> {name, count}. */
    unseen = new Map();
    #watched;
    #limits;

    constructor() {
        super();
        realtime.on("change", ({ stream, type, data }) => this.#change(stream, type, data));
        realtime.on("snapshot", ({ stream }) => { if (stream === `user:${credentials.user?.id}`) this.emit("reload"); });
    }

    /** Clears everything: somebody else may sign in. */
    reset() {
        this.unseen.clear();
        this.#watched = undefined;
        this.emit("unseen");
    }

    /** The messages with this user are shown, until the returned function is called. */
    watch(user) {
        this.#watched = user;
        this.unseen.delete(user);
        this.emit("unseen");
        return () => { if (this.#watched === user) this.#watched = undefined; };
    }

    list(user, cursor) { return request("voice.list", { with: user, limit: 30, ...(cursor && { cursor }) }); }

    async get(id) { return (await request("voice.get", { message: id })).message; }

    /** Retries the transcription of a message. */
    async transcribe(id) { return (await request("voice.transcribe", { message: id })).transcript; }

    remove(id) { return request("voice.remove", { message: id }); }

    /** Sends an audio file, with retries. */
    async send(user, blob, clientID = randomID()) {
        const query = new URLSearchParams({ to: user, clientID });
        const file = new Blob([blob], { type: /webm|matroska/.test(blob.type) ? "audio/webm" : "audio/ogg" });
        const upload = () => authorized("POST", `/v1/voice-messages?${query}`, file, { timeout: UPLOAD_TIMEOUT });
        return (await withRetries(upload, RETRY_TIMEOUT)).message;
    }

    /** The maximum length and size of a message, and whether one can be recorded on the server. */
    async limits() {
        this.#limits ??= (await serverInfo()).voice;
        return this.#limits;
    }

    #change(stream, type, data) {
        const me = credentials.user?.id;
        if (stream !== `user:${me}`) return;
        if (type === "voice.created") {
            this.emit("created", data);
            if (data.to === me && data.from !== this.#watched) this.#addUnseen(data.from);
        }
        if (type === "voice.removed") this.emit("removed", data);
        if (type === "voice.transcribed") this.emit("transcribed", data);
    }

    async #addUnseen(user) {
        const known = this.unseen.get(user) ?? { name: "Somebody", count: 0 };
        this.unseen.set(user, known);
        known.count += 1;
        try { known.name = (await request("users.get", { user })).displayName; } catch { /* Announced without a name. */ }
        this.emit("unseen");
        this.emit("arrived", known.name);
    }
}

export const voice = new Voice();

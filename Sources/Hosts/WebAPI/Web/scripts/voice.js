// Voice messages: sending them, finding them, and hearing of those that come and go.
//
// A message is told of in the streams of its two users, without its sound's address: that runs out, while streams are
// kept. Whoever shows a message asks for it.

import { authorized, serverInfo } from "./api.js";
import { credentials } from "./credentials.js";
import { Emitter } from "./emitter.js";
import { randomID } from "./identity.js";
import { realtime } from "./realtime.js";
import { patiently, request } from "./requests.js";

const PATIENCE = 60_000;
const UPLOAD_LIMIT = 120_000;

/**
 * Events: `created` and `removed` (a message without its sound), `transcribed` (its id and transcript), `unseen`, `arrived` (the name of whom it is from, while
 * nobody looks at their messages), `reload` when something may have been missed.
 */
class Voice extends Emitter {
    /** Who has sent something that was not looked at on this page: id -> {name, count}. */
    unseen = new Map();
    #watched;
    #limits;

    constructor() {
        super();
        realtime.on("change", ({ stream, type, data }) => this.#change(stream, type, data));
        realtime.on("snapshot", ({ stream }) => { if (stream === `user:${credentials.user?.id}`) this.emit("reload"); });
    }

    /** Forgets everything: somebody else may sign in. */
    reset() {
        this.unseen.clear();
        this.#watched = undefined;
        this.emit("unseen");
    }

    /** Somebody looks at the messages with this user, until the returned function is called. */
    watch(user) {
        this.#watched = user;
        this.unseen.delete(user);
        this.emit("unseen");
        return () => { if (this.#watched === user) this.#watched = undefined; };
    }

    list(user, cursor) { return request("voice.list", { with: user, limit: 30, ...(cursor && { cursor }) }); }

    async get(id) { return (await request("voice.get", { message: id })).message; }

    /** Has a message written down once more. */
    async transcribe(id) { return (await request("voice.transcribe", { message: id })).transcript; }

    remove(id) { return request("voice.remove", { message: id }); }

    /** Sends a sound; the same one again while the way to the server is broken. */
    async send(user, blob, clientID = randomID()) {
        const query = new URLSearchParams({ to: user, clientID });
        const file = new Blob([blob], { type: /webm|matroska/.test(blob.type) ? "audio/webm" : "audio/ogg" });
        const upload = () => authorized("POST", `/v1/voice-messages?${query}`, file, { limit: UPLOAD_LIMIT });
        return (await patiently(upload, PATIENCE)).message;
    }

    /** How long and how large a message may be, and whether one can be recorded on the server. */
    async limits() {
        this.#limits ??= (await serverInfo()).voice;
        return this.#limits;
    }

    #change(stream, type, data) {
        const me = credentials.user?.id;
        if (stream !== `user:${me}`) return;
        if (type === "voice.created") {
            this.emit("created", data);
            if (data.to === me && data.from !== this.#watched) this.#note(data.from);
        }
        if (type === "voice.removed") this.emit("removed", data);
        if (type === "voice.transcribed") this.emit("transcribed", data);
    }

    async #note(user) {
        const known = this.unseen.get(user) ?? { name: "Somebody", count: 0 };
        this.unseen.set(user, known);
        known.count += 1;
        try { known.name = (await request("users.get", { user })).displayName; } catch { /* They are told of without a name. */ }
        this.emit("unseen");
        this.emit("arrived", known.name);
    }
}

export const voice = new Voice();

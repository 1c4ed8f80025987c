// What the user does with the messages of a conversation. Changes wait in the queue, and are shown at once; what is about a
// moment, or asks for something, needs the server now.

import { credentials } from "../connection/credentials.js";
import { request } from "../connection/requests.js";
import { Emitter } from "../state/emitter.js";
import { outbox } from "./outbox.js";

const TYPING_INTERVAL = 2_000;

export class ThreadWrites extends Emitter {
    #typingAt = -Infinity;
    #sounds = new Map();

    constructor(id) {
        super();
        this.id = id;
    }

    get outgoing() { return outbox.list(this.id); }

    /** Whether the user whose thread it is, `me`, is signed in still. What comes later is not the next user's. */
    get isSignedIn() { return this.me === credentials.user?.id; }

    /** Sends a message, `{text, file, blob, replyTo, thread, draft}`. */
    send(message) {
        this.#typingAt = -Infinity;
        return this.isSignedIn ? outbox.send(this.id, message) : undefined;
    }

    /** Another text for a message that waits. Resolves to whether it was not sent before. */
    revise(clientID, text) { return outbox.revise(clientID, text); }

    /** Takes back that the user leaves, while that waits. */
    stay() { for (const one of outbox.entries(this.id)) if (one.name === "members.leave" && one.state === "waiting") outbox.discard(this.id, one.clientID); }

    retry(clientID) { outbox.retry(this.id, clientID); }
    discard(clientID) { outbox.discard(this.id, clientID); }

    async schedule(message, sendAt, clientID) {
        return request("messages.send", { conversation: this.id, clientID, ...message, sendAt: sendAt.toISOString() });
    }

    edit({ number, textVersion }, text) { this.#queue("messages.edit", { number, text, textVersion }, `edit ${number}`); }

    /** In which language a text of the user's own is. */
    setLanguage({ number }, language) { this.#queue("messages.setLanguage", { number, language }, `language ${number}`); }

    deleteForAll({ number }) { this.#queue("messages.delete", { number, for: "all" }, `delete ${number}`); }

    deleteForMe({ number }) { this.#queue("messages.delete", { number, for: "me" }, `hide ${number}`); }

    react({ number }, emoji, isOn) {
        this.#queue(isOn ? "messages.react" : "messages.removeReaction", { number, emoji }, `react ${number} ${emoji}`);
    }

    star({ number }, isOn) { this.#queue(isOn ? "messages.star" : "messages.unstar", { number }, `star ${number}`); }

    pin(number, isOn) { this.#queue(isOn ? "messages.pin" : "messages.unpin", { number }, `pin ${number}`); }

    /** Only the user's own devices learn of it. */
    noteListened({ number }) {
        if (!this.state.listened[number]) this.#queue("messages.listen", { number }, `listen ${number}`);
    }

    /** The sound of a voice message, which goes on playing when the message is drawn anew. */
    sound(message, make) {
        const known = this.#sounds.get(message.number);
        if (known?.file === message.voice.file) return known;
        known?.close();
        const made = make();
        this.#sounds.set(message.number, made);
        return made;
    }

    closeSounds() { for (const sound of this.#sounds.values()) sound.close(); }

    /** What was on the screen, up to a number. */
    queueRead(read) { this.#queue("conversations.mark", { read }, "mark"); }

    /** Asks about a message: `edits`, `reactions` or `receipts`. */
    ask(what, { number }) { return request(`messages.${what}`, { conversation: this.id, number }); }

    async audioLink(message) { return (await this.ask("audio", message)).audio; }

    /** The message changes when the transcript is there. */
    async transcribe(message) { await this.ask("transcribe", message); }

    /** A request about the conversation, whose result may have a newer copy of it. */
    async change(name, params = {}) {
        const result = await request(name, { conversation: this.id, ...params });
        this.apply(result);
        return result;
    }

    /** Tells the others that the user writes or records, or has stopped. */
    noteTyping(isWriting, what = "typing") {
        const now = performance.now();
        if (isWriting ? now - this.#typingAt < TYPING_INTERVAL : this.#typingAt === -Infinity) return;
        this.#typingAt = isWriting ? now : -Infinity;
        request("typing.note", { conversation: this.id, state: isWriting ? what : "stopped" }, { timeout: 0 }).catch(() => {});
    }

    #queue(name, params, key) { if (this.isSignedIn) outbox.change(this.id, name, params, key); }
}

// The emoji to choose from, which are loaded once somebody is about to choose one, and what the user chose last.

import { languages } from "../../../catalogues/languages.js";
import { credentials } from "../../connection/credentials.js";
import { locale } from "../../language/locale.js";
import { Emitter } from "../../state/emitter.js";
import { emojiOf, withRecent } from "../../state/emoji-search.js";
import { channel } from "../../store/channel.js";
import { storage } from "../../store/storage.js";

/** Where they are, by the tag of the language of their names: `Scripts/web` sets it. */
const addresses = typeof EMOJI === "undefined"
    ? Object.fromEntries(Object.keys(languages).map((tag) => [tag, `/emoji/${tag}.json`])) : EMOJI;
const emptyUse = () => ({ recent: [], tone: 0 });

/** Event: `loaded`. */
class Emoji extends Emitter {
    /** By the tag of the language. */
    #known = new Map();
    #loading = new Map();
    /** Kept on this device as long as the sign-in: `recent` are the emoji that were used last, and `tone` is that of skins. */
    #use = emptyUse();

    constructor() {
        super();
        channel.on("emoji", ({ user, use }) => { if (user === credentials.user?.id) this.#use = use; });
    }

    /** Goes on with what was kept. */
    start(use = emptyUse()) { this.#use = use; }

    /** Somebody else may sign in. */
    reset() { this.#use = emptyUse(); }

    get recent() { return this.#use.recent; }
    get tone() { return this.#use.tone; }

    /** An emoji was chosen. */
    noteUse(text) { this.#keep({ ...this.#use, recent: withRecent(this.#use.recent, text) }); }

    setTone(tone) { this.#keep({ ...this.#use, tone }); }

    /** Those that are loaded, with their names in the language of the page; undefined while there are none. */
    get all() { return this.#known.get(this.#tag); }

    /** Loads them, once. Rejects if that fails, and tries it anew the next time. */
    load() {
        const tag = this.#tag;
        if (!this.#loading.has(tag)) this.#loading.set(tag, this.#read(tag));
        return this.#loading.get(tag);
    }

    async #read(tag) {
        try {
            // They are found by their English names in every language.
            const [own, english] = await Promise.all([tag, ...tag === "en" ? [] : ["en"]].map(fileOf));
            this.#known.set(tag, emojiOf(own, english));
        } catch (error) {
            this.#loading.delete(tag);
            throw error;
        }
        this.emit("loaded");
        return this.#known.get(tag);
    }

    /** What has no file of its own is in English. */
    get #tag() { return locale().tag in addresses ? locale().tag : "en"; }

    #keep(use) {
        this.#use = use;
        storage.cache.saveValue("emoji", use);
        channel.post("emoji", { user: credentials.user?.id, use });
    }
}

async function fileOf(tag) {
    const response = await fetch(addresses[tag]);
    if (!response.ok) throw new Error(`${tag}: status ${response.status}`);
    return response.json();
}

export const emoji = new Emoji();

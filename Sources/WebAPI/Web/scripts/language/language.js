// The language that the user has chosen: its catalogue is loaded by one request, and kept for the next time.

import { languages, pseudoLanguages } from "../../catalogues/languages.js";
import { Emitter } from "../state/emitter.js";
import { preferences } from "../store/preferences.js";
import { locale, setLocale } from "./locale.js";

/** Where catalogues are, by tag: `Scripts/web` sets it. A folder of plain modules has none of the pseudo-languages. */
const addresses = typeof CATALOGUES === "undefined"
    ? Object.fromEntries(Object.keys(languages).map((tag) => [tag, `/catalogues/${tag}.json`])) : CATALOGUES;

/** Event: `change`: what is shown has to be drawn anew. */
class Language extends Emitter {
    /** The one that the address of this page names, for a test or a developer. */
    #addressed = new URLSearchParams(location.search).get("language") ?? "";
    #offersPseudo = this.#addressed in pseudoLanguages;
    /** The tag whose catalogue was asked for last. */
    #wanted;

    constructor() {
        super();
        // It was chosen in another tab.
        preferences.on("language", () => this.#follow());
    }

    /** What can be chosen: names by tag. */
    get choices() { return this.#offersPseudo || this.chosen in pseudoLanguages ? { ...languages, ...pseudoLanguages } : languages; }

    /** The tag that was chosen, or nothing where the browser decides. */
    get chosen() { return this.#addressed || preferences.get("language"); }

    /** Loads the language before anything is shown. Without its catalogue the page is in English. */
    async start() {
        try { await this.#load(this.#tag()); } catch (error) { console.info("without the catalogue of the language:", error.message); }
        this.#mark();
    }

    /** Changes the language, and keeps it; throws if its catalogue cannot be loaded. */
    async choose(tag) {
        await this.#load(this.#tag(tag));
        this.#addressed = "";
        preferences.set("language", tag);
        this.#mark();
        this.emit("change");
    }

    async #follow() {
        if (this.#tag() === this.#wanted) return;
        try { await this.#load(this.#tag()); } catch (error) { return console.info("without the catalogue of the language:", error.message); }
        this.#mark();
        this.emit("change");
    }

    #tag(chosen = this.chosen) {
        const all = { ...languages, ...pseudoLanguages };
        if (chosen in all) return chosen;
        const wanted = navigator.languages ?? [navigator.language];
        return wanted.map((one) => Object.keys(languages).find((tag) => tag === one || tag === one.split("-")[0])).find(Boolean) ?? "en";
    }

    async #load(tag) {
        this.#wanted = tag;
        if (tag === "en") return setLocale(tag);
        const response = await fetch(addresses[tag]);
        if (!response.ok) throw new Error(`${tag}: status ${response.status}`);
        const texts = await response.json();
        // Another one may have been chosen meanwhile.
        if (this.#wanted === tag) setLocale(tag, texts);
    }

    #mark() {
        document.documentElement.lang = locale().tag;
        document.documentElement.dir = locale().direction;
    }
}

export const language = new Language();

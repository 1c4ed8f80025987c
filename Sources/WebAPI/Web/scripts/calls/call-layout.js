// How much of the page a call has: `full`, `beside` the chat of its conversation, or `corner`, while one is elsewhere.
//
// While it has all of the page an entry of the browser's history stands for it, so that Back leaves the call for the
// pages, and only then the page below. An entry whose call is over is skipped.

import { addEntry } from "../elements/history-entry.js";
import { Emitter } from "../state/emitter.js";

/** Where there is room for two columns. */
const wide = matchMedia("(min-width: 1100px)");

/** Event: `change`. */
class CallLayout extends Emitter {
    value = "full";
    /** Whether a call is there at all. */
    isShown = false;
    #isStale = false;
    #hash = location.hash;

    constructor() {
        super();
        addEventListener("popstate", ({ state }) => this.#handleBack(state));
        addEventListener("hashchange", () => this.#handleAddress());
        wide.addEventListener("change", () => { if (!wide.matches && this.value === "beside") this.#set("corner"); });
    }

    /** Whether a call has all of the page. */
    get isOver() { return this.isShown && this.value === "full"; }

    /** A call begins, with all of the page. */
    begin() {
        this.isShown = true;
        this.expand();
    }

    end() {
        this.isShown = false;
        if (history.state?.call) this.#isStale = true;
        this.#set("full");
    }

    expand() {
        if (!history.state?.call) addEntry({ call: true });
        this.#isStale = false;
        this.#set("full");
    }

    /** Leaves it in a corner, over the page that was there before. */
    shrink() {
        this.#set("corner");
        if (history.state?.call) history.back();
    }

    /** Shows a conversation: beside the call where there is room, else instead of it. */
    showChat(conversation) {
        const address = `#/c/${conversation}`;
        this.#set(wide.matches ? "beside" : "corner");
        if (location.hash.startsWith(address)) {
            if (history.state?.call) history.back();
        } else if (history.state?.call) location.replace(address);
        else location.hash = address;
    }

    #handleBack(state) {
        if (state?.call && !this.isShown) return history.back();
        if (this.isShown && this.value === "full" && !state?.call) this.#set("corner");
        if (!this.#isStale || state?.call || location.hash !== this.#hash) return undefined;
        this.#isStale = false;
        return history.back();
    }

    #handleAddress() {
        this.#hash = location.hash;
        this.#isStale = false;
        if (!this.isShown) return;
        const isChat = location.hash.startsWith("#/c/");
        if (this.value === "full" || this.value === "beside" && !isChat) this.#set("corner");
    }

    #set(value) {
        this.value = value;
        this.emit("change");
    }
}

export const callLayout = new CallLayout();

// How much of the page a call has: `full`, `beside` the chat of its conversation, or `corner`, while one is elsewhere.
//
// While it has all of the page an entry of the browser's history stands for it, so that Back leaves the call for the
// pages, and only then the page below. An entry whose call is over is skipped.

import { addEntry, declareEntry, goBack } from "../elements/history-entry.js";
import { Emitter } from "../state/emitter.js";

/** Where there is room for two columns. */
const wide = matchMedia("(min-width: 1100px)");

/** Event: `change`. */
class CallLayout extends Emitter {
    value = "full";
    /** Whether a call is there at all. */
    isShown = false;

    constructor() {
        super();
        declareEntry("call", () => this.isOver);
        addEventListener("popstate", ({ state }) => { if (this.isOver && !state?.call) this.#set("corner"); });
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
        this.#set("full");
    }

    expand() {
        if (!history.state?.call) addEntry({ call: true });
        this.#set("full");
    }

    /** Leaves it in a corner, over the page that was there before. */
    shrink() {
        this.#set("corner");
        if (history.state?.call) goBack();
    }

    /** Shows a conversation: beside the call where there is room, else instead of it. */
    showChat(conversation) {
        const address = `#/c/${conversation}`;
        this.#set(wide.matches ? "beside" : "corner");
        if (location.hash.startsWith(address)) {
            if (history.state?.call) goBack();
        } else if (history.state?.call) location.replace(address);
        else location.hash = address;
    }

    #handleAddress() {
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

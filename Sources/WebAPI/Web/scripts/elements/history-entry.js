// An entry of the browser's history that stands for something over a page: Back closes that first, and only then the page.
// What a dialog shows over it is closed before it. While Back is held it closes nothing, and leads nowhere.
//
// Where one has gone on from such an entry to another page, or has reloaded it, or has closed in another way what it stands for,
// it stands for nothing: it is skipped, or becomes the next one.

/** By the name of an entry, whether what it stands for is there. */
const presence = new Map();

/** The state of the current entry, and of the one that was left last: the event does not have it. */
let current = history.state;
let left;
/** The address of the page under the entries. */
let hash = location.hash;
let isGoingBack = false;
/** One more page is to be left, as soon as the entries that stand for nothing are behind. */
let isLeaving = false;
let isHeld = false;

/** An entry of this name is there: `isThere` says whether what it stands for is. */
export const declareEntry = (name, isThere) => presence.set(name, isThere);

declareEntry("dialog", () => document.querySelector("dialog.dialog[open]") !== null);
declareEntry("ring", () => isHeld);

const namesIn = (state) => Object.keys(state ?? {}).filter((name) => presence.has(name));
const isAbsent = (name) => !presence.get(name)();
/** Dialogs skip theirs themselves. */
const isStale = (state) => namesIn(state).some((name) => name !== "dialog" && isAbsent(name));

addEventListener("popstate", (event) => {
    const isOwnStep = isGoingBack;
    const isSamePage = location.hash === hash;
    isGoingBack = false;
    if (isHeld && isSamePage && !isOwnStep) {
        event.stopImmediatePropagation();
        history.pushState(current, "");
        return;
    }
    [left, current] = [current, event.state];
    const isFromNothing = isOwnStep ? isLeaving : isSamePage && isStale(left);
    isLeaving = isFromNothing && isStale(current);
    if (isFromNothing || isStale(current)) goBack();
    else if (isHeld && isSamePage) stay();
});
addEventListener("hashchange", () => {
    current = history.state;
    hash = location.hash;
    if (isHeld) stay();
});
// A page that was left and is shown again has arrived where it was going.
addEventListener("pageshow", () => { isGoingBack = false; });

/** Puts another address in place of that of the page, of which the browser tells nobody. */
export function replaceAddress(address) {
    history.replaceState(history.state, "", address);
    hash = location.hash;
}

/** The state of the entry from which Back, or Forward, has come. */
export const leftEntry = () => left;

/** Goes back by one entry, once, however many ask for it until the browser is there. */
export function goBack() {
    if (isGoingBack) return;
    isGoingBack = true;
    history.back();
}

/** Adds an entry. One that stands for nothing any more becomes the new one. */
export function addEntry(state) {
    const isFree = namesIn(history.state).some((name) => name === "ring" || isAbsent(name));
    if (isFree) history.replaceState(state, "");
    else history.pushState(state, "");
    current = state;
    // Where there was no page before, the browser has gone nowhere, and does not say so.
    isGoingBack = false;
}

/** From now on Back stays where it is, whatever is on top, until it is released. */
export function holdBack() {
    isHeld = true;
    stay();
}

export function releaseBack() { isHeld = false; }

/** Back needs an entry that it may leave: any that is over the page will do. */
function stay() { if (namesIn(history.state).length === 0) addEntry({ ring: true }); }

export class HistoryEntry {
    #name;
    #close;
    #isOverCall = false;

    /** `name` is one of its own among all that have an entry. */
    constructor(name) {
        this.#name = name;
        declareEntry(name, () => this.#close !== undefined);
        addEventListener("popstate", ({ state }) => this.#handle(state));
        if (history.state?.[name]) goBack();
    }

    /** It is there: `close` is called by Back, and by going to another address. */
    add(close) {
        this.#close = close;
        this.#isOverCall = presence.get("call")?.() === true;
        if (!history.state?.[this.#name]) addEntry({ ...this.#isOverCall && { call: true }, [this.#name]: true });
    }

    /** It was closed in another way. */
    remove() {
        this.#close = undefined;
        if (history.state?.[this.#name]) goBack();
    }

    /** It was closed in another way, perhaps by going elsewhere, which going back would undo: the entry stays for the next one. */
    leave() { this.#close = undefined; }

    #handle(state) {
        const close = this.#close;
        // A call over it has an entry of its own.
        if (!close || state?.[this.#name] || state?.call && !this.#isOverCall) return undefined;
        const dialogs = [...document.querySelectorAll("dialog.dialog[open]")];
        if (dialogs.length > 0) {
            for (const dialog of dialogs) dialog.close();
            return this.add(close);
        }
        this.#close = undefined;
        return close();
    }
}

// The messages of a thread: which of them are in the page, and where the page stands while they come, grow and go.
//
// The topmost message on the screen stays where it is, whatever changes above it; at the end the newest stays in view.
// Where an end of what is in the page is near, a few messages are put in with each frame, and more are read ahead.

import { hasFeature } from "../../connection/features.js";
import { request } from "../../connection/requests.js";
import { attempt } from "../../elements/attempt.js";
import { button, h } from "../../elements/dom.js";
import { onceAFrame } from "../../elements/frames.js";
import { Nodes, show as showNodes } from "../../elements/keyed.js";
import { t } from "../../language/texts.js";
import { mentionAfter, newerThan } from "../../state/earlier-range.js";
import * as windows from "../../state/message-window.js";
import { LONG } from "../../state/summary-items.js";
import { layout } from "../../state/thread-layout.js";
import { newestNumber, shownMessages, shownNumbers } from "../../state/thread-rows.js";
import { friends } from "../../sync/friends.js";
import { inbox } from "../../sync/inbox.js";
import { canSumUp } from "../assistant/summary.js";
import { messageItem, outgoingItem, partsOf } from "../messages/message.js";
import { focusedIn, watchKeys, watchPresses } from "./feed-keys.js";
import { Anchor } from "./scroll-anchor.js";

/** How far from its end the list still counts as being there, and from where on more is put in, in pixels. */
const END = 60;
const NEAR = 2_000;
/** How much less there may be on one side than on the other, where no more fits into the page. */
const UNEVEN = 400;
/** Where one reads earlier messages, so many are held beyond those in the page. */
const AHEAD = 150;
/** How much of a message has to be on the screen to be read. */
const LEAST = 30;

/** `target` is the number of the message to open at; without it the first unread one, or the newest. */
export class Feed {
    node;
    #thread;
    #actions;
    #list = h("div", { id: "messages", class: "messages", role: "feed", "aria-label": t("feed.messages"), "aria-busy": "true", tabindex: "0" });
    #scroller;
    #newest;
    #count = h("span", { class: "count", hidden: true });
    #mention;
    #mentioned;
    #nodes = new Nodes();
    #window = { first: undefined, last: undefined };
    #unreadAfter;
    /** Whether there is so much that is unread that one may want it summed up. */
    #isLong = false;
    #opened = new Set();
    #target;
    /** `new`, `opening` while the range to open at is read, or `open`. */
    #phase = "new";
    #isAtEnd = true;
    /** Whether what came while the thread was closed is in it. */
    #isSettled = false;
    #anchor;
    #isReading = false;
    /** Whether somebody has scrolled, from where the feed has put the messages. */
    #hasScrolled = false;
    #ownTop = 0;
    #newestText;
    #resized = new ResizeObserver(() => this.#restore());
    #schedule = onceAFrame(() => this.draw());

    constructor(thread, actions, target) {
        this.#thread = thread;
        this.#target = target;
        this.#actions = { ...actions, unfold: (number) => this.#unfold(number) };
        this.#newest = button({ name: "down", label: t("feed.toNewest"), bare: true, class: "round newest", hidden: true,
            data: { action: "to-newest" }, onclick: () => this.showNewest() });
        this.#newest.append(this.#count);
        this.#mention = button({ label: t("feed.toMention"), class: "round newest mention-next", hidden: true, "aria-label": t("feed.toMention"), title: t("feed.toMention"),
            data: { action: "to-mention" }, onclick: () => attempt(this.#showMention()) }, "@");
        this.#scroller = h("div", { class: "scroller" }, this.#list);
        this.node = h("div", { class: "feed" }, this.#scroller, h("p", { class: "hint nothing" }, t("row.noMessages")), this.#mention, this.#newest);
        this.#scroller.addEventListener("scroll", () => this.#handleScroll(), { passive: true });
        this.#anchor = new Anchor(this.#scroller, this.#list);
        watchKeys(this.#list, actions.key, () => document.getElementById(`message-${this.#anchor.lastSeen(LEAST)}`));
        watchPresses(this.#list);
        document.addEventListener("visibilitychange", this.#handleVisibility);
        this.#resized.observe(this.#list);
        this.#resized.observe(this.#scroller);
    }

    close() {
        this.#schedule.cancel();
        this.#resized.disconnect();
        document.removeEventListener("visibilitychange", this.#handleVisibility);
    }

    draw() {
        this.#schedule.cancel();
        const { state } = this.#thread;
        if (!state.isLoaded) return;
        const isCaughtUp = !this.#isSettled && this.#thread.isCurrent;
        this.#isSettled ||= isCaughtUp;
        // Nobody has gone anywhere yet: it opens at what has come, not at what was left.
        const reopens = isCaughtUp && this.#phase === "open" && this.#target === undefined && this.#isAtEnd;
        const opensAt = this.#phase === "new" || reopens ? this.#begin() : undefined;
        if (this.#phase === "opening") return;
        const numbers = shownNumbers(state);
        if (this.#window.first === undefined) this.#window = windows.newestWindow(numbers);
        this.#window = windows.trimmedWindow(this.#window, numbers, this.#isAtEnd);
        const [messages, { before, inside }] = [shownMessages(state), windows.partsOf(this.#window, numbers)];
        const items = layout(messages.slice(before, before + inside), { me: this.#thread.me, unreadAfter: this.#unreadAfter,
            blocked: this.#folds ? friends.blocked : undefined, opened: this.#opened, before: messages[before - 1], after: messages[before + inside] });
        if (this.#isLong && canSumUp()) for (const item of items) item.isLong = item.isUnread;
        const nodes = items.map((item) => this.#nodes.node(item.message.number, partsOf(this.#thread, item),
            () => messageItem(this.#thread, item, this.#actions)));
        const pending = this.#follows ? this.#thread.outgoing.filter((one) => one.thread === undefined).map((one) =>
            this.#nodes.node(one.clientID, [one], () => outgoingItem(this.#thread, one, this.#actions))) : [];
        this.#nodes.sweep();
        this.#actions.mark(nodes);
        const focused = focusedIn(this.#list);
        showNodes(this.#list, [...nodes, ...pending]);
        focused?.restore();
        const isEmpty = nodes.length + pending.length === 0;
        // Writing an attribute has styles computed, whether it is another or not.
        if (this.node.dataset.empty !== String(isEmpty)) {
            this.node.dataset.empty = String(isEmpty);
            // A feed has articles.
            this.#list.setAttribute("role", isEmpty ? "region" : "feed");
        }
        if (this.#list.hasAttribute("aria-busy")) this.#list.removeAttribute("aria-busy");
        if (opensAt) this.#scrollTo(document.getElementById(`message-${opensAt}`), 0.2);
        this.#restore();
        this.#markSeen();
        this.#fill();
        this.#drawNewest();
        this.#thread.bound(this.#window);
        this.#thread.translations.demand(items.map((item) => item.message).reverse());
    }

    /** Shows a message, wherever it is, and points to it. Resolves to whether it may be seen. */
    async showMessage(number) {
        const found = await this.#thread.show(number);
        if (!found) return false;
        const { state } = this.#thread;
        if (this.#window.first === undefined || !windows.isIn(this.#window, number) || state.past) this.#window = windows.windowAround(shownNumbers(state), number);
        this.#phase = "open";
        this.#isAtEnd = false;
        this.draw();
        const node = document.getElementById(`message-${number}`);
        if (!node) return false;
        this.#scrollTo(node, 0.35);
        node.classList.add("pointed");
        node.addEventListener("animationend", () => node.classList.remove("pointed"), { once: true });
        node.focus({ preventScroll: true });
        return true;
    }

    showNewest() {
        this.#thread.showNewest();
        this.#window = windows.newestWindow(shownNumbers(this.#thread.state));
        this.#isAtEnd = true;
        this.draw();
    }

    /** What was unread when it was opened, as a part of the conversation; undefined if that is not marked. */
    get unread() { return this.#unreadAfter === undefined ? undefined : { from: this.#unreadAfter + 1 }; }

    /** The user writes: what they had not read before is no news any more. */
    endUnread() {
        this.#unreadAfter = undefined;
        if (!this.#isAtEnd || !this.#follows) this.showNewest();
    }

    /** A message of somebody else has come. */
    noteArrival(message) { if (document.hidden) this.#unreadAfter ??= message.number - 1; }

    get #folds() { return this.#thread.state.conversation?.kind === "group"; }

    /** Whether the newest message is in the page. */
    get #follows() { return this.#window.last === undefined && !this.#thread.state.past; }

    /** Decides where the thread opens: the number of a message to scroll to, or undefined for the end. */
    #begin() {
        const { state } = this.#thread;
        this.#phase = "open";
        if (this.#target !== undefined) {
            this.#phase = "opening";
            attempt(this.showMessage(this.#target).then((found) => { if (!found) { this.#actions.missing(); this.#openAt(); } }));
            return undefined;
        }
        if (state.membership?.state !== "member" || !this.#firstUnread()) return undefined;
        this.#unreadAfter = state.read;
        this.#isLong = (inbox.row(this.#thread.id)?.unread ?? 0) >= LONG;
        if (!state.hasEarlier || state.first <= state.read + 1) return this.#position();
        this.#phase = "opening";
        attempt(this.#thread.show(state.read + 1)).then(() => this.#openAt(this.#position()));
        return undefined;
    }

    /** The range is there: a message of it, or the end. */
    #openAt(number) {
        this.#phase = "open";
        this.draw();
        const node = number && document.getElementById(`message-${number}`);
        if (node) this.#scrollTo(node, 0.2);
    }

    /** Puts the first unread message into the window, and returns its number. */
    #position() {
        const first = this.#firstUnread();
        if (!first) return undefined;
        this.#isAtEnd = false;
        this.#window = windows.windowAround(shownNumbers(this.#thread.state), first.number);
        return first.number;
    }

    #firstUnread() {
        const { state, me } = this.#thread;
        const read = this.#unreadAfter ?? state.read;
        return shownMessages(state).find((one) => one.number > read && one.author !== me && !one.notice && !one.deletedAt);
    }

    #unfold(number) {
        this.#opened.add(number);
        this.draw();
    }

    // The scroll position

    #scrollTo(node, part) {
        this.#scroller.scrollTop += node.getBoundingClientRect().top - this.#anchor.top - this.#scroller.clientHeight * part;
        this.#ownTop = this.#scroller.scrollTop;
        this.#handleScroll();
    }

    #handleScroll() {
        const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
        if (Math.abs(scrollTop - this.#ownTop) > 1) this.#hasScrolled = true;
        this.#isAtEnd = this.#follows && scrollHeight - scrollTop - clientHeight < END;
        this.#anchor.remember();
        this.#markSeen();
        this.#fill();
        this.#drawNewest();
    }

    /** What was at the top of the screen goes back there; at the end, the end does. */
    #restore() {
        if (this.#isAtEnd) this.#scroller.scrollTop = this.#scroller.scrollHeight;
        else this.#anchor.restore();
        this.#ownTop = this.#scroller.scrollTop;
        this.#anchor.remember();
    }

    /** Puts more in where an end of what is in the page is near: the next frame draws it, and goes on. */
    #fill() {
        const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
        if (!this.node.isConnected || clientHeight === 0 || this.#phase !== "open") return;
        const numbers = shownNumbers(this.#thread.state);
        const { before, inside, after } = windows.partsOf(this.#window, numbers);
        const below = scrollHeight - scrollTop - clientHeight;
        const isNear = (here, there) => here < NEAR && (inside < windows.LIMIT || here + UNEVEN < there);
        this.#readAhead(before, after, { isHigh: scrollTop < NEAR, isLow: below < NEAR });
        if (before > 0 && isNear(scrollTop, below)) this.#window = windows.earlierWindow(this.#window, numbers);
        else if (after > 0 && isNear(below, scrollTop)) this.#window = windows.laterWindow(this.#window, numbers);
        else return;
        this.#schedule();
    }

    /** Reads more before all that is held is in the page, once one has scrolled. */
    #readAhead(before, after, { isHigh, isLow }) {
        const { state } = this.#thread;
        const range = state.past ?? state;
        const ahead = this.#hasScrolled && !this.#isAtEnd ? AHEAD : 1;
        if (this.#isReading) return;
        if (range.hasEarlier && before < ahead && (isHigh || before > 0)) this.#read(() => this.#thread.loadEarlier());
        else if (state.past && after < ahead && (isLow || after > 0)) {
            // What comes after is not in the page at once: it is put in where it is near.
            this.#window = { ...this.#window, last: this.#window.last ?? shownNumbers(state).at(-1) };
            this.#read(() => this.#thread.loadLater());
        }
    }

    async #read(work) {
        this.#isReading = true;
        this.#list.setAttribute("aria-busy", "true");
        const isDone = await attempt(work);
        this.#isReading = false;
        this.#list.removeAttribute("aria-busy");
        if (isDone && this.node.isConnected) this.#schedule();
    }

    // What is read

    #drawNewest() {
        const isAway = !this.#isAtEnd && this.#phase === "open";
        if (this.#newest.hidden === isAway) this.#newest.hidden = !isAway;
        const { state, seen, me } = this.#thread;
        this.#mentioned = isAway ? mentionAfter(state, seen, me) : undefined;
        // Or in what is not held.
        const isMentioned = this.#mentioned !== undefined || isAway && state.first > seen + 1 && hasFeature("messageSearch") && inbox.row(this.#thread.id)?.mentions > 0;
        if (this.#mention.hidden === isMentioned) this.#mention.hidden = !isMentioned;
        const count = isAway ? newerThan(state, seen, me) : 0;
        // There may be more between what was read and what is held.
        const text = `${count}${count > 0 && state.first > seen + 1 ? "+" : ""}`;
        if (text === this.#newestText) return;
        this.#newestText = text;
        this.#count.hidden = count === 0;
        this.#count.textContent = text;
        this.#newest.setAttribute("aria-label", count === 0 ? t("feed.toNewest") : t("feed.toNewestOf", { count: text }));
    }

    /** The first message after what was read that mentions the user. */
    async #showMention() {
        const number = await this.#nextMention();
        if (number !== undefined) await this.#actions.show(number);
    }

    /** Before those that are held there may be others. */
    async #nextMention() {
        const { state, seen } = this.#thread;
        const held = this.#mentioned;
        if (state.first <= seen + 1 || !hasFeature("messageSearch")) return held;
        try { return await this.#findMention() ?? held; } catch (error) {
            if (held === undefined) throw error;
            return held;
        }
    }

    /** Pages have the newest first: the one after which there is nothing unseen has the first. */
    async #findMention() {
        let found;
        let cursor;
        do {
            const page = await request("messages.search", { conversation: this.#thread.id, mentions: true, ...(cursor && { cursor }) });
            const numbers = page.results.map((one) => one.message.number);
            const unseen = numbers.filter((number) => number > this.#thread.seen);
            found = Math.min(found ?? Infinity, ...unseen);
            cursor = unseen.length === numbers.length ? page.nextCursor : undefined;
        } while (cursor);
        return found === Infinity ? undefined : found;
    }

    #markSeen() {
        if (document.hidden || !this.node.isConnected || this.#phase !== "open" || !this.#isSettled) return;
        const { state, seen } = this.#thread;
        if (this.#isAtEnd) return this.#thread.markRead(newestNumber(state));
        const number = seen < newestNumber(state) ? this.#anchor.lastSeen(LEAST) : undefined;
        if (number) this.#thread.markRead(number);
    }

    #handleVisibility = () => {
        if (document.hidden) this.#unreadAfter = undefined;
        else this.draw();
    };
}

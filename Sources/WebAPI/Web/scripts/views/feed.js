// The messages of a thread: which of them are in the page, and where the page stands while they come, grow and go.
//
// The browser's own anchoring is off. The topmost message on the screen stays where it is, whatever changes above it; at
// the end the newest stays in view.

import { button, h } from "../dom.js";
import { friends } from "../friends.js";
import { t } from "../language/texts.js";
import { layout } from "../state/layout.js";
import { newerThan } from "../state/past.js";
import { newestNumber, shownMessages } from "../state/thread.js";
import * as windows from "../state/window.js";
import { attempt } from "./attempt.js";
import { Nodes, show as showNodes } from "./keyed.js";
import { messageItem, outgoingItem, partsOf } from "./message.js";

/** How far from its end the list still counts as being there, and from where on more is put in, in pixels. */
const END = 60;
const NEAR = 700;
/** How much of a message has to be on the screen to be read. */
const LEAST = 30;

/** `target` is the number of the message to open at; without it the first unread one, or the newest. */
export class Feed {
    node;
    #thread;
    #actions;
    #list = h("div", { id: "messages", class: "messages", role: "feed", "aria-label": t("feed.messages"), tabindex: "0" });
    #scroller;
    #newest;
    #count = h("span", { class: "count", hidden: true });
    #nodes = new Nodes();
    #window = { first: undefined, last: undefined };
    #unreadAfter;
    #opened = new Set();
    #target;
    /** `new`, `opening` while the range to open at is read, or `open`. */
    #phase = "new";
    #isAtEnd = true;
    #anchor;
    #isMoving = false;
    #resized = new ResizeObserver(() => this.#restore());

    constructor(thread, actions, target) {
        this.#thread = thread;
        this.#target = target;
        this.#actions = { ...actions, unfold: (number) => this.#unfold(number) };
        this.#newest = button({ name: "down", label: t("feed.toNewest"), bare: true, class: "round newest", hidden: true,
            data: { action: "to-newest" }, onclick: () => this.showNewest() });
        this.#newest.append(this.#count);
        this.#scroller = h("div", { class: "scroller" }, this.#list);
        this.node = h("div", { class: "feed" }, this.#scroller, this.#newest);
        this.#scroller.addEventListener("scroll", () => this.#handleScroll(), { passive: true });
        this.#list.addEventListener("keydown", (event) => this.#handleKey(event));
        // From outside, to the newest message; from a message, the way back leads out.
        this.#list.addEventListener("focus", ({ relatedTarget }) => {
            if (!this.#list.contains(relatedTarget)) this.#focusAt(this.#list.children.length - 1);
        });
        document.addEventListener("visibilitychange", this.#handleVisibility);
        this.#resized.observe(this.#list);
        this.#resized.observe(this.#scroller);
    }

    close() {
        this.#resized.disconnect();
        document.removeEventListener("visibilitychange", this.#handleVisibility);
    }

    draw() {
        const { state } = this.#thread;
        if (!state.isLoaded) return;
        const opensAt = this.#phase === "new" ? this.#begin() : undefined;
        if (this.#phase === "opening") return;
        const messages = shownMessages(state);
        const numbers = messages.map((one) => one.number);
        if (this.#window.first === undefined) this.#window = windows.newestWindow(numbers);
        if (this.#isAtEnd) this.#window = windows.trimmedWindow(this.#window, numbers);
        const items = layout(windows.inWindow(this.#window, messages),
            { me: this.#thread.me, unreadAfter: this.#unreadAfter, blocked: this.#folds ? friends.blocked : undefined, opened: this.#opened });
        const nodes = items.map((item) => this.#nodes.node(item.message.number, partsOf(this.#thread, item),
            () => messageItem(this.#thread, item, this.#actions)));
        const pending = this.#follows ? this.#thread.outgoing.filter((one) => one.thread === undefined).map((one) =>
            this.#nodes.node(one.clientID, [one], () => outgoingItem(this.#thread, one))) : [];
        this.#nodes.sweep();
        const focused = this.#focused();
        showNodes(this.#list, [...nodes, ...pending]);
        focused?.restore();
        this.#list.dataset.empty = String(nodes.length + pending.length === 0);
        if (opensAt) this.#scrollTo(document.getElementById(`message-${opensAt}`), 0.2);
        this.#restore();
        this.#drawNewest();
        this.#markSeen();
        this.#fill();
    }

    /** Shows a message, wherever it is, and points to it. Resolves to whether it may be seen. */
    async showMessage(number) {
        const found = await this.#thread.show(number);
        if (!found) return false;
        const numbers = shownMessages(this.#thread.state).map((one) => one.number);
        if (!windows.inWindow(this.#window, [{ number }]).length || this.#thread.state.past) this.#window = windows.windowAround(numbers, number);
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
        this.#window = windows.newestWindow(shownMessages(this.#thread.state).map((one) => one.number));
        this.#isAtEnd = true;
        this.draw();
    }

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
            attempt(this.showMessage(this.#target).then((found) => { if (!found) this.#openAt(); }));
            return undefined;
        }
        if (state.membership?.state !== "member" || !this.#firstUnread()) return undefined;
        this.#unreadAfter = state.read;
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
        this.#window = windows.windowAround(shownMessages(this.#thread.state).map((one) => one.number), first.number);
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
        this.#scroller.scrollTop += node.getBoundingClientRect().top - this.#top - this.#scroller.clientHeight * part;
        this.#handleScroll();
    }

    get #top() { return this.#scroller.getBoundingClientRect().top; }

    #handleScroll() {
        const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
        this.#isAtEnd = this.#follows && scrollHeight - scrollTop - clientHeight < END;
        this.#remember();
        this.#drawNewest();
        this.#markSeen();
        this.#fill();
    }

    #remember() {
        const top = this.#top;
        const node = [...this.#list.children].find((one) => one.getBoundingClientRect().bottom > top + 1);
        this.#anchor = node && { id: node.id, offset: node.getBoundingClientRect().top - top };
    }

    /** What was at the top of the screen goes back there; at the end, the end does. */
    #restore() {
        if (this.#isAtEnd) this.#scroller.scrollTop = this.#scroller.scrollHeight;
        else {
            const node = this.#anchor && document.getElementById(this.#anchor.id);
            if (node && this.#list.contains(node)) {
                const moved = node.getBoundingClientRect().top - this.#top - this.#anchor.offset;
                if (Math.abs(moved) >= 1) this.#scroller.scrollTop += moved;
            }
        }
        this.#remember();
    }

    /** Puts more in where the end of what is in the page is near, and reads it where it is not held. */
    async #fill() {
        const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
        if (this.#isMoving || !this.node.isConnected || clientHeight === 0 || this.#phase !== "open") return;
        const { state } = this.#thread;
        const numbers = shownMessages(state).map((one) => one.number);
        const range = state.past ?? state;
        const isLow = scrollHeight - scrollTop - clientHeight < NEAR;
        if (scrollTop < NEAR && windows.hasEarlier(this.#window, numbers)) this.#move(windows.earlierWindow(this.#window, numbers));
        else if (scrollTop < NEAR && range.hasEarlier) await this.#read(() => this.#thread.loadEarlier(), true);
        else if (isLow && windows.hasLater(this.#window, numbers)) this.#move(windows.laterWindow(this.#window, numbers));
        else if (isLow && state.past) await this.#read(() => this.#thread.loadLater(), false);
    }

    #move(next) {
        this.#window = next;
        this.draw();
    }

    async #read(work, isEarlier) {
        this.#isMoving = true;
        this.#list.setAttribute("aria-busy", "true");
        const last = shownMessages(this.#thread.state).at(-1)?.number;
        // What comes after is not in the page at once: it is put in where it is near.
        if (!isEarlier) this.#window = { ...this.#window, last };
        const isDone = await attempt(work);
        this.#isMoving = false;
        this.#list.removeAttribute("aria-busy");
        if (isDone && this.node.isConnected) this.draw();
    }

    // What is read

    #drawNewest() {
        const isAway = !this.#isAtEnd && this.#phase === "open";
        this.#newest.hidden = !isAway;
        const { state, seen, me } = this.#thread;
        const count = isAway ? newerThan(state, seen, me) : 0;
        // There may be more between what was read and what is held.
        const text = `${count}${count > 0 && state.first > seen + 1 ? "+" : ""}`;
        this.#count.hidden = count === 0;
        this.#count.textContent = text;
        this.#newest.setAttribute("aria-label", count === 0 ? t("feed.toNewest") : t("feed.toNewestOf", { count: text }));
    }

    #markSeen() {
        if (document.hidden || !this.node.isConnected || this.#phase !== "open") return;
        if (this.#isAtEnd) return this.#thread.markRead(newestNumber(this.#thread.state));
        const bottom = this.#scroller.getBoundingClientRect().bottom;
        const seen = [...this.#list.querySelectorAll("[data-number]")].findLast((one) => {
            const { top, height } = one.getBoundingClientRect();
            return top + Math.min(height, LEAST) <= bottom;
        });
        if (seen) this.#thread.markRead(Number(seen.dataset.number));
    }

    #handleVisibility = () => {
        if (document.hidden) this.#unreadAfter = undefined;
        else this.draw();
    };

    // The keyboard: arrows go from message to message.

    /** What has the focus in a message, which may be drawn anew. */
    #focused() {
        const element = document.activeElement;
        const message = element?.closest(".message");
        if (!message || !this.#list.contains(message)) return undefined;
        const { action } = element === message ? {} : element.dataset;
        return { restore: () => {
            if (message.isConnected) return;
            const drawn = document.getElementById(message.id);
            (action && drawn?.querySelector(`[data-action="${action}"]`) || drawn)?.focus({ preventScroll: true });
        } };
    }

    #focusAt(index) {
        const node = this.#list.children[Math.max(0, Math.min(index, this.#list.children.length - 1))];
        node?.focus({ preventScroll: true });
        node?.scrollIntoView({ block: "nearest" });
    }

    #handleKey(event) {
        if (event.altKey || event.ctrlKey || event.metaKey || !event.target.matches(".message")) return;
        const index = [...this.#list.children].indexOf(event.target);
        const steps = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: Infinity };
        if (event.key in steps) this.#focusAt(steps[event.key]);
        else if (event.key === "Enter" || event.key === "ContextMenu") {
            (event.target.querySelector("[data-action=message-menu]") ?? event.target.querySelector("button"))?.click();
        }
        else if (event.key === "r" || event.key === "e") this.#actions.key(event.key, Number(event.target.dataset.number));
        else return;
        event.preventDefault();
    }
}

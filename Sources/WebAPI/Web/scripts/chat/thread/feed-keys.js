// The keyboard in the messages of a thread: arrows go from one to the next, letters act on one.

/**
 * `act(key, number)` is called for the keys that act on a message, if one has come to it by the keyboard: whoever has pressed on a
 * message, or was led to one, may go on by writing. `first()` is the message to begin with, from outside.
 */
export function watchKeys(list, act, first) {
    /** The message that was come to by the keyboard. */
    let reached;
    const focus = (node) => {
        reached = node?.id;
        (node?.querySelector("[data-action=select]") ?? node)?.focus({ preventScroll: true });
        node?.scrollIntoView({ block: "nearest" });
    };
    const focusAt = (index) => focus(list.children[Math.max(0, Math.min(index, list.children.length - 1))]);
    const forget = ({ target }) => { if (target.closest(".message")?.id !== reached) reached = undefined; };
    list.addEventListener("pointerdown", () => { reached = undefined; });
    list.addEventListener("focusin", forget);
    list.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey || !event.target.matches(".message, [data-action=select]")) return;
        const message = event.target.closest(".message");
        const index = [...list.children].indexOf(message);
        const steps = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: Infinity };
        if (event.key in steps) focusAt(steps[event.key]);
        else if (event.key === "Enter" || event.key === "ContextMenu") {
            (message.querySelector("[data-action=message-menu]") ?? message.querySelector("button"))?.click();
        }
        else if (["r", "e", "t", "x"].includes(event.key) && message.id === reached) act(event.key, Number(message.dataset.number));
        else return;
        event.preventDefault();
    });
    // From outside, to what one reads; from a message, the way back leads out.
    list.addEventListener("focus", ({ relatedTarget }) => { if (!list.contains(relatedTarget)) focus(first() ?? list.lastElementChild); });
}

/** A long press on a phone opens the menu of a message, as a press on its button does. Links keep theirs. */
export function watchPresses(list) {
    list.addEventListener("contextmenu", (event) => {
        const more = event.pointerType === "touch" && !event.target.closest("a") && event.target.closest(".message")?.querySelector("[data-action=message-menu]");
        if (!more) return;
        event.preventDefault();
        more.click();
    });
}

/** What has the focus in a message, which may be drawn anew: `restore` focuses its successor. */
export function focusedIn(list) {
    const element = document.activeElement;
    const message = element?.closest(".message");
    if (!message || !list.contains(message)) return undefined;
    const { action } = element === message ? {} : element.dataset;
    return { restore: () => {
        if (message.isConnected) return;
        const drawn = document.getElementById(message.id);
        (action && drawn?.querySelector(`[data-action="${action}"]`) || drawn)?.focus({ preventScroll: true });
    } };
}

// What one does with a row of the list of conversations beside opening it: keys go from row to row, a right click and a
// long press open its menu, and on a touch screen it is swiped aside.

/** So far a finger goes before it is a swipe, and so far until it does something when it is lifted. */
const SLOP = 10;
const FAR = 72;

/**
 * `menu(id)` opens the menu of a conversation. `swipes(id)` returns what swiping does, `{start, end}`, each `{label, run}` or
 * undefined: towards the start of a line, which in English is to the left, and towards its end. `pressed(isPressed)` tells
 * whether a pointer is down: nothing may move under it.
 */
export function watchRows(list, { menu, swipes, pressed }) {
    watchKeys(list);
    list.addEventListener("contextmenu", (event) => {
        const row = rowOf(event);
        // As in every browser, the shift key leads to the browser's own menu.
        if (!row || event.shiftKey) return;
        event.preventDefault();
        menu(row.dataset.conversation);
    });
    list.addEventListener("pointerdown", (event) => {
        const row = rowOf(event);
        if (!row || !event.isPrimary) return;
        pressed(true);
        const end = new AbortController();
        const swipe = event.pointerType === "touch" ? new Swipe(row, event, swipes(row.dataset.conversation)) : undefined;
        addEventListener("pointermove", (move) => { if (move.isPrimary) swipe?.move(move); }, { signal: end.signal });
        for (const name of ["pointerup", "pointercancel"]) {
            addEventListener(name, (last) => {
                if (!last.isPrimary) return;
                end.abort();
                swipe?.end(name === "pointerup");
                // The click comes after it.
                setTimeout(() => pressed(false));
            }, { signal: end.signal });
        }
    });
}

const rowOf = (event) => event.target.closest(".chat-row");

function watchKeys(list) {
    list.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !event.target.matches(".who")) return;
        const links = [...list.querySelectorAll(".chat-row > .who")];
        const index = links.indexOf(event.target);
        const next = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: links.length - 1 }[event.key];
        if (next === undefined) return;
        event.preventDefault();
        links[Math.max(0, Math.min(next, links.length - 1))].focus();
    });
}

/** A row that follows a finger. */
class Swipe {
    #row;
    #begin;
    #actions;
    #distance = 0;
    #isSwiped = false;
    #isOver = false;

    constructor(row, { clientX, clientY }, actions) {
        [this.#row, this.#begin, this.#actions] = [row, { x: clientX, y: clientY }, actions];
    }

    move({ clientX, clientY }) {
        const [dx, dy] = [clientX - this.#begin.x, clientY - this.#begin.y];
        if (!this.#isSwiped) {
            if (Math.abs(dy) > SLOP) this.#isOver = true;
            if (this.#isOver || Math.abs(dx) <= SLOP) return;
            this.#isSwiped = true;
        }
        const action = this.#actionAt(dx);
        this.#distance = action ? dx : 0;
        this.#row.style.translate = `${this.#distance}px`;
        this.#row.classList.add("swiped");
        const text = action && Math.abs(dx) >= FAR ? action.label : "";
        if (this.#row.dataset.swipe !== text) this.#row.dataset.swipe = text;
    }

    end(isLifted) {
        const action = this.#actionAt(this.#distance);
        this.#row.style.translate = "";
        this.#row.classList.remove("swiped");
        delete this.#row.dataset.swipe;
        if (!this.#isSwiped) return;
        // It is no click on what is under the finger.
        const stop = (event) => { event.preventDefault(); event.stopPropagation(); };
        this.#row.addEventListener("click", stop, { capture: true, once: true });
        setTimeout(() => this.#row.removeEventListener("click", stop, { capture: true }));
        if (isLifted && Math.abs(this.#distance) >= FAR) action?.run();
    }

    #actionAt(dx) {
        const isToStart = getComputedStyle(this.#row).direction === "rtl" ? dx > 0 : dx < 0;
        return dx === 0 ? undefined : this.#actions[isToStart ? "start" : "end"];
    }
}

// Lists whose nodes stay while what they show is the same.

/** Nodes by key: `node(key, parts, make)` is the known one while all `parts` are what they were. */
export class Nodes {
    #known = new Map();
    #used = new Set();

    node(key, parts, make) {
        this.#used.add(key);
        const known = this.#known.get(key);
        if (known && known.parts.length === parts.length && known.parts.every((one, index) => one === parts[index])) return known.node;
        const node = make();
        this.#known.set(key, { parts, node });
        return node;
    }

    /** Forgets the nodes that were not asked for since the last time. */
    sweep() {
        for (const key of this.#known.keys()) if (!this.#used.has(key)) this.#known.delete(key);
        this.#used.clear();
    }
}

/** Makes these the children of a list, moving no node that stays in its order, and keeps the focus where it was. */
export function show(list, nodes) {
    const focus = focusIn(list);
    const kept = new Set(nodes);
    for (const one of [...list.children]) if (!kept.has(one)) one.remove();
    let next = list.firstElementChild;
    for (const node of nodes) {
        if (node === next) next = node.nextElementSibling;
        else list.insertBefore(node, next);
    }
    focus();
}

/** Replaces what an element holds, and keeps the focus where it was. */
export function redraw(root, ...children) {
    const focus = focusIn(root);
    root.replaceChildren(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
    focus();
}

/** What an item is known by: its id, or what it is the item of. */
const KEYS = ["user", "friend", "link", "conversation", "call", "held", "device", "session", "scheduled", "recording", "pinned", "number"];
const ITEMS = ["[id]", ...KEYS.map((key) => `[data-${key}]`)].join();
const CONTROLS = ["a[href]", "button", "input", "select", "textarea", "summary"].join();

/** Remembers which control of an item has the focus; the result focuses its successor, or the one that took its turn. */
export function focusIn(root) {
    const active = root.contains(document.activeElement) ? document.activeElement : undefined;
    if (!active || active === root) return () => {};
    const item = itemOf(active, root);
    const same = sameAs(active);
    const index = controlsIn(root).indexOf(active);
    return () => {
        if (document.activeElement === active) return;
        const found = active.isConnected && active.checkVisibility() ? active : successor(root, { item, same, index });
        found?.focus({ preventScroll: true });
    };
}

const controlsIn = (root) => [...root.querySelectorAll(CONTROLS)].filter((one) => !one.disabled && one.checkVisibility());

/** A selector of the item that a control belongs to, where it is not all of what is drawn. */
function itemOf(active, root) {
    const item = active.closest(ITEMS);
    if (!item || item === root || !root.contains(item)) return undefined;
    const key = KEYS.find((one) => item.dataset[one] !== undefined);
    return item.id ? `#${CSS.escape(item.id)}` : `[data-${key}="${CSS.escape(item.dataset[key])}"]`;
}

/** A selector of a control within its item. */
function sameAs(active) {
    const { action, emoji } = active.dataset;
    const href = active.getAttribute("href");
    return active.id ? `#${CSS.escape(active.id)}` : emoji ? `[data-emoji="${CSS.escape(emoji)}"]` : action ? `[data-action="${CSS.escape(action)}"]`
        : href ? `a[href="${CSS.escape(href)}"]` : undefined;
}

function successor(root, { item, same, index }) {
    const scope = item ? root.querySelector(item) : root;
    const found = scope && same && [...scope.matches(same) ? [scope] : [], ...scope.querySelectorAll(same)].find((one) => one.checkVisibility());
    if (found) return found;
    if (item && scope) return scope.hasAttribute("tabindex") ? scope : controlsIn(scope)[0] ?? scope.querySelector("[tabindex]");
    const controls = controlsIn(root);
    return controls[Math.min(index, controls.length - 1)] ?? root.closest("[tabindex]") ?? root.closest("dialog")?.querySelector(CONTROLS)
        ?? document.getElementById("main");
}

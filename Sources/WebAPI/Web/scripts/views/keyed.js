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
    nodes.forEach((node, index) => { if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null); });
    focus();
}

/** Remembers which control of an item has the focus; the result focuses the one that took its turn. */
export function focusIn(root) {
    const active = root.contains(document.activeElement) ? document.activeElement : undefined;
    const item = active?.closest("[id]")?.id;
    const { action, emoji } = active?.dataset ?? {};
    return () => {
        if (!active || active.isConnected) return;
        const scope = item && document.getElementById(item) || root;
        const same = emoji ? scope.querySelector(`[data-emoji="${CSS.escape(emoji)}"]`) : action && scope.querySelector(`[data-action="${action}"]`);
        (same ?? (scope.hasAttribute("tabindex") ? scope : scope.querySelector("button, a") ?? root.querySelector("button, a")))?.focus({ preventScroll: true });
    };
}

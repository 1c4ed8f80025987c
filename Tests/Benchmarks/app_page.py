"""What the bench runs in the page, and the bare page beside which the client is measured."""

from __future__ import annotations

import html
import pathlib

# Marks for the trace. `bench.when` marks a change of the page as soon as a test is true; `bench.keys` and `bench.once`
# mark input with the time at which the browser has received it; `bench.follow` notes how an element in view moves.
INSTRUMENTS = """
(() => {
    const mark = (name, startTime) => performance.mark(`bench:${name}`, startTime === undefined ? {} : { startTime });
    const everything = { subtree: true, childList: true, attributes: true, characterData: true };
    const bench = globalThis.bench = {
        mark,
        when(name, test) {
            return new Promise((resolve) => {
                const check = () => {
                    if (!test()) return false;
                    observer.disconnect();
                    mark(name);
                    resolve(true);
                    return true;
                };
                const observer = new MutationObserver(check);
                if (!check()) observer.observe(document, everything);
            });
        },
        keys(field) {
            field.addEventListener("keydown", (event) => mark("key", event.timeStamp), { capture: true });
            field.addEventListener("input", () => mark("typed"));
        },
        once(type, name) {
            addEventListener(type, (event) => mark(name, event.timeStamp), { capture: true, once: true });
        },
        /** By how far what is in the middle of the screen moves in each frame, with the frame's length. */
        follow(scroller, selector) {
            const moves = [];
            let anchor;
            let isOver = false;
            let before;
            const step = (now) => {
                if (isOver) return;
                const { x, y, width, height } = scroller.getBoundingClientRect();
                if (anchor?.node.isConnected) {
                    moves.push([anchor.node.getBoundingClientRect().top - anchor.top, now - before]);
                } else if (anchor) moves.push([null, now - before]);
                before = now;
                const node = document.elementFromPoint(x + width / 2, y + height / 2)?.closest(selector);
                anchor = node && { node, top: node.getBoundingClientRect().top };
                requestAnimationFrame(step);
            };
            requestAnimationFrame(step);
            return () => { isOver = true; return moves; };
        },
    };
    mark("start", 0);
})();
"""

# The thread is there when it fills the screen.
SHOWN = """
(() => {
    const isShown = () => document.querySelectorAll("#messages .message[data-number]").length >= 15;
    const begin = () => bench.when("shown", isShown);
    if (document.documentElement) begin(); else addEventListener("DOMContentLoaded", begin);
})();
"""

# Scrollers of both pages.
SCROLLER = "document.querySelector('.scroller')"
MESSAGE = ".message, .bare"

BARE = """<!doctype html><meta charset="utf-8"><title>bare</title>
<style>
body {{ margin: 0; font: 16px/1.45 sans-serif; display: flex; flex-direction: column; height: 100vh; }}
.scroller {{ flex: 1; overflow-y: auto; overflow-anchor: none; }}
.bare {{ padding: 8px 16px; margin: 4px 80px; border-radius: 12px; background: #eee; contain: content; }}
</style>
<div class="scroller">{messages}</div><textarea id="write" rows="2"></textarea>
<script>
const scroller = document.querySelector(".scroller");
scroller.scrollTop = scroller.scrollHeight;
globalThis.bench?.mark("shown");
</script>"""


def write_bare(path: pathlib.Path, texts: list[str]) -> str:
    """A page with these texts in plain elements, and its address."""
    path.write_text(BARE.format(messages="".join(f'<div class="bare">{html.escape(text)}</div>' for text in texts)))
    return path.as_uri()

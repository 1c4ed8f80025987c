"""Scrolling through the messages at a steady speed: how long frames and tasks take, and whether anything jumps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app_browser import Page
from app_page import MESSAGE, SCROLLER
from app_report import row, slowly
from app_trace import LONG_FRAME, share

if TYPE_CHECKING:
    from app import Bench

SLOWED = 4
SPEED, HIGH_SPEED = 3_000, 9_000
AIM_TASK = 50


class Scrolling:
    def __init__(self, bench: Bench, page: Page) -> None:
        self.bench, self.page = bench, page

    def measure(self) -> None:
        """Upwards from the newest message, and back. Its frames and, in another pass, how the messages move."""
        page = self.page
        cases = [(SPEED, 1.0, AIM_TASK, 0.5), (SPEED, SLOWED, None, 1.0), (HIGH_SPEED, SLOWED, None, 5.0)]
        for speed, times, most, allowed in cases:
            self.bench.reopen(page)
            found = self.scrolled(speed, times)
            page.open(self.bench.bare)
            page.wait("the bare page", "document.readyState === 'complete'")
            bare = self.scrolled(speed, times)
            is_met = found["long"] <= allowed and (most is None or found["task"] <= most)
            what = f"{found['long']:.1f} % of {found['frames']} frames over 33 ms, longest task {found['task']:.0f} ms"
            aim = f"{allowed} %" + (f", {most} ms" if most else "")
            beside = f"bare {bare['long']:.1f} %, {bare['task']:.0f} ms; the most of the processor that a task had "
            beside += f"{found['busy']:.0f} ms; main thread {found['costs']}"
            row(f"scrolling at {speed:,} px/s{slowly(times)}", what, is_met, aim, beside)
        for speed, times in (SPEED, 1.0), (HIGH_SPEED, SLOWED):
            self.bench.reopen(page)
            jumps, halts, count, distance = self.moves(speed, times)
            what = f"{jumps} of {count} frames jump"
            row(f"nothing jumps at {speed:,} px/s{slowly(times)}", what, jumps == 0, "none",
                f"{halts} frames without movement, {distance:,.0f} px")  # fmt: skip

    def scrolled(self, speed: float, times: float) -> dict[str, Any]:
        page, seconds = self.page, self.bench.options.seconds

        def both_ways() -> None:
            page.run("bench.mark('begin');")
            page.scroll(700, 400, speed * seconds, speed)
            page.run("bench.mark('turn');")
            page.scroll(700, 400, -speed * seconds, speed)
            page.run("bench.mark('end');")

        with page.slowed(times):
            trace = page.trace(both_ways)
        frames: list[float] = []
        task = busy = 0.0
        for begin, end in ("begin", "turn"), ("turn", "end"):
            since, until = trace.marks[begin][0], trace.marks[end][0]
            scrolls = [one for one in trace.scrolls if since <= one <= until]
            frames += trace.frames(scrolls[0], scrolls[-1])
            longest = trace.longest_task(since, until)
            task, busy = max(task, longest[0]), max(busy, longest[1])
        long = sum(length > LONG_FRAME for length in frames)
        costs = trace.costs(trace.marks["begin"][0], trace.marks["end"][0])
        return {"long": share(long, len(frames)), "frames": len(frames), "task": task, "busy": busy, "costs": costs}

    def moves(self, speed: float, times: float) -> tuple[int, int, int, float]:
        """Frames in which what is in the middle moved backwards or much too far, and those in which it did not move."""
        page = self.page
        with page.slowed(times):
            page.run(f"globalThis.stop = bench.follow({SCROLLER}, values[0]);", MESSAGE)
            page.scroll(700, 400, speed * self.bench.options.seconds, speed)
            found = page.run("return globalThis.stop();")
        moving = [index for index, (moved, _) in enumerate(found) if moved != 0]
        within = found[moving[0] : moving[-1] + 1]
        # The gesture itself is not even: what counts is twice its speed, and the way back.
        followed = [one for one in within if one[0] is not None]
        jumps = [one for one in followed if one[0] < -1 or one[0] > 2 * speed * one[1] / 1000 + 60]
        if jumps and self.bench.options.verbose:
            print("    jumps:", [[round(value) for value in one] for one in jumps[:20]])
        halts = sum(one[0] == 0 for one in within)
        return len(jumps), halts, len(within), sum(one[0] or 0 for one in within)

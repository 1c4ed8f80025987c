"""What Chromium's trace says of a page: its tasks, the frames that were drawn, and when a change was drawn."""

from __future__ import annotations

import bisect
import itertools
from typing import Any

CATEGORIES = [
    "devtools.timeline", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame",
    "blink.user_timing",
]  # fmt: skip
WORK = {
    "FunctionCall", "EvaluateScript", "Layout", "UpdateLayoutTree", "PrePaint", "Paint", "Layerize", "Commit",
    "MinorGC", "MajorGC", "EventDispatch", "FireAnimationFrame", "TimerFire", "ParseHTML",
}  # fmt: skip
# Two refreshes of the screen last 33.3 ms.
LONG_FRAME = 34.0


class Trace:
    """The page has named its process and thread by marks, `bench:…`. All times are in milliseconds."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        marks = [one for one in events if one["name"].startswith("bench:")]
        assert marks, "the page has marked nothing"
        self.process, self.thread = marks[-1]["pid"], marks[-1]["tid"]
        mine = sorted((one for one in events if one["pid"] == self.process and "ts" in one), key=lambda one: one["ts"])
        self.marks: dict[str, list[float]] = {}
        for one in mine:
            if one["name"].startswith("bench:"):
                self.marks.setdefault(one["name"][6:], []).append(one["ts"] / 1000)
        main = [one for one in mine if one["tid"] == self.thread and one["ph"] == "X"]
        # When it began, how long it took, and how much of the processor's time.
        self.tasks = [
            (one["ts"] / 1000, one.get("dur", 0) / 1000, one.get("tdur", 0) / 1000)
            for one in main if one["name"] == "RunTask"
        ]  # fmt: skip
        self.commits = [(one["ts"] + one.get("dur", 0)) / 1000 for one in main if one["name"] == "Commit"]
        self.draws = [one["ts"] / 1000 for one in mine if one["name"] == "DrawFrame"]
        self.scrolls = [
            one["ts"] / 1000 for one in main
            if one["name"] == "EventDispatch" and one["args"]["data"]["type"] == "scroll"
        ]  # fmt: skip
        self.main = main

    def drawn(self, since: float) -> float | None:
        """When a change of the page was drawn: the first frame after the main thread has committed it."""
        commit = bisect.bisect_left(self.commits, since)
        if commit == len(self.commits):
            return None
        draw = bisect.bisect_left(self.draws, self.commits[commit])
        return self.draws[draw] if draw < len(self.draws) else None

    def times(self, begin: str, end: str) -> list[float]:
        """From each mark until the change that the mark of the same turn notes was drawn."""
        found = [(one, self.drawn(other)) for one, other in zip(self.marks[begin], self.marks[end])]
        return [drawn - one for one, drawn in found if drawn is not None]

    def longest_task(self, since: float, until: float) -> tuple[float, float]:
        """How long the longest task took, and how much of the processor's time the one with most of it."""
        tasks = [(length, busy) for begin, length, busy in self.tasks if since <= begin < until]
        return max((length for length, _ in tasks), default=0), max((busy for _, busy in tasks), default=0)

    def frames(self, since: float, until: float) -> list[float]:
        """How long each frame was shown until the next was drawn."""
        times = [one for one in self.draws if since <= one <= until]
        return [after - before for before, after in itertools.pairwise(times)]

    def costs(self, since: float, until: float, count: int = 6) -> str:
        """What the main thread did most, in its processor time: nested events count in each of those around them."""
        sums: dict[str, float] = {}
        for one in self.main:
            if one["name"] in WORK and since <= one["ts"] / 1000 < until:
                sums[one["name"]] = sums.get(one["name"], 0) + one.get("tdur", 0) / 1000
        most = sorted(sums.items(), key=lambda pair: -pair[1])[:count]
        busy = sum(busy for begin, _, busy in self.tasks if since <= begin < until)
        return f"{busy:.0f} of {until - since:.0f} ms busy: " + ", ".join(f"{name} {spent:.0f}" for name, spent in most)


def share(part: int, whole: int) -> float:
    return 100 * part / max(1, whole)

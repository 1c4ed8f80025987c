"""How far the search index is behind what is written."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from switchboard_tests import metrics
from switchboard_tests.server import Server

SECONDS = 0.5


class SearchLag:
    """Reads it twice a second while others write: with `with`."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.seconds: list[float] = []
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> SearchLag:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._has_ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._has_ended.wait(SECONDS):
            self.seconds.append(metrics.value(self.server, "search_oldest_seconds"))

    def caught_up(self, deadline: float = 600) -> float:
        """The seconds until everything is indexed."""
        began = time.monotonic()
        while metrics.value(self.server, "search_oldest_seconds") > 0:
            if time.monotonic() - began > deadline:
                raise SystemExit("bench/chat: the search index does not catch up")
            time.sleep(0.05)
        return time.monotonic() - began

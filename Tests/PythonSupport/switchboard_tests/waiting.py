"""Waiting for conditions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# The deadline of whatever waits for something that comes: it ends a hang, and is no expectation of speed. Who expects
# silence waits for less.
TIMEOUT = 60
# How long to wait for what must not come, once a later request of the same session has its response.
SILENCE = 0.3


def wait_until(condition: Callable[[], object], what: str, seconds: float = TIMEOUT) -> None:
    deadline = time.monotonic() + seconds
    while not (last := condition()):
        assert time.monotonic() < deadline, f"never: {what}; last seen after {seconds} s: {last!r}"
        time.sleep(0.02)


def eventually(condition: Callable[[], T], seconds: float = TIMEOUT) -> T:
    """Polls until the value is true, and returns it."""
    deadline = time.monotonic() + seconds
    while not (response := condition()):
        assert time.monotonic() < deadline, f"it never came true; last seen after {seconds} s: {response!r}"
        time.sleep(0.02)
    return response


async def until(what: str, condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not (last := condition()):
        assert time.monotonic() < deadline, f"waited {TIMEOUT} s for {what}; last seen: {last!r}"
        await asyncio.sleep(0.05)

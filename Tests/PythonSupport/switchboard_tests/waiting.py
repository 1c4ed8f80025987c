"""Waiting for conditions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

TIMEOUT = 25


def wait_until(condition: Callable[[], object], what: str, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.02)


def eventually(condition: Callable[[], T], seconds: float = TIMEOUT) -> T:
    """Polls until the value is true, and returns it."""
    deadline = time.monotonic() + seconds
    while not (response := condition()):
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)
    return response


async def until(what: str, condition: Callable[[], object]) -> None:
    for _ in range(600):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")

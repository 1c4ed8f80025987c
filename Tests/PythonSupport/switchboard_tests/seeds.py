"""The chance of tests that try something else in each run."""

from __future__ import annotations

import os
import random


def seed() -> int:
    """That of the environment, or a new one. Printed, so that a failed test's run can be repeated with it."""
    value = int(os.environ.get("DEV_SWITCHBOARD_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"DEV_SWITCHBOARD_SEED={value}")
    return value

"""How the rows of the bench are printed."""

from __future__ import annotations

import statistics


def percentiles(values: list[float], *wanted: int) -> list[float]:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return [cuts[one - 1] for one in wanted]


def slowly(times: float) -> str:
    return f", slowed {times:.0f} times" if times > 1 else ""


def row(what: str, found: str, is_met: bool, aim: str, beside: str) -> None:
    print(f"{what:58} {found}   {'met' if is_met else 'MISSED'} (aim: {aim})\n    {beside}", flush=True)

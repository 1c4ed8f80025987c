"""axe-core in a page: what it finds there."""

from __future__ import annotations

import pathlib
from typing import Any

import axe_core_python

AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
# Of rules that hold nothing is wanted but that they do, which is most of its work.
RUN = """
const [done] = arguments;
axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    done(violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html.slice(0, 200))])));
"""


def load(driver: Any) -> None:
    """Brings it into the page, unless it is there."""
    if not driver.execute_script("return Boolean(globalThis.axe)"):
        driver.execute_script(AXE)


def check(driver: Any, what: str) -> None:
    """Fails unless axe-core finds nothing in the page, and it fits in the window."""
    load(driver)
    assert driver.execute_async_script(RUN) == [], what
    width, room = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert width <= room, f"{what} is wider than the window"

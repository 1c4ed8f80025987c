"""The twelve appearances of the web client, and what has to hold of a screen in each of them."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from typing import Any

from switchboard_tests.browsers import audit, axe
from switchboard_tests.browsers.browser import DESK, PHONE, TABLET, Browser

SIZES = {"desk": DESK, "tablet": TABLET, "phone": PHONE}
THEMES = ("light", "dark")
DIRECTIONS = ("ltr", "rtl")

# Roles of what is used, which has to have a name.
NAMED = {
    "button", "link", "textbox", "searchbox", "combobox", "listbox", "option", "checkbox", "radio", "switch", "slider",
    "dialog", "heading", "navigation", "region", "image", "feed", "tab", "menuitem",
}  # fmt: skip
# What is written of an element beside its role and name.
PROPERTIES = ("level", "checked", "pressed", "expanded", "disabled", "selected", "invalid", "modal", "valuetext")


@dataclasses.dataclass(frozen=True)
class Appearance:
    size: str
    theme: str
    direction: str

    def __str__(self) -> str:
        return f"{self.size}-{self.theme}-{self.direction}"


ALL = [Appearance(*one) for one in itertools.product(SIZES, THEMES, DIRECTIONS)]


def of_the_day(day: datetime.date) -> list[Appearance]:
    """Two that differ in everything. Six days in a row have all twelve, and on one day every run has the same."""
    sizes = list(SIZES)
    turn = day.toordinal() % 6
    size, theme = turn % 3, turn // 3
    return [
        Appearance(sizes[size], THEMES[theme], "ltr"),
        Appearance(sizes[(size + 1) % 3], THEMES[1 - theme], "rtl"),
    ]


def named(text: str) -> list[Appearance]:
    """Those that are listed: `all`, or names such as `desk-light-ltr,phone-dark-rtl`."""
    if text == "all":
        return ALL
    known = {str(one): one for one in ALL}
    return [known[name] for name in text.split(",")]


def put_on(browser: Browser, appearance: Appearance, **media: str) -> None:
    """Changes a page's appearance, but for its language. Nothing moves in it: what is seen is where it stays."""
    browser.resize(SIZES[appearance.size])
    browser.set_dark(appearance.theme == "dark", prefers_reduced_motion="reduce", **media)
    settle(browser)


def settle(browser: Browser) -> None:
    """Waits for two frames, in which the page arranges itself."""
    browser.driver.execute_async_script(
        "const [done] = arguments; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));"
    )


def tree(browser: Browser) -> tuple[str, list[str]]:
    """The accessibility tree as text, and what is wrong with it."""
    nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    by_id = {one["nodeId"]: one for one in nodes}
    lines: list[str] = []
    faults: list[str] = []
    count = {"main": 0, "modal": 0}

    def visit(node: dict[str, Any], depth: int) -> None:
        role, name = node.get("role", {}).get("value", ""), node.get("name", {}).get("value", "").strip()
        children = [by_id[one] for one in node.get("childIds", ()) if one in by_id]
        is_plain = node.get("ignored") or role in ("none", "generic", "RootWebArea", "InlineTextBox")
        if not is_plain:
            values = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
            more = [f"{key}={values[key]}" for key in PROPERTIES if values.get(key) not in (None, False, "false", "")]
            lines.append(" ".join(["  " * depth + role, *([f"“{name}”"] if name else []), *more]))
            if role in NAMED and not name:
                faults.append(f"{role} without a name, after {lines[-2].strip() if len(lines) > 1 else 'nothing'}")
            count["main"] += role == "main"
            count["modal"] += role in ("dialog", "alertdialog")
            # The name of a control is the text in it.
            if role in ("button", "link", "StaticText", "option"):
                children = []
        for child in children:
            visit(child, depth if is_plain else depth + 1)

    visit(nodes[0], 0)
    if count["main"] > 1:
        faults.append(f"{count['main']} elements are main")
    return "\n".join(lines) + "\n", faults


def violations(browser: Browser, *rules: str) -> list[str]:
    """What axe-core finds, with all of its rules or with these."""
    axe.load(browser.driver)
    return [f"axe: {one}" for one in browser.driver.execute_async_script(audit.VIOLATIONS, list(rules) or None)]


def faults(browser: Browser, appearance: Appearance, *known: str) -> list[str]:
    """What is wrong with the screen that the page shows. `known` are Latin texts that are people's own."""
    driver = browser.driver
    found = violations(browser)
    found += [f"cut off: {one}" for one in driver.execute_script(audit.CLIPPED)]
    least = 24 if appearance.size == "desk" else 44
    found += [f"under {least} pixels: {one}" for one in driver.execute_script(audit.SMALL, least)]
    found += [f"covered: {one}" for one in driver.execute_script(audit.COVERED)]
    found += [f"moves: {one}" for one in driver.execute_script(audit.MOVING)]
    if appearance.direction == "rtl":
        found += [f"not translated: {one}" for one in driver.execute_script(audit.UNTRANSLATED, [*audit.KNOWN, *known])]
    return found

"""What `Scripts/check-markdown` finds, and how it folds."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import types

import pytest
from switchboard_tests.runs.tiers import ROOT

FILLER = "word " * 24


@pytest.fixture(scope="module")
def script() -> types.ModuleType:
    loader = importlib.machinery.SourceFileLoader("check_markdown", str(ROOT / "Scripts/check-markdown"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("text", [
    f"{FILLER}and the end", f"- {FILLER}and more", f"1. {FILLER}and more", f"- one\n  {FILLER}and more",
])  # fmt: skip
def test_wide_text_is_found_and_folded(script, text):
    lines = f"# Title\n\n{text}\n"
    assert script.wide_lines(lines) == [2 + len(text.split("\n"))]
    folded = script.folded(lines)
    assert script.wide_lines(folded) == [] and folded.split() == lines.split()
    assert script.folded(folded) == folded


@pytest.mark.parametrize("text", [
    f"| {FILLER}| cell |", f"## {FILLER}", f"```sh\n{FILLER}and more\n```", f"- ```\n  {FILLER}and more\n  ```",
    f"https://example.org/{'a' * 120}", f"[a link](https://example.org/{'a' * 120})",
])  # fmt: skip
def test_what_cannot_be_folded_may_be_wide(script, text):
    assert script.wide_lines(text) == []
    assert script.folded(text) == text


@pytest.mark.parametrize("text", [f"{FILLER}hard  \nbreak", f"{FILLER}hard\\\nbreak", f"    {FILLER}code"])
def test_lines_that_mean_something_are_left_and_named(script, text):
    text = text.replace("hard", "a hard line")
    assert script.folded(text) == text
    assert script.wide_lines(text) == [1]


@pytest.mark.parametrize("word", ["-", "+", "*", "1.", "12)", "#", "#36", ">", "|", "@all", "```", "<b>", "---", "="])
def test_no_line_begins_with_what_would_begin_a_block(script, word):
    for shift in range(120):
        text = f"{'x' * shift} {FILLER}{word} and so on"
        assert not any(line.startswith(word) for line in script.folded(text).split("\n"))


def test_code_and_addresses_stay_whole(script):
    kept = ("`a b c`", "``a `b` c``", "](/docs/x y)")
    for shift in range(120):
        folded = script.folded(f"{'x' * shift} {FILLER}`a b c` d ``a `b` c`` e [a link](/docs/x y) f")
        assert all(one in folded for one in kept)

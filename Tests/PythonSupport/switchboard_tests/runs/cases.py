"""Results of tests, of both languages."""

from __future__ import annotations

import dataclasses
import enum


class Outcome(enum.Enum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    # It ran for longer than a case may, and its process was ended.
    HUNG = "hung"
    # Its process ended while it ran.
    CRASHED = "crashed"


RED = {Outcome.FAILED, Outcome.HUNG, Outcome.CRASHED}


@dataclasses.dataclass(frozen=True)
class Case:
    """A test function of Swift, or an item of pytest, as it ended."""

    # `Module.Suite/function(_:)/File.swift:LINE:COLUMN`, or `Tests/Folder/test_file.py::test_name[parameter]`.
    id: str
    # The file, relative to the checkout.
    file: str
    outcome: Outcome
    seconds: float
    # What the test said about its failure.
    text: str = ""
    # Whether the test itself had passed, and what ended after it failed: a fixture that looks at everything it did.
    in_teardown: bool = False

    @property
    def is_red(self) -> bool:
        return self.outcome in RED

    @property
    def is_swift(self) -> bool:
        return self.file.endswith(".swift")

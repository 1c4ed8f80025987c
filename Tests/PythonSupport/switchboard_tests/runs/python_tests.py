"""Runs tests of pytest. `results_plugin`, which Tests/conftest.py loads, writes a line for each report into a file."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import tempfile
from typing import Any

from switchboard_tests.runs.cases import Case, Outcome
from switchboard_tests.runs.results_plugin import FILE

# pytest's exit codes: passed, tests failed, and no tests.
ENDED = {0, 1, 5}


def read(lines: list[str]) -> tuple[list[Case], bool]:
    """The cases of reports, and whether pytest has reached its end. An item has one for its setup, its call and its
    teardown; one whose last is missing has ended its process."""
    reports: dict[str, list[dict[str, Any]]] = {}
    has_finished = False
    for line in map(json.loads, lines):
        if line.get("finished"):
            has_finished = True
        else:
            reports.setdefault(line["id"], []).append(line)
    return [_case(name, own) for name, own in reports.items()], has_finished


def _case(name: str, reports: list[dict[str, Any]]) -> Case:
    seconds = sum(report["seconds"] for report in reports)
    if hung := [report for report in reports if report.get("hung")]:
        text = f"It was open for {hung[0]['seconds']:.0f} s. Where each thread was stands in the output."
        return Case(name, name.partition("::")[0], Outcome.HUNG, seconds, text)
    red = [report for report in reports if report["outcome"] == "failed"]
    text = "\n".join(report["text"] for report in red)
    if any(report["crashed"] for report in reports) or reports[-1]["when"] not in ("teardown", "collect"):
        outcome = Outcome.CRASHED
    elif red:
        outcome = Outcome.FAILED
    elif any(report["outcome"] == "skipped" for report in reports):
        outcome = Outcome.SKIPPED
    else:
        outcome = Outcome.PASSED
    in_teardown = bool(red) and red[0]["when"] == "teardown"
    return Case(name, name.partition("::")[0], outcome, seconds, text, in_teardown)


@dataclasses.dataclass(frozen=True)
class PythonTests:
    pytest: pathlib.Path
    folder: pathlib.Path
    environment: dict[str, str]

    def run(self, *arguments: str) -> list[Case]:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "results"
            file.touch()
            environment = self.environment | {FILE: str(file)}
            code = subprocess.run(
                [self.pytest, "-q", *arguments], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL
            ).returncode
            cases, has_finished = read(file.read_text().splitlines())
        if not has_finished or code not in ENDED or (code == 1 and not any(case.is_red for case in cases)):
            # A wrong option, or the end of pytest itself.
            name = f"pytest {' '.join(arguments)}"
            cases.append(Case(name, "Tests/conftest.py", Outcome.CRASHED, 0, f"pytest ended with {code}."))
        return cases

    def run_alone(self, item: str) -> Case | None:
        """One item in a process of its own, without workers; nothing if it did not run."""
        cases = self.run("-p", "no:xdist", item)
        # Whatever else is red is of this process, such as the end of pytest itself.
        if red := [case for case in cases if case.is_red]:
            return red[0]
        return cases[0] if [case.id for case in cases if case.outcome is Outcome.PASSED] == [item] else None

"""What pytest does for `Scripts/test`: it selects the tests of a tier, and writes what became of each into a file."""

from __future__ import annotations

import json
import os
import pathlib
import threading

import pytest
import pytest_timeout

from switchboard_tests.runs.tiers import ROOT, Tiers

# Names the file, of JSON lines.
FILE = "DEV_SWITCHBOARD_RESULTS"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", default="all", choices=["gate", "all"], help="gate: only what Tests/tiers.tsv has in it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--tier") != "gate":
        return
    tiers = Tiers.read()
    presubmit = {item: tiers.of_item(_id(item.nodeid, config)).is_presubmit for item in items}
    config.hook.pytest_deselected(items=[item for item in items if not presubmit[item]])
    items[:] = [item for item in items if presubmit[item]]


class Writer:
    """Of the process that has the reports of all workers."""

    def __init__(self, config: pytest.Config, file: pathlib.Path) -> None:
        self.config = config
        self.file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            self._write(report.nodeid, report.outcome, str(report.when), report.duration, report.longreprtext)
        else:
            self._write(report.nodeid, None, str(report.when), report.duration, "")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(report.nodeid, "failed", "collect", 0, report.longreprtext)

    def pytest_sessionfinish(self) -> None:
        """Without this line pytest has not reached its end, whatever its code says."""
        self._append({"finished": True})

    def _write(self, item: str, outcome: str | None, when: str, seconds: float, text: str) -> None:
        # A setup and a teardown that passed count for the time alone.
        line = {
            "id": _id(item, self.config), "outcome": outcome or "passed", "when": when, "seconds": seconds,
            "text": text, "crashed": when == "???",
        }  # fmt: skip
        self._append(line)

    def _append(self, line: dict[str, object]) -> None:
        append(self.file, line)


def append(file: pathlib.Path, line: dict[str, object]) -> None:
    with open(file, "a") as opened:
        opened.write(json.dumps(line) + "\n")


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: pytest_timeout.Settings) -> bool | None:
    """As pytest-timeout with threads, whose end of the process looks like any other: this one is written down."""
    file = os.environ.get(FILE)
    if not file:
        return None
    arguments = (item, settings, pathlib.Path(file))
    timer = threading.Timer(settings.timeout, _hung, arguments)

    def cancel() -> None:
        timer.cancel()
        timer.join()

    item.cancel_timeout = cancel  # type: ignore[attr-defined]
    timer.start()
    return True


def _hung(item: pytest.Item, settings: pytest_timeout.Settings, file: pathlib.Path) -> None:
    line = {"id": _id(item.nodeid, item.config), "hung": True, "when": "call", "seconds": settings.timeout}
    append(file, line)
    # Prints where each thread is, and ends the process.
    pytest_timeout.timeout_timer(item, settings)


def pytest_configure(config: pytest.Config) -> None:
    file = os.environ.get(FILE)
    if file and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Writer(config, pathlib.Path(file)), "switchboard-results")


def _id(item: str, config: pytest.Config) -> str:
    """pytest's ids are relative to the folder of its configuration."""
    folder = os.path.relpath(config.rootpath, ROOT)
    return item if folder == "." else f"{folder}/{item}"

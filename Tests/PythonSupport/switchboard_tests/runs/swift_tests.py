"""Runs the built tests of Swift, and ends what hangs.

The executable that SwiftPM built is started without `swift test`, whose answer is 0 where nothing matches, and which
waits for ever for a test that ignores its cancellation. It writes an event for each step into a file, which is read
meanwhile: a case that is open for too long ends the process. What has not ended then runs anew, without the case.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
from typing import Any

from switchboard_tests.runs.cases import Case, Outcome

# How long a case may be open, in seconds. For hangs alone.
CASE_SECONDS = 120.0
# How long the process may go on after its last test, and without any test before the first.
IDLE_SECONDS = 120.0
POLL_SECONDS = 0.25


@dataclasses.dataclass
class _Function:
    file: str
    is_skipped: bool = False
    started: float | None = None
    seconds: float = 0
    has_ended: bool = False
    issues: list[str] = dataclasses.field(default_factory=list)
    # How many of its cases are running, and when one last began or ended: events do not say which.
    running: int = 0
    changed: float = 0


@dataclasses.dataclass(frozen=True)
class Ending:
    """How a process ended before its time, and which functions may be the cause."""

    outcome: Outcome
    functions: set[str]
    text: str


class EventStream:
    """What a process of Swift's tests has said so far."""

    def __init__(self) -> None:
        self.functions: dict[str, _Function] = {}
        self.has_ended = False
        self._rest = b""

    def feed(self, data: bytes, now: float) -> None:
        """`data` follows what was fed before; a line may be cut anywhere."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line:
                record = json.loads(line)
                payload = record["payload"]
                if record["kind"] == "test":
                    self._known(payload)
                elif record["kind"] == "event":
                    self._happened(payload, now)

    def _known(self, test: dict[str, Any]) -> None:
        if test["kind"] == "function":
            target, _, name = test["sourceLocation"]["fileID"].partition("/")
            path = test["sourceLocation"].get("filePath") or test["sourceLocation"].get("_filePath") or ""
            file = path[path.index("/Tests/") + 1 :] if "/Tests/" in path else f"Tests/{target}/{name}"
            self.functions.setdefault(test["id"], _Function(file))

    def _happened(self, event: dict[str, Any], now: float) -> None:
        kind = event["kind"]
        if kind == "runEnded":
            self.has_ended = True
        function = self.functions.get(event.get("testID", ""))
        if function is None:
            return
        if kind == "testCaseStarted":
            # Its own start is before it waits for others.
            function.started = function.started or now
            function.running += 1
            function.changed = now
        elif kind == "testCaseEnded":
            function.running -= 1
            function.changed = now
        elif kind == "testEnded":
            function.has_ended = True
            function.seconds = now - (function.started or now)
            function.running = 0
        elif kind == "testSkipped":
            function.is_skipped = True
        elif kind == "issueRecorded":
            issue = event.get("issue") or {}
            if not issue.get("isKnown") and issue.get("severity", "error") == "error":
                location = issue.get("sourceLocation") or {}
                said = " ".join(message["text"] for message in event.get("messages", []))
                function.issues.append(f"{location.get('fileID', '')}:{location.get('line', '')}: {said}")

    def hanging(self, now: float, limit: float) -> list[str]:
        """The functions with cases of which for longer none has begun or ended."""
        return [name for name, one in self.functions.items() if one.running and now - one.changed > limit]

    def is_idle(self) -> bool:
        return not any(one.running for one in self.functions.values())

    def cases(self, ending: Ending | None = None) -> list[Case]:
        """What has ended, and what an early ending of the process is blamed on."""
        found = []
        for name, one in self.functions.items():
            if one.is_skipped:
                found.append(Case(name, one.file, Outcome.SKIPPED, 0))
            elif one.has_ended:
                outcome = Outcome.FAILED if one.issues else Outcome.PASSED
                found.append(Case(name, one.file, outcome, one.seconds, "\n".join(one.issues)))
            elif ending and name in ending.functions:
                found.append(Case(name, one.file, ending.outcome, 0, "\n".join([ending.text, *one.issues])))
        return found

    def waiting(self) -> set[str]:
        """The functions that were to run and have not ended."""
        return {name for name, one in self.functions.items() if not one.has_ended and not one.is_skipped}


def pattern(function: str) -> str:
    """Of exactly this function, for `--filter` and `--skip`."""
    return f"^{re.escape(function)}$"


def suite_pattern(function: str) -> str:
    """Of the suite of a function."""
    return f"^{re.escape(function.partition('/')[0])}/"


@dataclasses.dataclass(frozen=True)
class SwiftTests:
    executable: pathlib.Path
    log: pathlib.Path
    environment: dict[str, str]
    case_seconds: float = CASE_SECONDS
    idle_seconds: float = IDLE_SECONDS

    def run(self, *arguments: str) -> list[Case]:
        """Runs what the arguments of the testing library select, to the end, whatever hangs or crashes."""
        results: dict[str, Case] = {}
        selected, skipped = list(arguments), list[str]()
        while True:
            stream, ending = self._run_once([*selected, *(f"--skip={pattern(name)}" for name in skipped)])
            for case in stream.cases(ending):
                # What failed before stays so.
                if not (case.id in results and (results[case.id].is_red or case.outcome is Outcome.SKIPPED)):
                    results[case.id] = case
            if ending is None:
                return list(results.values())
            if not ending.functions:
                name = f"{self.executable.name}: no test was running"
                results[name] = Case(name, "Tests.swift", ending.outcome, 0, ending.text)
                return list(results.values())
            skipped += sorted(ending.functions)
            left = stream.waiting() - set(skipped)
            if not left:
                return list(results.values())
            selected = [f"--filter={one}" for one in sorted({suite_pattern(name) for name in left})]
            selected += [one for one in arguments if not one.startswith(("--filter", "--skip"))]
            skipped += [one.id for one in results.values() if one.outcome is not Outcome.SKIPPED and one.is_red]

    def run_alone(self, function: str) -> Case | None:
        """One function in a process of its own; nothing if it did not run."""
        stream, ending = self._run_once([f"--filter={pattern(function)}"])
        ran = [case for case in stream.cases(ending) if case.outcome is not Outcome.SKIPPED]
        return ran[0] if [case.id for case in ran] == [function] else None

    def _run_once(self, arguments: list[str]) -> tuple[EventStream, Ending | None]:
        stream = EventStream()
        with tempfile.TemporaryDirectory() as folder, open(self.log, "ab") as log:
            events = pathlib.Path(folder) / "events"
            events.touch()
            process = subprocess.Popen(
                [
                    self.executable, "--testing-library", "swift-testing", "--event-stream-output-path", events,
                    "--event-stream-version", "6.3", *arguments,
                ],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment, start_new_session=True,
            )  # fmt: skip
            try:
                return stream, self._follow(process, stream, events)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _log_tail(self, lines: int = 40) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _follow(self, process: subprocess.Popen[bytes], stream: EventStream, events: pathlib.Path) -> Ending | None:
        """Until the process has ended; how, if it was not by itself."""
        idle_since = time.monotonic()
        with open(events, "rb") as file:
            while True:
                has_ended = process.poll() is not None
                stream.feed(file.read(), time.monotonic())
                now = time.monotonic()
                if has_ended:
                    # 1 tells of failed tests, and an unknown number of no tests.
                    if stream.has_ended and process.returncode >= 0:
                        return None
                    running = {name for name, one in stream.functions.items() if one.running}
                    said = f"The process ended with {process.returncode}. The end of its output:\n{self._log_tail()}"
                    return Ending(Outcome.CRASHED, running, said)
                if hanging := stream.hanging(now, self.case_seconds):
                    return Ending(Outcome.HUNG, set(hanging), f"It was open for {self.case_seconds:.0f} s.")
                if not stream.is_idle():
                    idle_since = now
                elif now - idle_since > self.idle_seconds:
                    return Ending(Outcome.HUNG, set(), f"No test began within {self.idle_seconds:.0f} s.")
                time.sleep(POLL_SECONDS)

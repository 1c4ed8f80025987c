"""Runs tiers of tests to their end, and says what was red. `Scripts/test` says how it is used."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import datetime
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence

from switchboard_tests import seen
from switchboard_tests.runs import reruns
from switchboard_tests.runs.cases import Case, Outcome
from switchboard_tests.runs.python_tests import PythonTests
from switchboard_tests.runs.swift_tests import SwiftTests
from switchboard_tests.runs.tiers import ROOT, Tiers

# What each run of the gate begins with, so that it answers for what has changed.
PRESUBMIT_SEED = "1"
# How often it kills servers, cuts connections and has clients race. `all` does so three to four times as often.
PRESUBMIT_COUNTS = {"DEV_SWITCHBOARD_CRASHES": "15", "DEV_SWITCHBOARD_CUTS": "60", "DEV_SWITCHBOARD_RACES": "300"}
TIERS = ("check", "swift", "integration", "web", "browser", "fuzz", "long")
ALL = ("check", "swift", "integration", "web", "browser", "fuzz")
PRESUBMIT = ("check", "swift", "integration", "web", "browser")
CHECKS = (
    "check-imports", "web", "check-words", "check-modules", "check-texts", "catalogues --check", "check-styles",
    "check-version", "check-markdown", "emoji --check", "normalization --check", "check-python", "format --check",
)  # fmt: skip
# Files of pytest that take longest begin first, so that no worker is left alone with one. What takes time in them is
# mostly waiting.
LONGEST = {
    "IntegrationTests": (
        "test_deletion", "test_openapi", "test_erased_bytes", "test_disappearing", "test_gateway_attacks", "test_check",
        "test_captions", "test_assistant", "test_webhook_delivery", "test_relay_streams",
    ),
    "WebTests": ("test_delivered_state",),
    "EndToEndTests": ("test_looks", "test_chat_offline"),
}  # fmt: skip
# A connection has five seconds for its first request: its tests share no thread pool with those that compute.
ALONE_IN_SWIFT = "^RealtimeTests\\."
# They wait for servers and connections, so a process of their own runs them beside the others.
SCENARIOS_IN_SWIFT = "^ScenarioTests\\."
# Begun all at once, a test waits for the threads of 1,700 others with each step.
SWIFT_WIDTH = "--experimental-maximum-parallelization-width=8"
# How many of the slowest cases are listed in the end.
SLOWEST = 20
PASSED = ROOT / ".build" / "passed"
# How long each case of the newest run took, the longest first.
TIMES = ROOT / ".build" / "test-times.tsv"


class Run:
    def __init__(self, tiers: Sequence[str], is_presubmit: bool) -> None:
        self.tiers = tiers
        self.is_presubmit = is_presubmit
        self.cases: list[Case] = []
        # Steps that are no tests: scripts, builds, soaks.
        self.red_steps: list[str] = []
        self.passed_steps = 0
        self.times: list[tuple[str, float]] = []
        self.listed = Tiers.read()
        seed = PRESUBMIT_SEED if is_presubmit else str(random.randrange(1 << 32))
        os.environ.setdefault("DEV_SWITCHBOARD_SEED", seed)
        if is_presubmit:
            for name, count in PRESUBMIT_COUNTS.items():
                os.environ.setdefault(name, count)
        else:
            # The same manifest for every build of the run, so that nothing is planned anew.
            os.environ["DEV_SWITCHBOARD_BENCH"] = "1"
        self.fuzz_build: subprocess.Popen[bytes] | None = None
        self.python_build: list[subprocess.Popen[bytes]] = []
        # What Python compiles is kept, also where the environment would not have it: see `begin_python_build`.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

    @property
    def python(self) -> PythonTests:
        return PythonTests(ROOT / ".venv/bin/pytest", ROOT, dict(os.environ))

    @property
    def swift(self) -> SwiftTests:
        return SwiftTests(ROOT / ".build/debug/switchboardPackageTests.xctest", LOG, dict(os.environ))

    @property
    def swift_scenarios(self) -> SwiftTests:
        """With a log of its own, whose end tells why it crashed."""
        return dataclasses.replace(self.swift, log=LOG.with_name("swift-scenarios.log"))

    # Steps

    @contextlib.contextmanager
    def timed(self, name: str) -> Iterator[None]:
        print(f"\n=== {name}", flush=True)
        start = time.monotonic()
        yield
        self.times.append((name, time.monotonic() - start))

    def step(self, name: str, *command: str, environment: dict[str, str] | None = None) -> bool:
        """A program that has to end with 0."""
        ended = subprocess.run(command, cwd=ROOT, env=os.environ | (environment or {}), stdin=subprocess.DEVNULL)
        return self.judge(name, ended.returncode)

    def judge(self, name: str, code: int) -> bool:
        if code == 0:
            self.passed_steps += 1
            return True
        print(f"test: {name} ended with {code}", file=sys.stderr, flush=True)
        self.red_steps.append(f"{name} (ended with {code})")
        return False

    def ended(self, cases: list[Case]) -> None:
        self.cases += cases
        count = {one: sum(case.outcome is one for case in cases) for one in Outcome}
        print(", ".join(f"{number} {one.value}" for one, number in count.items() if number), flush=True)
        for case in cases:
            if case.is_red:
                print(f"{case.outcome.value}: {case.id}\n{indented(case.text)}", flush=True)

    # Tiers

    def check(self) -> None:
        with self.timed("check"):
            own = [".venv/bin/pytest", "-q", "--numprocesses=2", "Tests/RunTests"]
            steps = [(f"Scripts/{one}", [f"Scripts/{one.split()[0]}", *one.split()[1:]]) for one in CHECKS]
            # The tests wait for processes, so they run beside the scripts.
            with concurrent.futures.ThreadPoolExecutor(1) as beside:
                tests = beside.submit(captured, own)
                for name, command in steps:
                    self.step(name, *command)
            text, code = tests.result()
            print(text, end="", flush=True)
            self.judge("what the tests' own runner does", code)
            for problem in self.listed.problems():
                print(problem)
                self.red_steps.append(problem)

    def build(self) -> bool:
        with self.timed("build"):
            return self.step("the build", "Scripts/build", "--build-tests")

    def swift_tier(self) -> None:
        with self.timed("swift"):
            outside = [f"--skip=^{name.replace('.', '[.]')}[./]" for name in self.listed.swift_outside_presubmit]
            options = [SWIFT_WIDTH, *(outside if self.is_presubmit else [])]
            with concurrent.futures.ThreadPoolExecutor(1) as beside:
                scenarios = beside.submit(self.swift_scenarios.run, f"--filter={SCENARIOS_IN_SWIFT}", *options)
                cases = self.swift.run(f"--filter={ALONE_IN_SWIFT}", *options)
                cases += self.swift.run(f"--skip={ALONE_IN_SWIFT}", f"--skip={SCENARIOS_IN_SWIFT}", *options)
            cases += scenarios.result()
            self.ended([case for case in cases if case.outcome is not Outcome.SKIPPED])

    def begin_python_build(self) -> None:
        """Has pytest compile the tests beside other steps, once: in a clean clone each of its workers would do so."""
        self.python_build = [
            subprocess.Popen(
                [".venv/bin/pytest", "--collect-only", "--quiet", f"Tests/{folder}"],
                cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            )
            for folder in ("IntegrationTests", "WebTests", "EndToEndTests")
        ]  # fmt: skip

    def pytest(self, *arguments: str) -> None:
        # What cannot be compiled fails here.
        while self.python_build:
            self.python_build.pop().wait()
        # What is not in the gate may take its time.
        options = ["--tier=gate"] if self.is_presubmit else ["--tier=all", "--timeout=300"]
        self.ended(self.python.run(*options, *arguments))

    def integration(self) -> None:
        with self.timed("integration"):
            # Most of these wait for timers or peers, so six run at a time; a file's tests share a server, so they
            # stay together.
            self.pytest("--numprocesses=6", "--dist=loadfile", "--no-loadscope-reorder", *files("IntegrationTests"))

    def web(self) -> None:
        with self.timed("web"):
            self.pytest("--numprocesses=3", "--dist=loadfile", "--no-loadscope-reorder", *files("WebTests"))

    def browser(self) -> None:
        with self.timed("browser"):
            # Three files at a time, but for those that need both cores.
            looks = ["--appearances=desk-light-ltr,phone-dark-rtl"] if self.is_presubmit else []
            workers = ["--numprocesses=3", "--dist=loadfile", "--no-loadscope-reorder"]
            self.pytest(*workers, "-m", "not alone and not long", *looks, *files("EndToEndTests"))
            if not self.is_presubmit:
                # One worker, so that there is another after a hang.
                self.pytest("--numprocesses=1", "-m", "alone", "Tests/EndToEndTests")

    def everything_was_seen(self, folder: pathlib.Path) -> None:
        """Both tiers together see all of the protocol; one alone does not have to, nor does the gate."""
        missing, skipped = seen.unseen(folder)
        for name in missing:
            print(f"/asyncapi.json lists “{name}”, which no test of this run has seen: write one that does.")
        if missing and not skipped:
            self.red_steps.append(f"{len(missing)} parts of /asyncapi.json that no test has seen")

    def fuzz(self) -> None:
        with self.timed("fuzz"):
            # A failed background build is repeated here, with its errors.
            if self.fuzz_build is not None:
                self.fuzz_build.wait()
                self.fuzz_build = None
            self.step("Scripts/fuzz", "Scripts/fuzz", "--seconds", "5")

    def begin_fuzz_build(self) -> None:
        """In a directory of its own, and with idle priority, beside tests that wait for peers."""
        (ROOT / ".build-fuzz").mkdir(exist_ok=True)
        with open(ROOT / ".build-fuzz/build.log", "wb") as log:
            self.fuzz_build = subprocess.Popen(
                ["chrt", "--idle", "0", "Scripts/fuzz", "--build"],
                cwd=ROOT, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    def long(self) -> None:
        for what in ("relay", "legs", "recording", "chat"):
            with self.timed(f"soak of {what}"):
                self.step(f"the soak of {what}", ".venv/bin/python", "Scripts/soak", what)
        with self.timed("app of the SDK, Whisper"):
            self.step("Scripts/setup --whisper", "Scripts/setup", "--whisper")
            self.ended(self.python.run("-m", "long", "Tests/IntegrationTests"))
        with self.timed("all appearances"):
            looks = ("test_looks", "test_looks_of_machines", "test_looks_of_notifications", "test_looks_of_speech")
            self.ended(self.python.run("--appearances=all", *(f"Tests/EndToEndTests/{name}.py" for name in looks)))
        with self.timed("long streams"):
            os.environ["DEV_SWITCHBOARD_STREAM_SECONDS"] = "1800"
            swift = SwiftTests(self.swift.executable, LOG, dict(os.environ), case_seconds=3600)
            self.ended(swift.run("--filter=StreamProperties"))
        with self.timed("long deliveries"):
            os.environ["DEV_SWITCHBOARD_DELIVERY_SECONDS"] = "1800"
            self.ended(self.python.run("--timeout=3600", "Tests/WebTests/test_delivered_state.py"))
        with self.timed("long fuzz"):
            self.step("Scripts/fuzz", "Scripts/fuzz")

    def all(self) -> None:
        print(f"DEV_SWITCHBOARD_SEED={os.environ['DEV_SWITCHBOARD_SEED']}", flush=True)
        wanted = set(self.tiers)
        if "check" in wanted:
            self.check()
        if wanted & {"integration", "web", "browser"}:
            self.begin_python_build()
        if wanted & {"swift", "integration", "web", "browser", "long"} and not self.build():
            return
        if "check" in wanted and not self.is_presubmit and self.build():
            with self.timed("docs"):
                self.step("Scripts/docs", "Scripts/docs")
        if "swift" in wanted:
            self.swift_tier()
        if {"integration", "fuzz"} <= wanted:
            self.begin_fuzz_build()
        if "integration" in wanted:
            self.integration()
        if "web" in wanted:
            self.web()
        if "browser" in wanted:
            self.browser()
        if {"integration", "browser"} <= wanted and not self.is_presubmit:
            self.everything_was_seen(pathlib.Path(os.environ[seen.FOLDER]))
        if "fuzz" in wanted:
            self.fuzz()
        if "long" in wanted:
            self.long()

    # The end

    def rerun(self) -> list[tuple[Case, str]]:
        """Tries failed tests once more, alone. What passes then has passed; the rest is returned, with the reason."""
        red = [case for case in self.cases if case.is_red]
        if not self.is_presubmit:
            return [(case, "only the gate tries once more") for case in red]
        recent, known = reruns.recent_files(), reruns.flaky()
        reasons = {case.id: reruns.why_never(case, self.listed, recent, known) for case in red}
        if len(red) > reruns.LIMIT:
            return [(case, reasons[case.id] or f"more than {reruns.LIMIT} were red") for case in red]
        left = []
        for case in red:
            if reason := reasons[case.id]:
                left.append((case, reason))
                continue
            print(f"\n=== once more, alone: {case.id}", flush=True)
            again = self.swift.run_alone(case.id) if case.is_swift else self.python.run_alone(case.id)
            if again is None or again.is_red:
                left.append((case, "it did not run" if again is None else "alone, it failed again"))
            else:
                self.retried.append(case.id)
        return left

    retried: list[str]

    def finish(self) -> int:
        self.retried = []
        start = time.monotonic()
        red = self.rerun()
        expired = reruns.expired(reruns.flaky(), datetime.date.today())
        self.times.append(("once more", time.monotonic() - start))

        print("\n=== end")
        for case, reason in red:
            print(f"red: {case.id}: {case.outcome.value}; {reason}\n{indented(case.text)}")
        for name in self.red_steps:
            print(f"red: {name}")
        for name in expired:
            print(f"red: {name}: its time in Tests/flaky.tsv is over")
        for name in self.retried:
            print(f"retried: {name}")
        slowest = sorted(self.cases, key=lambda one: -one.seconds)
        TIMES.parent.mkdir(exist_ok=True)
        TIMES.write_text("".join(f"{case.seconds:.2f}\t{case.outcome.value}\t{case.id}\n" for case in slowest))
        print("slowest:")
        for case in slowest[:SLOWEST]:
            print(f"  {case.seconds:5.0f} s  {case.id}")
        print("times:")
        for name, seconds in self.times:
            print(f"  {name:18} {seconds:5.0f} s")
        failed = len(red) + len(self.red_steps) + len(expired)
        passed = sum(case.outcome is Outcome.PASSED for case in self.cases) + len(self.retried) + self.passed_steps
        if failed == 0:
            self.write_passed()
            retried = f", {len(self.retried)} retried: {' '.join(self.retried)}" if self.retried else ""
            print(f"passed{retried}")
        print(f"{passed} passed, {failed} failed")
        return 1 if failed else 0

    def write_passed(self) -> None:
        """Which commit has passed, if what was tested is a commit."""
        git = ["git", "-C", str(ROOT)]
        status = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True)
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True)
        # Without a repository, as in an archive of the sources, there is nothing to name.
        if status.returncode != 0 or status.stdout or head.returncode != 0:
            return
        commit = head.stdout.strip()
        tiers = "gate" if self.is_presubmit else ",".join(self.tiers)
        PASSED.parent.mkdir(exist_ok=True)
        with open(PASSED, "a") as file:
            file.write(f"{commit} {tiers} retried: {' '.join(self.retried) or 'none'}\n")

    def stop(self) -> None:
        if self.fuzz_build is not None and self.fuzz_build.poll() is None:
            os.killpg(self.fuzz_build.pid, signal.SIGKILL)


LOG = ROOT / ".build" / "swift-tests.log"


def files(folder: str) -> list[str]:
    """Of one folder, for pytest: what it is given first it runs first, and nothing twice."""
    return [*(f"Tests/{folder}/{name}.py" for name in LONGEST[folder]), f"Tests/{folder}"]


def captured(command: Sequence[str]) -> tuple[str, int]:
    """What a program that runs beside others has said, and its exit code."""
    ended = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return ended.stdout, ended.returncode


def indented(text: str, lines: int = 60) -> str:
    """The end of it, which says most."""
    return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])


def main(arguments: list[str]) -> int:
    wanted = {tier for name in arguments for tier in (ALL if name == "all" else (name,))}
    unknown = wanted - set(TIERS)
    if unknown:
        print(f"test: {', '.join(sorted(unknown))}: no such tier. Allowed: all, {', '.join(TIERS)}.", file=sys.stderr)
        return 2
    is_presubmit = not wanted
    run = Run(PRESUBMIT if is_presubmit else [tier for tier in TIERS if tier in wanted], is_presubmit)
    with tempfile.TemporaryDirectory() as folder:
        # What the tests have seen of the realtime protocol.
        os.environ[seen.FOLDER] = folder
        try:
            run.all()
            return run.finish()
        finally:
            run.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

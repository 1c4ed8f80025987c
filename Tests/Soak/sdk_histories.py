"""Several people who write with the SDK, again and again: `ChatHistoryScenarios`, each time with another seed."""

from __future__ import annotations

import os
import pathlib
import random
import threading

from switchboard_tests.runs.swift_tests import SwiftTests

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXECUTABLE = ROOT / ".build/debug/switchboardPackageTests.xctest"
SUITE = "^ScenarioTests[.]ChatHistoryScenarios/"
AT_ONCE = 2


class SDKHistories:
    """Begins new histories until it is stopped, each against a server of its own from the debug build, which crashes
    while connections break and apps end. The test compares what every device shows with what was written.
    """

    def __init__(self, directory: pathlib.Path, rng: random.Random) -> None:
        if not EXECUTABLE.exists():
            raise SystemExit(f"soak: {EXECUTABLE.relative_to(ROOT)} does not exist: Scripts/build --build-tests")
        self.directory = directory
        # Threads share it, so that it is not the caller's.
        self.rng = random.Random(rng.random())
        self.passed = 0
        self.problems: list[str] = []
        self._lock = threading.Lock()
        self._is_stopping = threading.Event()
        self._threads = [threading.Thread(target=self._repeat, args=(index,), daemon=True) for index in range(AT_ONCE)]
        for thread in self._threads:
            thread.start()

    def _repeat(self, index: int) -> None:
        log = self.directory / f"sdk-{index}.log"
        while not self._is_stopping.is_set() and not self.problems:
            with self._lock:
                seed = self.rng.randrange(1 << 40)
            log.write_bytes(b"")
            environment = os.environ | {"DEV_SWITCHBOARD_SEED": str(seed)}
            cases = SwiftTests(EXECUTABLE, log, environment).run(f"--filter={SUITE}")
            red = [f"clients of the SDK, seed {seed}: {case.id}: {case.text}" for case in cases if case.is_red]
            with self._lock:
                # A history that did not run is no history.
                self.problems += red if cases else [f"{SUITE} selects no test"]
                self.passed += bool(cases) and not red

    def stop(self) -> None:
        """Waits for those that run."""
        self._is_stopping.set()
        for thread in self._threads:
            thread.join()

#!/usr/bin/env python3
"""Behaves like the executable of Swift's tests: writes the events of a plan, which the environment's FAKE_PLAN names.

A plan is a list of steps, of what the events need: {"start": name}, {"issue": name}, {"end": name}, {"skip": name},
{"sleep": seconds}, {"exit": code}, {"kill": signal}. A function runs only if the filters of the arguments select it.
"""

import json
import os
import pathlib
import re
import sys
import time


def main() -> None:
    arguments = dict(zip(sys.argv[1:], sys.argv[2:]))
    filters = [one.removeprefix("--filter=") for one in sys.argv if one.startswith("--filter=")]
    skips = [one.removeprefix("--skip=") for one in sys.argv if one.startswith("--skip=")]
    plan = json.loads(pathlib.Path(os.environ["FAKE_PLAN"]).read_text())
    names = {name for step in plan for key, name in step.items() if key in ("start", "skip")}

    def runs(name: str) -> bool:
        return (not filters or any(re.search(one, name) for one in filters)) and not any(
            re.search(one, name) for one in skips
        )

    with open(arguments["--event-stream-output-path"], "w", buffering=1) as file:

        def write(kind: str, payload: dict) -> None:
            file.write(json.dumps({"kind": kind, "version": "6.3", "payload": payload}) + "\n")

        def event(kind: str, name: str | None = None, **more: object) -> None:
            write("event", {"kind": kind, "messages": [], **({"testID": name} if name else {}), **more})

        for name in sorted(names):
            location = {"fileID": f"{name.split('.')[0]}/{name.split('/')[-1].split(':')[0]}", "line": 1, "column": 1}
            write("test", {"kind": "function", "id": name, "name": name, "sourceLocation": location})
        event("runStarted")
        for step in plan:
            [(key, value)] = step.items()
            if key in ("start", "issue", "end", "skip") and not runs(value):
                if key == "start":
                    event("testSkipped", value)
            elif key == "start":
                event("testStarted", value)
                event("testCaseStarted", value)
            elif key == "issue":
                said = [{"symbol": "fail", "text": "Expectation failed: 1 == 2"}]
                event("issueRecorded", value, issue={"isKnown": False}, messages=said)
            elif key == "end":
                event("testCaseEnded", value)
                event("testEnded", value)
            elif key == "skip":
                event("testSkipped", value)
            elif key == "sleep":
                # As a test that ignores its cancellation.
                if any(runs(name) for name in names):
                    time.sleep(value)
            elif key == "exit":
                sys.exit(value)
            elif key == "kill":
                os.kill(os.getpid(), value)
        event("runEnded")
    # As swift-testing, which answers otherwise where nothing matched.
    sys.exit(0)


main()

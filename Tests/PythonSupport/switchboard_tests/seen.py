"""What the realtime clients of a run have received, to be compared with the tables of `/asyncapi.json`.

A run has many processes: pytest's workers, and one after the other the integration and the browser tier. Each writes
what it has seen into the folder that DEV_SWITCHBOARD_SEEN names; `Scripts/check-seen` compares the sum of them in the
end. Things have names such as `call:{call} participant`, `reset gap` and `close 4008`.
"""

from __future__ import annotations

import json
import os
import pathlib
import uuid
from typing import Any

FOLDER = "DEV_SWITCHBOARD_SEEN"

# Of this process.
things: set[str] = set()
# Tests that this machine cannot run.
skipped: list[str] = []


def listed(document: dict[str, Any]) -> set[str]:
    """Everything of the tables: each stream's snapshot, types of changes and events, the resets, the close codes."""
    found = set()
    for stream in document["x-streams"]:
        found |= {f"{stream['name']} {frame}" for frame in stream["frames"] if frame != "changes"}
        found |= {f"{stream['name']} {change['type']}" for change in stream["changes"]}
        found |= {f"{stream['name']} row {row}" for row in stream["rows"]}
    found |= {f"reset {reset['reason']}" for reset in document["x-resets"]}
    return found | {f"close {entry['code']}" for entry in document["x-closeCodes"]}


def form(stream: str) -> tuple[str, int]:
    """By which a stream's kind is known: its first part, and how many there are."""
    parts = stream.split(":")
    return parts[0], len(parts)


def note(frame: dict[str, Any], streams: dict[tuple[str, int], str]) -> None:
    """Notes a frame of the server. `streams` are the names of streams, with parameters, by their forms."""
    if "bye" in frame:
        closed(frame["bye"]["code"])
    elif "reset" in frame:
        things.add(f"reset {frame['reset']['reason']}")
    elif "stream" in frame:
        name = streams[form(frame["stream"])]
        things.update(f"{name} {kind}" for kind in ("snapshot", "event", "rows") if kind in frame)
        things.update(f"{name} row {key}" for row in frame.get("rows", []) for key in row)
        things.update(f"{name} {change['type']}" for change in frame.get("changes", []))


def closed(code: int | None) -> None:
    """Notes the close code of a session."""
    if code is not None:
        things.add(f"close {code}")


def save(document: dict[str, Any]) -> None:
    """Writes what this process has seen, if the run collects it."""
    if folder := os.environ.get(FOLDER):
        text = json.dumps({"seen": sorted(things), "listed": sorted(listed(document)), "skipped": skipped})
        (pathlib.Path(folder) / f"{uuid.uuid4()}.json").write_text(text)


def unseen(folder: pathlib.Path) -> tuple[list[str], list[str]]:
    """What is in the tables and no process of the run has seen, and the tests that were skipped."""
    parts = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    if not parts:
        raise SystemExit(f"check-seen: no test has written what it saw into {folder}.")
    every = {key: {one for part in parts for one in part[key]} for key in ("listed", "seen", "skipped")}
    return sorted(every["listed"] - every["seen"]), sorted(every["skipped"])

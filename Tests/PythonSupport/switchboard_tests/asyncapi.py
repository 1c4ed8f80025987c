"""`/asyncapi.json`, against which every frame of the tests' realtime clients is checked.

The document comes from the first server that a test process starts; it is the same for all of them. Clients report
what they send and receive, and a fixture of Tests/conftest.py fails the test during which a frame differed. A Python
test that sends a wrong frame on purpose needs no mark: what the schemas reject, the server has to reject too. Pages
send nothing wrong, so all of their frames are checked, unless `wrong_on_purpose()` says otherwise.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs

from switchboard_tests import seen

Validator = jsonschema_rs.Draft7Validator | jsonschema_rs.Draft202012Validator


class Frames:
    """The schemas of the frames, and of the results of requests."""

    def __init__(self, document: dict[str, Any], draft: type[Any] = jsonschema_rs.Draft7Validator) -> None:
        self.draft = draft
        self.document = document
        self.streams = {seen.form(stream["name"]): stream["name"] for stream in document["x-streams"]}
        self.components = document["components"]
        messages = document["channels"]["realtime"]["messages"]
        # A message of the channel is the client's if an operation receives it.
        received = {
            message["$ref"].rpartition("/")[2]
            for operation in document["operations"].values()
            if operation["action"] == "receive" and operation["channel"]["$ref"] == "#/channels/realtime"
            for message in operation["messages"]
        }
        self.client = {name: self.message(name) for name in messages if name in received}
        self.server = {name: self.message(name) for name in messages if name not in received}
        self.result_references = {request["name"]: request["result"]["$ref"] for request in document["x-requests"]}
        for kind in ("hello", "listen", "unlisten", "token"):
            self.result_references[kind] = f"#/components/schemas/{kind.capitalize()}Result"
        # Made when they are needed: all of them take a second.
        self._results: dict[str, Validator] = {}

    def message(self, name: str) -> Validator:
        return self.validator(self.components["messages"][name]["payload"]["$ref"])

    def result(self, kind: str) -> Validator:
        """The result of a request, or of a frame with a response."""
        if kind not in self._results:
            self._results[kind] = self.validator(self.result_references[kind])
        return self._results[kind]

    def validator(self, reference: str) -> Validator:
        return self.draft({"$ref": reference, "components": self.components})

    def kinds(self, frame: Any, messages: dict[str, Validator]) -> list[str]:
        """The messages that the frame is."""
        return [name for name, validator in messages.items() if validator.is_valid(frame)]


loaded: Frames | None = None
# What differed since the last check.
violations: list[str] = []
# Browsers, which check the frames of their pages when they are asked.
readers: list[Callable[[], None]] = []
exempt = False


def load(document: dict[str, Any]) -> None:
    global loaded  # noqa: PLW0603
    loaded = Frames(document)


def report(what: str, value: Any, reason: str = "") -> None:
    if len(violations) < 20:
        violations.append(f"{what}: {json.dumps(value)[:1000]} {reason}".strip())


def received(frame: Any) -> None:
    """Checks a frame that the server sent."""
    if loaded is None:
        return
    if len(loaded.kinds(frame, loaded.server)) != 1:
        report("the server sent what is in no schema, or in several", frame)
        return
    seen.note(frame, loaded.streams)


def sent_by_page(frame: Any) -> None:
    """Checks a frame that a page sent, whatever the response."""
    if loaded is not None and not exempt and len(loaded.kinds(frame, loaded.client)) != 1:
        report("a page sent what is in no schema, or in several", frame)


@contextlib.contextmanager
def wrong_on_purpose() -> Iterator[None]:
    """Pages may send wrong frames meanwhile; what the server sends is still checked."""
    global exempt  # noqa: PLW0603
    read_pages()
    exempt = True
    try:
        yield
        read_pages()
    finally:
        exempt = False


def server_sent(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The frames of a response of server-sent events, checked."""
    for line in lines:
        if line.startswith("data: "):
            frame = json.loads(line.removeprefix("data: "))
            received(frame)
            yield frame


def answered(frame: dict[str, Any], response: dict[str, Any]) -> None:
    """Checks a frame that the server answered with a result, and the result."""
    if loaded is None or "result" not in response:
        return
    if len(loaded.kinds(frame, loaded.client)) != 1:
        report("the server accepted what is in no schema, or in several", frame)
        return
    kind = frame["request"] if "request" in frame else next(name for name in loaded.result_references if name in frame)
    error = next(loaded.result(kind).iter_errors(response["result"]), None)
    if error is not None:
        report(f"the result of {kind}", response["result"], str(error))


def read_pages() -> None:
    for read in readers:
        read()


def take_violations() -> list[str]:
    read_pages()
    found = list(violations)
    violations.clear()
    return found

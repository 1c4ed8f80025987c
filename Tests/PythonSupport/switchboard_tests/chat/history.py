"""What clients did and were told, and the check of it.

The rules: an acknowledged message is in every member's pages, once, with its number, author and text; numbers are dense
and times do not fall; all readers have one order; what a listener holds is what the pages have; marks only rise; unread
counts are what the messages say, on every device.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MAX_UNREAD = 999


@dataclass
class Sent:
    """A message of which the server said that it is stored, with the last acknowledged text; None: deleted."""

    conversation: str
    author: str
    number: int
    text: str | None


class Held:
    """What a listener holds of a conversation, and what was wrong with what it received."""

    def __init__(self) -> None:
        self.messages: dict[int, dict[str, Any]] = {}
        self.last = 0
        # Where what is held begins. Earlier messages come only because they have changed, such as those of a time
        # before one left and returned, which were deleted.
        self.first = 0
        self.gaps: list[tuple[int, int]] = []
        # Passed over without notice, and not received since.
        self.missing: set[int] = set()
        self.violations: list[str] = []

    def reset(self) -> None:
        self.messages, self.last, self.first, self.gaps, self.missing = {}, 0, 0, [], set()

    def snapshot(self, messages: list[dict[str, Any]]) -> None:
        """A window of the newest messages; numbers between it and what is held are to be read."""
        first = min((one["number"] for one in messages), default=self.last + 1)
        if 0 < self.last < first - 1:
            self.gaps.append((self.last + 1, first - 1))
        self.first = self.first or first
        # What is between numbers of a window is not for the listener to see.
        self.last = max([self.last, *(one["number"] for one in messages)])
        self.rows(messages)

    def rows(self, messages: list[dict[str, Any]], gap: list[int] | None = None) -> None:
        if gap is not None:
            self.gaps.append((gap[0], gap[1]))
        for message in sorted(messages, key=lambda one: one["number"]):
            number = message["number"]
            known = self.messages.get(number)
            if known is not None:
                if known["clientID"] != message["clientID"]:
                    self.violations.append(f"{number} was {known['clientID']} and is {message['clientID']}")
                if known["version"] < message["version"]:
                    self.messages[number] = message
                continue
            if number > self.last:
                if self.last > 0:
                    self.missing |= {one for one in range(self.last + 1, number) if not self.is_in_gap(one)}
                self.last = number
            elif number in self.missing:
                self.missing.discard(number)
                # A changed message comes with its last change, in a later frame than those that were sent meanwhile.
                is_new = message["version"] == message["textVersion"]
                if is_new and "editedAt" not in message and "deletedAt" not in message:
                    self.violations.append(f"{number} came after {self.last}")
            self.messages[number] = message

    def is_in_gap(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.gaps)


@dataclass
class Reader:
    """What a member reads of a conversation in the end: all pages, the spans that may be seen, and the inbox's row."""

    user: str
    messages: list[dict[str, Any]]
    spans: list[dict[str, int]]
    row: dict[str, Any]

    @property
    def read(self) -> int:
        """Everything up to this number is read, or not the user's to see."""
        return max(self.row["membership"].get("read", 0), self.spans[-1]["from"])

    def may_see(self, number: int) -> bool:
        return any(span["from"] < number <= span.get("until", number) for span in self.spans)

    @property
    def is_inside(self) -> bool:
        return self.row["membership"]["state"] == "member"


@dataclass
class History:
    # By client id.
    sent: dict[str, Sent] = field(default_factory=dict)
    # Client ids of messages that were refused for good.
    refused: set[str] = field(default_factory=set)
    # What an actor found wrong with a response.
    violations: list[str] = field(default_factory=list)
    # Of each conversation, who was in it all the time first.
    readers: dict[str, list[Reader]] = field(default_factory=dict)
    # What each device holds, by its name and the conversation; and its row of the inbox.
    held: list[tuple[str, str, Held, dict[str, Any] | None]] = field(default_factory=list)


def check(history: History) -> list[str]:
    """What the history violates."""
    found = list(history.violations)
    for conversation, readers in history.readers.items():
        reference = readers[0]
        found += check_order(f"{conversation}, {reference.user}", reference.messages)
        found += check_sent(conversation, reference.messages, history)
        for reader in readers:
            found += [f"{conversation}: {what}" for what in check_reader(reader, reference)]
    for device, conversation, held, row in history.held:
        what = f"{conversation}, device {device}"
        found += [f"{what}: {one}" for one in held.violations]
        reader = next(one for one in history.readers[conversation] if device.startswith(one.user))
        if reader.is_inside:
            found += [f"{what}: {one}" for one in check_held(held, row, reader)]
    return found


def check_order(what: str, messages: list[dict[str, Any]]) -> list[str]:
    found = []
    numbers = [one["number"] for one in messages]
    if numbers != list(range(1, len(numbers) + 1)):
        found.append(f"{what}: the numbers are not dense: {numbers}")
    times = [one["sentAt"] for one in messages]
    found += [
        f"{what}: {number} was sent at {after}, before {before}"
        for number, before, after in zip(numbers[1:], times, times[1:], strict=False)
        if after < before
    ]
    ids = [one["clientID"] for one in messages]
    found += [f"{what}: {one} is there {ids.count(one)} times" for one in set(ids) if ids.count(one) > 1]
    return found


def check_sent(conversation: str, messages: list[dict[str, Any]], history: History) -> list[str]:
    found = []
    stored = {one["clientID"]: one for one in messages}
    for id, sent in history.sent.items():
        if sent.conversation != conversation:
            continue
        message = stored.get(id)
        if message is None:
            found.append(f"{conversation}: {id} was acknowledged as {sent.number} and is lost")
        elif (message["number"], message["author"], message.get("text")) != (sent.number, sent.author, sent.text):
            found.append(f"{conversation}: {id} is {message}, and was acknowledged as {sent}")
    for id in stored:
        if id in history.refused:
            found.append(f"{conversation}: {id} was refused and is there")
        elif id not in history.sent and stored[id]["kind"] != "notice":
            found.append(f"{conversation}: {id} was never sent")
    return found


def check_reader(reader: Reader, reference: Reader) -> list[str]:
    """One order and one content for all; who has left does not see what changed later."""
    found = []

    def is_of_closed_span(number: int) -> bool:
        return any("until" in span and span["from"] < number <= span["until"] for span in reader.spans)

    want = [one for one in reference.messages if reader.may_see(one["number"])]
    have = reader.messages
    if [one["number"] for one in have] != [one["number"] for one in want]:
        return [f"{reader.user} sees {[one['number'] for one in have]} of {[one['number'] for one in want]}"]
    for mine, theirs in zip(have, want, strict=True):
        number = mine["number"]
        # What was seen before leaving does not follow later changes.
        fields = ("number", "clientID", "author", "sentAt") if is_of_closed_span(number) else tuple(theirs)
        if {key: mine.get(key) for key in fields} != {key: theirs.get(key) for key in fields}:
            found.append(f"{reader.user} has {mine}, and {reference.user} {theirs}")
    if reader.is_inside:
        others = [one for one in have if one["number"] > reader.read and one["author"] != reader.user]
        unread = sum("deletedAt" not in one and one["kind"] != "notice" for one in others)
        if reader.row["unread"] != min(unread, MAX_UNREAD):
            found.append(f"{reader.user} has {unread} unread messages, and the inbox {reader.row['unread']}")
        last = reader.row.get("lastMessage", {}).get("number", 0)
        if last != (have[-1]["number"] if have else 0):
            found.append(f"the inbox of {reader.user} ends with {last}")
    return found


def check_held(held: Held, row: dict[str, Any] | None, reader: Reader) -> list[str]:
    """What a device of a member holds is what the pages have."""
    found = []
    pages = {one["number"]: one for one in reader.messages}
    found += [
        f"it has no {number}"
        for number in pages
        if number >= held.first > 0 and number not in held.messages and not held.is_in_gap(number)
    ]
    for number, message in held.messages.items():
        if not reader.may_see(number):
            continue
        if number not in pages:
            found.append(f"it has {number}, which is on no page")
        elif (message["clientID"], message["version"], message.get("text")) != (
            pages[number]["clientID"], pages[number]["version"], pages[number].get("text")
        ):
            found.append(f"it has {message}, and the page {pages[number]}")
    if row is not None and row != reader.row:
        found.append(f"its inbox has {row}, and the server's {reader.row}")
    return found

"""What each role receives of what others do in a conversation: one table of acts and of who is sent what.

Everybody has a session that listens to all streams that they may listen to. After each act it is compared what came:
with the long deadline for those who have to receive something, and for all others after a request of their own, whose
result and row come after whatever was on its way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from switchboard_tests.calls import GENEROUS
from switchboard_tests.conversation_roles import INSIDE, LIMITS, ONE, ROLES, SIGNED_OUT, Harness, group_of_roles
from switchboard_tests.conversations import befriend, create
from switchboard_tests.endpoint import Endpoint, client_id
from switchboard_tests.server import User
from switchboard_tests.waiting import SILENCE

LATER = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
WAITING = client_id()
# Beside those of the access matrix.
NEWCOMER = "newcomer"
ALL = INSIDE
# Who sees ONE as it is now: `returned` sees it as it was when they left, and only a deletion reaches them.
SEE_ONE = {"owner", "admin", "member", "blocked"}
STAYING = ALL - {"returned"}
# Those whose own stream has a call of the owner.
RUNG = STAYING - {"blocked"}
# Each row: what somebody does, and of what it sends, to whom. Whoever is not named receives nothing: most of all the
# former, the invited, who declined, and who was never in it. The invited are sent what they see of the group, its name,
# settings, timer and number of members; `inbox` is a row without a last message, and `inbox 9` one with the ninth.
# The one who has blocked the owner is sent what the owner does in a group: their clients collapse it.
ACTS: list[tuple[str, str, dict[str, Any], dict[str, set[str]]]] = [
    ("member", "messages.send", {"clientID": "{new}", "text": "four"}, {"message 9: four": ALL, "inbox 9": ALL}),
    ("owner", "messages.send", {"clientID": "{new}", "text": "five"}, {"message 10: five": ALL, "inbox 10": ALL}),
    (
        "owner", "messages.edit", {"number": 10, "text": "five again", "textVersion": 0},
        {"message 10: five again": ALL, "inbox 10": ALL},
    ),
    (
        "owner", "messages.edit", {"number": ONE, "text": "one again", "textVersion": 0},
        {"message 3: one again": SEE_ONE, "inbox 10": ALL},
    ),
    (
        "owner", "messages.setLanguage", {"number": 10, "language": "es"},
        {"message 10: five again": ALL, "inbox 10": ALL},
    ),
    (
        "member", "messages.react", {"number": 10, "emoji": "👍"},
        {"message 10: five again 👍": ALL, "own 10": {"member"}, "inbox 10": ALL},
    ),
    (
        "member", "messages.removeReaction", {"number": 10, "emoji": "👍"},
        {"message 10: five again": ALL, "own 10": {"member"}, "inbox 10": ALL},
    ),
    (
        "member", "messages.react", {"number": ONE, "emoji": "👍"},
        {"message 3: one again 👍": SEE_ONE, "own 3": {"member"}, "inbox 10": ALL},
    ),
    # That something is pinned is shown to all, and the number to whoever sees the message.
    (
        "owner", "messages.pin", {"number": ONE},
        {"conversation": ALL, "pin 3": SEE_ONE | {"returned"}, "message 11: pinned": ALL, "inbox 11": ALL},
    ),
    ("member", "messages.unpin", {"number": ONE}, {"conversation": ALL, "inbox 11": ALL}),
    ("member", "typing.note", {}, {"typing of member": ALL - {"member"}}),
    ("owner", "typing.note", {}, {"typing of owner": ALL - {"owner"}}),
    ("blocked", "typing.note", {}, {"typing of blocked": ALL - {"blocked"}}),
    (
        "member", "conversations.mark", {"read": 11},
        {"own marks": {"member"}, "marks of member": ALL - {"member"}, "inbox 11": {"member"}},
    ),
    (
        "owner", "conversations.mark", {"read": 11},
        {"own marks": {"owner"}, "marks of owner": ALL - {"owner"}, "inbox 11": {"owner"}},
    ),
    (
        "blocked", "conversations.mark", {"read": 11},
        {"own marks": {"blocked"}, "marks of blocked": ALL - {"blocked"}, "inbox 11": {"blocked"}},
    ),
    (
        "owner", "conversations.update", {"name": "Renamed"},
        {"conversation": ALL, "message 12: renamed": ALL, "inbox 12": ALL, "inbox": {"invited"}},
    ),
    (
        "owner", "conversations.update", {"settings": {"rename": "members"}},
        {"conversation": ALL, "message 13: settings": ALL, "inbox 13": ALL, "inbox": {"invited"}},
    ),
    (
        "owner", "conversations.update", {"disappearAfter": 86_400},
        {"conversation": ALL, "message 14: disappearing": ALL, "inbox 14": ALL, "inbox": {"invited"}},
    ),
    (
        "owner", "members.update", {"user": "{member}", "role": "admin"},
        {"member member": ALL, "message 15: role": ALL, "inbox 15": ALL},
    ),
    (
        "owner", "members.update", {"user": "{member}", "role": "member"},
        {"member member": ALL, "message 16: role": ALL, "inbox 16": ALL},
    ),
    ("admin", "messages.delete", {"number": 9, "for": "all"}, {"message 9: deleted": ALL, "inbox 16": ALL}),
    (
        "owner", "messages.delete", {"number": ONE, "for": "all"},
        {"message 3: deleted": SEE_ONE | {"returned"}, "inbox 16": ALL},
    ),
    (
        "owner", "members.add", {"members": ["{newcomer}"]},
        {
            "conversation": ALL, "member newcomer": ALL, "message 17: added": ALL, "inbox 17": ALL | {NEWCOMER},
            "inbox": {"invited"},
        },
    ),
    (
        "member", "messages.send", {"clientID": "{new}", "text": "six"},
        {"message 18: six": ALL | {NEWCOMER}, "inbox 18": ALL | {NEWCOMER}},
    ),
    # Who has declined is invited for all others to see.
    (
        "owner", "members.add", {"members": ["{declined}"]},
        {"conversation": ALL | {NEWCOMER}, "member declined": ALL | {NEWCOMER}, "inbox 18": ALL | {NEWCOMER}},
    ),
    (
        "owner", "members.remove", {"user": "{newcomer}"},
        {
            "conversation": ALL, "member newcomer": ALL, "message 19: removed": ALL, "inbox 19": ALL,
            "inbox": {"invited"}, "inbox 18": {NEWCOMER}, "reset of conversation": {NEWCOMER},
            "reset of typing": {NEWCOMER}, "reset of marks": {NEWCOMER},
        },
    ),
    ("member", "messages.send", {"clientID": "{new}", "text": "seven"}, {"message 20: seven": ALL, "inbox 20": ALL}),
    (
        "returned", "members.leave", {},
        {
            "conversation": STAYING, "member returned": STAYING, "message 21: left": STAYING, "inbox 21": STAYING,
            "inbox": {"invited"}, "inbox 20": {"returned"}, "reset of conversation": {"returned"},
            "reset of typing": {"returned"}, "reset of marks": {"returned"},
        },
    ),
    # Of what they saw last, those who have left are sent a deletion and nothing else.
    (
        "member", "messages.edit", {"number": 20, "text": "seven again", "textVersion": 0},
        {"message 20: seven again": STAYING, "inbox 21": STAYING},
    ),
    (
        "owner", "messages.delete", {"number": 20, "for": "all"},
        {"message 20: deleted": STAYING, "inbox 21": STAYING, "inbox 20": {"returned"}},
    ),
    # Who has blocked the caller sees that there is a call, and is not rung.
    (
        "owner", "calls.create", {"clientID": "{new}", "kind": "audio"},
        {
            "message 22: call ringing": STAYING, "conversation": STAYING, "inbox 22": STAYING, "user call": RUNG,
            "call": RUNG - {"owner"},
        },
    ),
    (
        "owner", "calls.end", {"call": "{call}"},
        {
            "message 22: call ended": STAYING, "conversation": STAYING, "inbox 22": STAYING, "user call": RUNG,
            "call": RUNG - {"owner"},
        },
    ),
    # What is one's own.
    ("member", "members.updateMe", {"draft": {"text": "not yet", "revision": 1}}, {"inbox 22": {"member"}}),
    ("member", "members.updateMe", {"markedUnread": True}, {"inbox 22": {"member"}}),
    ("member", "messages.star", {"number": 18}, {"own 18": {"member"}}),
    ("member", "messages.unstar", {"number": 18}, {"own 18": {"member"}}),
    ("member", "messages.send", {"clientID": WAITING, "text": "later", "sendAt": LATER}, {"scheduled": {"member"}}),
    ("member", "scheduled.update", {"clientID": WAITING, "text": "much later"}, {"scheduled": {"member"}}),
    ("member", "scheduled.delete", {"clientID": WAITING}, {"scheduled": {"member"}}),
    (
        "member", "messages.delete", {"number": 18, "for": "me"},
        {"own 18": {"member"}, "snapshot of conversation": {"member"}, "inbox 22": {"member"}},
    ),
    (
        "joined later", "conversations.clear", {},
        {
            "snapshot of conversation": {"joined later"}, "snapshot of marks": {"joined later"},
            "inbox": {"joined later"},
        },
    ),
    (
        "cleared", "conversations.delete", {"for": "me"},
        {"snapshot of conversation": {"cleared"}, "snapshot of marks": {"cleared"}, "inbox gone": {"cleared"}},
    ),
    # It is read where it is shown.
    ("owner", "glossary.set", {"terms": [{"source": "ward", "target": "sala", "language": "es"}]}, {}),
    ("owner", "links.create", {}, {}),
    (
        "invited", "members.accept", {},
        {
            "conversation": STAYING, "member invited": STAYING, "message 23: joined": STAYING,
            "inbox 23": STAYING | {"invited"},
        },
    ),
    (
        "blocked", "messages.send", {"clientID": "{new}", "text": "eight"},
        {"message 24: eight": STAYING | {"invited"}, "inbox 24": STAYING | {"invited"}},
    ),
    (
        "owner", "conversations.handOver", {"user": "{admin}"},
        {
            "member owner": STAYING | {"invited"}, "member admin": STAYING | {"invited"},
            "message 25: owner": STAYING | {"invited"}, "inbox 25": STAYING | {"invited"},
        },
    ),
]
# What changes something and is not among them, with the reason.
ELSEWHERE = {
    "conversations.create": "another conversation", "links.join": "as members.accept",
    "members.decline": "as members.leave", "links.remove": "as links.create",
    "messages.listen": "as messages.star, of a voice message",
    "messages.transcribe": "test_voice.py", "translations.request": "test_translations.py",
    "summaries.create": "stores nothing for others", "hints.request": "test_hints.py",
    "drafts.check": "stores nothing", "drafts.rewrite": "stores nothing", "replies.suggest": "stores nothing",
}
# Who is in it after which of the acts, and who no more.
ENTERS = {"members.add": NEWCOMER, "members.accept": "invited"}
LEAVES = {"members.remove": NEWCOMER, "members.leave": "returned"}


class Listener(Endpoint):
    """Somebody's session, with what it is sent of the conversation."""

    def __init__(self, harness: Harness, user: User) -> None:
        super().__init__(user.server.realtime_url, user.id, user.token)
        self.harness = harness
        self.roles = {who.id: role for role, who in harness.people.items() if who is not None}
        self.notes = create(user, "self").json()["conversation"]["id"]
        self.is_pinned = False
        self.received: set[str] = set()

    async def handle(self, frame: dict[str, Any]) -> None:
        if "stream" in frame:
            self.received.update(self.names(frame))
        await super().handle(frame)

    def names(self, frame: dict[str, Any]) -> Iterator[str]:
        """What the frame tells, as the table names it. Rows that are left out for the listener leave an empty frame."""
        kind, about = frame["stream"].split(":")[:2]
        if kind == "call":
            # What the call's own stream tells is tested with calls.
            yield kind
            return
        if about not in (self.harness.here, self.user):
            yield frame["stream"]
        if "snapshot" in frame:
            yield f"snapshot of {kind}"
        if "reset" in frame:
            yield f"reset of {kind}"
        if "event" in frame:
            yield f"{kind} of {self.roles[frame['event']['user']]}"
        for change in frame.get("changes", []):
            yield f"{kind} {change['type']}"
        for row in frame.get("rows", []):
            if kind == "inbox":
                yield from self.names_of_inbox(row)
            else:
                yield from self.names_of_row(row)

    def names_of_inbox(self, row: dict[str, Any]) -> Iterator[str]:
        if row["id"] == self.harness.here:
            last = row.get("lastMessage", {}).get("number", "gone" if row.get("gone") else "")
            yield f"inbox {last}".strip()
        elif row["id"] != self.notes:
            yield f"inbox of {row['id']}"

    def names_of_row(self, row: dict[str, Any]) -> Iterator[str]:
        match row:
            case {"message": message}:
                what = "deleted" if "deletedAt" in message else message.get("text", "")
                if "notice" in message:
                    what = message["notice"]["kind"]
                elif "call" in message:
                    what = f"call {message['call']['state']}"
                yield " ".join([f"message {message['number']}: {what}", *message.get("reactions", {})])
            case {"member": member}:
                yield f"member {self.roles[member['user']]}"
            case {"conversation": conversation}:
                yield "conversation"
                yield from (f"pin {number}" for number in conversation["pins"])
            case {"marks": marks}:
                yield "own marks" if "read" in marks else f"marks of {self.roles[marks['user']]}"
            case {"own": own}:
                yield f"own {own['number']}"
            case _:
                yield from row

    async def listens(self) -> bool:
        """Listens to the conversation as far as the user may; whether they may. It is the same for all its streams."""
        streams = [f"{kind}:{self.harness.here}" for kind in ("conversation", "typing", "marks")]
        found = {await self.listen(stream) is not None for stream in streams}
        assert len(found) == 1, (self.roles[self.user], found)
        return found.pop()

    async def has(self, names: set[str]) -> None:
        await self.until(f"{names}", lambda: names <= self.received)

    async def settle(self) -> None:
        """A request, and the row of the inbox that it moves, come after all that was on its way."""
        self.is_pinned = not self.is_pinned
        await self.ask("members.updateMe", conversation=self.notes, pinned=self.is_pinned)

        def is_there() -> bool:
            rows = [row for row in self.streams[f"inbox:{self.user}"].rows if row["id"] == self.notes]
            return bool(rows) and rows[-1]["membership"]["pinned"] == self.is_pinned

        await self.until("the row of the own notes", is_there)
        await asyncio.sleep(SILENCE)


@pytest.fixture(scope="module")
def harness(make_server) -> Harness:
    limits = GENEROUS["limits"] | LIMITS
    server = make_server({"limits": limits, "languages": {"apertium": False}})
    harness = group_of_roles(server, ROLES.keys() - SIGNED_OUT)
    newcomer = harness.people[NEWCOMER] = server.user()
    owner = harness.people["owner"]
    assert owner is not None
    befriend(owner, newcomer)
    return harness


def test_the_table_is_complete(harness):
    prefixes = ("conversations.", "members.", "messages.", "typing.", "links.", "scheduled.", "translations.",
                "glossary.", "summaries.", "hints.", "drafts.", "replies.")
    changing = {name for name, (method, _) in harness.routes.items() if name.startswith(prefixes) and method != "GET"}
    assert changing == ({operation for _, operation, _, _ in ACTS} | set(ELSEWHERE)) - {"calls.create", "calls.end"}


def act(harness: Harness, role: str, operation: str, values: dict[str, Any]) -> None:
    owner = harness.people["owner"]
    assert owner is not None
    if "textVersion" in values:
        found = owner.get(f"/v1/conversations/{harness.here}/messages/{values['number']}").json()
        values = values | {"textVersion": found["message"]["textVersion"]}
    response = harness.ask(role, operation, values | ({"call": harness.call} if "call" in values else {}))
    assert response.status_code < 300, (role, operation, response.text)
    if operation == "calls.create":
        harness.call = response.json()["call"]["id"]


def test_each_act_is_sent_to_whom_it_concerns(harness):
    inside = set(INSIDE)

    async def run() -> None:
        listeners = {role: Listener(harness, user) for role, user in harness.people.items()}
        for listener in listeners.values():
            await listener.open()
            for stream in ("inbox", "user"):
                assert await listener.listen(f"{stream}:{listener.user}") is not None
        for role, operation, values, sent in ACTS:
            listening = await asyncio.gather(*[listener.listens() for listener in listeners.values()])
            assert {one for one, may in zip(listeners, listening, strict=True) if may} == inside
            for listener in listeners.values():
                listener.received.clear()
            await asyncio.to_thread(act, harness, role, operation, values)
            expected = {one: {name for name, roles in sent.items() if one in roles} for one in listeners}
            await asyncio.gather(*[listener.has(expected[one]) for one, listener in listeners.items()])
            await asyncio.gather(*[listener.settle() for listener in listeners.values()])
            found = {one: listener.received for one, listener in listeners.items()}
            assert found == expected, (role, operation, values)
            if operation in ENTERS:
                inside.add(ENTERS[operation])
            inside.discard(LEAVES.get(operation, ""))
        for listener in listeners.values():
            assert listener.violations == []
            await listener.close()

    asyncio.run(run())

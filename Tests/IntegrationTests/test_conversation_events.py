"""What each role receives of what others do in a conversation: one table of acts and of who is sent what.

Everybody has a session that listens to all streams that they may listen to. After each act it is compared what came.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from switchboard_tests.calls import GENEROUS
from switchboard_tests.conversation_listeners import KINDS, Act, compare
from switchboard_tests.conversation_roles import INSIDE, LIMITS, ONE, ROLES, SIGNED_OUT, Harness, group_of_roles
from switchboard_tests.conversations import befriend, create, direct, send
from switchboard_tests.endpoint import client_id

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
ACTS: list[Act] = [
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


def test_each_act_is_sent_to_whom_it_concerns(harness):
    inside = set(INSIDE)

    def done(operation: str) -> None:
        if operation in ENTERS:
            inside.add(ENTERS[operation])
        inside.discard(LEAVES.get(operation, ""))

    asyncio.run(compare(harness, ACTS, lambda role: set(KINDS) if role in inside else set(), done))


# Of two people, of whom one has blocked the other: what the blocked one does is sent to themselves alone.
BLOCKED, READER = {"blocked"}, {"reader"}
BOTH = BLOCKED | READER
WITHHELD: list[Act] = [
    (
        "blocked", "messages.send", {"clientID": "{new}", "text": "three"},
        {"message 3: three": BLOCKED, "inbox 3": BLOCKED},
    ),
    (
        "blocked", "messages.edit", {"number": 1, "text": "one again", "textVersion": 0},
        {"message 1: one again": BLOCKED, "inbox 3": BLOCKED},
    ),
    (
        "blocked", "messages.react", {"number": 2, "emoji": "👍"},
        {"message 2: two 👍": BLOCKED, "own 2": BLOCKED, "inbox 3": BLOCKED},
    ),
    (
        "blocked", "messages.pin", {"number": 2},
        {
            "conversation": BLOCKED, "pin 2": BLOCKED, "message 4: pinned": BLOCKED, "inbox 4": BLOCKED,
        },
    ),
    (
        "blocked", "messages.unpin", {"number": 2},
        {"conversation": BLOCKED, "inbox 4": BLOCKED},
    ),
    ("blocked", "typing.note", {}, {}),
    ("blocked", "conversations.mark", {"read": 2}, {"own marks": BLOCKED, "inbox 4": BLOCKED}),
    (
        "blocked", "conversations.update", {"disappearAfter": 86_400},
        {
            "conversation": BLOCKED, "message 5: disappearing": BLOCKED, "inbox 5": BLOCKED,
        },
    ),
    (
        "blocked", "calls.create", {"clientID": "{new}", "kind": "audio"},
        {
            "message 6: call ringing": BLOCKED, "conversation": BLOCKED, "inbox 6": BLOCKED, "user call": BLOCKED,
        },
    ),
    (
        "blocked", "calls.end", {"call": "{call}"},
        {
            "message 6: call ended": BLOCKED, "conversation": BLOCKED, "inbox 6": BLOCKED, "user call": BLOCKED,
        },
    ),
    (
        "blocked", "messages.delete", {"number": 3, "for": "all"}, {"message 3: deleted": BLOCKED, "inbox 6": BLOCKED},
    ),
    # A deletion reaches whoever has the message.
    (
        "blocked", "messages.delete", {"number": 1, "for": "all"},
        {"message 1: deleted": BOTH, "inbox 6": BLOCKED, "inbox 2": READER},
    ),
    ("reader", "typing.note", {}, {}),
    ("reader", "conversations.mark", {"read": 2}, {"own marks": READER, "inbox 2": READER}),
]
# A request: who is asked sees what is written, and the two are told nothing else of each other.
ASKER, ASKED = {"asker"}, {"asked"}
REQUEST: list[Act] = [
    (
        "asker", "messages.send", {"clientID": "{new}", "text": "please"},
        {"message 2: please": ASKER | ASKED, "inbox 2": ASKER | ASKED},
    ),
    ("asker", "typing.note", {}, {}),
    ("asker", "conversations.mark", {"read": 2}, {"own marks": ASKER, "inbox 2": ASKER}),
    ("asked", "conversations.mark", {"read": 2, "delivered": 2}, {"own marks": ASKED, "inbox 2": ASKED}),
    (
        "asker", "messages.delete", {"number": 1, "for": "all"},
        {"message 1: deleted": ASKER | ASKED, "inbox 2": ASKER | ASKED},
    ),
    # Declining is silent.
    (
        "asked", "members.decline", {},
        {"reset of conversation": ASKED, "reset of marks": ASKED, "inbox gone": ASKED},
    ),
    (
        "asker", "messages.send", {"clientID": "{new}", "text": "still"},
        {"message 3: still": ASKER, "inbox 3": ASKER},
    ),
]


def test_what_the_blocked_do_is_sent_to_themselves(harness):
    blocked, reader, other = harness.server.users(3)
    befriend(blocked, reader)
    here = direct(blocked, reader)
    send(blocked, here, "one")
    send(reader, here, "two")
    assert reader.request("PUT", f"/v1/blocks/{blocked.id}").status_code == 204
    people = {"blocked": blocked, "reader": reader, "other": other}
    two = Harness(harness.server, here, people, harness.routes)
    asyncio.run(compare(two, WITHHELD, lambda role: set(KINDS) if role in BOTH else set()))


def test_a_request_is_sent_what_is_written(harness):
    asker, asked, other = harness.server.users(3)
    here = create(asker, "direct", [asked]).json()["conversation"]["id"]
    send(asker, here, "may I?")
    two = Harness(harness.server, here, {"asker": asker, "asked": asked, "other": other}, harness.routes)
    kinds = {"asker": set(KINDS), "asked": {"conversation", "marks"}, "other": set()}

    def done(operation: str) -> None:
        if operation == "members.decline":
            kinds["asked"] = set()

    asyncio.run(compare(two, REQUEST, kinds.__getitem__, done))

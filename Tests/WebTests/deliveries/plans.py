"""Plans: what users do and what happens to the pages, one after the other, as a generator makes them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from deliveries.commands import BURST, DIRECT, GROUP, KINDS, Command


@dataclass(frozen=True)
class Step:
    """Something that a page of the first user does, or that happens to it. What a kind has no use for is ignored."""

    page: int
    kind: str
    where: int
    back: int
    action: str
    order: list[int]

    def __repr__(self) -> str:
        more = {"act": f", {self.action!r}", "release": f", {self.order}", "lose": f", {self.stream!r}"}
        return f"Step({self.page}, {self.kind!r}, {self.where}, {self.back}{more.get(self.kind, '')})"

    @property
    def stream(self) -> str:
        """The kind of a stream."""
        return ["conversation", "inbox", "marks"][len(self.order) % 3]


# How one of what is held is delivered, added to its index among those that may be next: see delivery.js.
TWICE, NEVER = 4, 8
ACTIONS = ["send", "edit", "delete", "hide", "react", "unreact", "star", "unstar", "pin", "unpin", "mute", "archive", "restore"]
STEPS = [
    "act", "act", "act", "act", "open", "open", "close", "earlier", "earlier", "earlier", "later", "newest", "archived",
    "more", "more", "bound", "bound",
    "show", "show", "read", "read", "hold", "hold", "hold", "release", "release", "release", "cut", "cut", "connect", "connect",
    "connect", "pass", "pass", "repeat", "repeat", "crash", "reopen", "reopen", "lose",
]


def command(kind: str, user: int, other: int = 0, where: int = GROUP, back: int = 60) -> Command:
    return Command(kind, user, other, where, back)


def step(kind: str, page: int = 0, where: int = GROUP, back: int = 0, action: str = "", order: tuple[int, ...] | list[int] = ()) -> Step:
    return Step(page, kind, where, back, action, list(order))


BACKS = st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 9, 51, 53, BURST + 4])
WHERE = st.sampled_from([GROUP, GROUP, GROUP, DIRECT])
COMMANDS = st.builds(Command, st.sampled_from(KINDS), st.integers(0, 2), st.integers(0, 2), WHERE, BACKS)
ORDERS = st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, TWICE, TWICE + 1, NEVER, NEVER, NEVER + 1]), min_size=2, max_size=12)
PAGES = st.sampled_from([0, 0, 0, 1])
PAGE_STEPS = st.builds(Step, PAGES, st.sampled_from(STEPS), WHERE, BACKS, st.sampled_from(ACTIONS), ORDERS)

# Chance rarely makes things happen together that have to. These do, by what they are about.

NEW = st.sampled_from([0, 0, 1, 2])
# Of these all learn, or the first user alone.
CHANGES = st.sampled_from(["edit", "react", "delete", "edit", "react", "unreact"])
NOTES = st.sampled_from(["star", "unstar", "react", "unreact", "hide"])
OTHERS = st.integers(1, 2)


def changes(backs: st.SearchStrategy[int]) -> st.SearchStrategy[Command]:
    """A change of a message, or a note of the first user on it."""
    return st.one_of(
        st.builds(Command, CHANGES, OTHERS, st.integers(0, 1), st.just(GROUP), backs),
        st.builds(Command, NOTES, st.just(0), st.integers(0, 1), st.just(GROUP), backs),
    )


def several(one: st.SearchStrategy[Command], least: int = 1, most: int = 3) -> st.SearchStrategy[list[Command]]:
    return st.lists(one, min_size=least, max_size=most)


# A message that is new, and what changes it or the list.
CHANGED = st.builds(
    lambda kind, user, where: [command("send", 1, where=where), command(kind, user, where=where, back=0)],
    st.sampled_from(["edit", "react", "delete", "hide", "star", "mark"]), st.integers(0, 1), WHERE)
# The same is changed and changed back, and frames of it come again.
TURNED = st.builds(
    lambda kinds, user, where, back, again: [
        *(command(kind, user if kinds[0] == "react" else 0, index, where, back) for index, kind in enumerate(kinds)),
        *(step("repeat", back=one) for one in again),
    ],
    st.sampled_from([
        ("star", "unstar"), ("unstar", "star"), ("react", "unreact"), ("archive", "restore"), ("mute", "mute"), ("unread", "unread"),
    ]),
    st.integers(0, 1), WHERE, NEW, st.lists(st.integers(0, 3), max_size=3))


def commands(kinds: list[str], users: st.SearchStrategy[int], where: st.SearchStrategy[int]) -> st.SearchStrategy[list[Command]]:
    return several(st.builds(Command, st.sampled_from(kinds), users, st.integers(0, 2), where, NEW), 2, 4)


# Frames of one stream whose rows are not the same, and some of them never come.
STREAMS = st.one_of(
    commands(["edit", "react", "delete", "rename", "send", "pin"], OTHERS, st.just(GROUP)),
    commands(["star", "unstar", "hide", "react"], st.just(0), st.just(GROUP)),
    commands(["mute", "unread", "archive", "restore", "send"], st.integers(0, 1), WHERE),
)
LOST = st.builds(
    lambda page, some, order: [step("hold", page), *some, step("release", page, order=[*order, NEVER, NEVER])],
    PAGES, STREAMS, st.lists(st.sampled_from([NEVER, NEVER, NEVER + 1, 0]), min_size=1, max_size=3))
# A page of messages is asked for, and comes after changes of them.
OVERTAKEN = st.sampled_from([
    ([step("newest")], step("earlier"), [50, 51, 52, 53, 54]),
    ([step("newest")], step("show", back=55), [53, 54, 55, 56, 57]),
    ([step("show", back=57)], step("later"), [50, 51, 52, 53, 54]),
]).flatmap(lambda parts: several(changes(st.sampled_from(parts[2])), 2, 4).map(
    lambda some: [*parts[0], step("hold"), parts[1], *some, step("release", order=[1] * 9)]))
# The page opens what is on the disk, of which it shows the newest alone, and what is before that changes.
ON_DISK = st.builds(
    lambda opening, some, closing: [step("pass"), *opening, *some, *closing],
    st.sampled_from([[step("close"), step("open")], [step("reopen"), step("open")], [step("close"), step("cut")]]),
    several(changes(st.integers(8, 48)), 1, 4),
    st.sampled_from([[], [step("pass")], [step("connect"), step("open"), step("pass")], [step("earlier"), step("pass")]]))
# Much is held, and what is far from the page is forgotten, changes, and is read again.
BOUNDED = st.builds(
    lambda opening, back, some, closing: [*opening, step("bound", back=back), *some, *closing],
    st.sampled_from([[step("earlier")], [step("show", back=55)], [step("earlier"), step("earlier")]]),
    st.sampled_from([0, 3, 20, 40]), several(changes(st.integers(8, 54))),
    st.sampled_from([
        [], [step("earlier")], [step("show", back=30), step("later")], [step("pass"), step("reopen"), step("open")],
        [step("bound", back=0)],
    ]))
# A page of the list is asked for, and comes after changes of its rows.
LISTED = commands(["send", "mark", "mute", "unread", "archive", "restore"], st.just(0), WHERE).map(
    lambda some: [step("hold"), step("more"), *some, step("release", order=[1] * 9)])
# What has no history changes while the page is offline; some of its streams cannot be resumed.
LOSSES = [step("lose"), step("lose", order=[0]), step("lose", order=[0, 0])]
MISSED = st.builds(
    lambda some, losses: [step("cut"), *some, *losses, step("connect")],
    commands(["schedule", "mark", "mark", "star", "unstar", "receipts", "send"], st.integers(0, 2), WHERE),
    st.lists(st.sampled_from(LOSSES), max_size=2))
# What a page does meanwhile: it is there, away, behind, about to close, or closed.
MEANWHILE = st.sampled_from([[], [], [step("cut")], [step("hold")], [step("close")], [step("reopen")], [step("pass")], [step("crash")],
    [step("read")], [step("show", back=20)], [step("earlier")], [step("act", action="send")], [step("act", action="star")]])
# Messages that disappear, alone or with others that stay, also out of sight.
GONE = st.builds(
    lambda where, before, some, meanwhile, how, after: [
        *before, command("disappear", 0, 0, where), *some, *meanwhile, how, *after],
    WHERE, st.sampled_from([[], [step("pass")]]),
    commands(["send", "send", "reply", "edit", "react", "star", "pin", "burst", "hide", "mark", "thread"], st.integers(0, 1), WHERE),
    MEANWHILE, st.sampled_from([command("expire", 0), command("expire", 0, 1), command("expire", 0, 2), command("wait", 0)]),
    st.sampled_from([[], [step("pass")], [step("reopen")], [step("connect")], [step("earlier")], [step("bound", back=3)]]))
# A backup is put back: the server has none of what was done since, and the page may have done it.
UNDONE = st.builds(
    lambda before, some, meanwhile, after, then: [
        *before, command("backUp", 0), *some, *meanwhile, command("restoreBackup", 0), *after, *then],
    MEANWHILE,
    st.one_of(
        commands(["send", "edit", "delete", "react", "star", "unstar", "hide", "mark", "burst", "pin", "schedule"], st.integers(0, 1), WHERE),
        commands(["leave", "remove", "add", "rename", "clear", "forget", "archive", "restore", "mute", "block", "disappear"], st.integers(0, 1), WHERE),
    ),
    MEANWHILE,
    commands(["send", "send", "edit", "react", "mark", "star", "archive"], st.integers(0, 1), WHERE),
    MEANWHILE)
TOGETHER = st.one_of(CHANGED, TURNED, LOST, OVERTAKEN, ON_DISK, BOUNDED, LISTED, MISSED, GONE, UNDONE)

PARTS = st.lists(
    st.one_of(COMMANDS.map(lambda one: [one]), COMMANDS.map(lambda one: [one]), PAGE_STEPS.map(lambda one: [one]), TOGETHER),
    min_size=4, max_size=10,
).map(lambda parts: [one for part in parts for one in part])
# What comes late is held, or what was missed is much.
BEGINNINGS = [[], [step("cut")], [step("hold")], [step("hold"), step("earlier")]]
ENDINGS = st.one_of(
    st.sampled_from([[], [command("burst", 1), step("connect")], [step("connect")]]),
    ORDERS.map(lambda order: [step("release", order=order)]),
)
PLANS = st.tuples(TOGETHER, PARTS, st.sampled_from(BEGINNINGS), PARTS, ENDINGS, TOGETHER, PARTS).map(
    lambda parts: [step("pass"), *(one for part in parts for one in part)])

"""state/inbox-rows.js: the rows of the list of conversations, and their order. state/inbox-times.js: what time changes in them."""

import random

import pytest


def row(id, counter, activity=0, **more):
    membership = {"pinned": False, "archived": False} | more.pop("membership", {})
    return {"id": id, "counter": counter, "activity": activity, "membership": membership, "unread": 0, "mentions": 0} | more


LISTED = """
    const { emptyInbox, applyInboxSnapshot, applyInboxRows, applyInboxPage, listedRows } = await load("state/inbox-rows.js");
    const shown = (inbox) => listedRows(inbox).map((one) => [one.id, one.counter]);
"""


def test_pinned_rows_come_first_then_the_most_active_then_by_id(run):
    rows = [
        row("a", 1, 5), row("b", 2, 9), row("c", 3, 5), row("d", 4, 1, membership={"pinned": True}),
        row("e", 5, 20, membership={"archived": True}), {"id": "f", "counter": 6, "gone": True},
    ]
    script = LISTED + "return shown(applyInboxSnapshot(emptyInbox(), { conversations: rows }));"
    assert run(script, rows=rows) == [["d", 4], ["b", 2], ["c", 3], ["a", 1]]


@pytest.mark.parametrize("seed", range(3))
def test_rows_in_any_order_and_twice_are_the_latest_of_each(run, seed):
    print("seed", seed)
    generator = random.Random(seed)
    rows = [row(generator.choice("abcd"), counter, counter) for counter in range(1, 40)]
    latest = {one["id"]: one["counter"] for one in rows}
    delivered = rows + generator.sample(rows, 20)
    generator.shuffle(delivered)
    script = LISTED + """
        let inbox = applyInboxSnapshot(emptyInbox(), { conversations: [] });
        for (const one of delivered) inbox = applyInboxRows(inbox, [one]);
        return shown(inbox);
    """
    assert run(script, delivered=delivered) == [list(one) for one in sorted(latest.items(), key=lambda one: -one[1])]


def test_a_snapshot_replaces_rows_and_a_page_adds_them(run):
    script = LISTED + """
        const first = applyInboxSnapshot(emptyInbox(), { conversations: [old, newest], nextCursor: "next" });
        const paged = applyInboxPage(first, { conversations: [earlier, { ...newest, counter: 1 }] });
        const again = applyInboxSnapshot(paged, { conversations: [{ ...newest, counter: 2 }] });
        const restored = applyInboxSnapshot(paged, { conversations: [{ ...newest, counter: 2 }] }, { isNewEpoch: true });
        return [first.nextCursor, shown(paged), paged.nextCursor, shown(again), shown(restored)];
    """
    values = {"old": row("old", 3, 3), "newest": row("new", 9, 9), "earlier": row("earlier", 1, 1)}
    assert run(script, **values) == ["next", [["new", 9], ["old", 3], ["earlier", 1]], None, [["new", 9]], [["new", 2]]]


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([row("a", 1, unread=2), row("b", 2)], 1),
        ([row("a", 1, membership={"markedUnread": True})], 1),
        # A muted one counts for a mention, unless that is muted too; until the time is over.
        ([row("a", 1, unread=2, membership={"muted": {"mentions": True}})], 0),
        ([row("a", 1, unread=2, mentions=1, membership={"muted": {"mentions": True}})], 1),
        ([row("a", 1, unread=2, mentions=1, membership={"muted": {"mentions": False}})], 0),
        ([row("a", 1, unread=2, membership={"muted": {"mentions": True, "until": "2026-01-01T00:00:00Z"}})], 1),
    ],
)
def test_unread_conversations(run, rows, count):
    assert run("""
        const { emptyInbox, applyInboxRows, unreadConversations } = await load("state/inbox-rows.js");
        const { inboxAt } = await load("state/inbox-times.js");
        return unreadConversations(inboxAt(applyInboxRows(emptyInbox(), rows), Date.parse("2026-06-01T00:00:00Z"), { me: "me" }));
    """, rows=rows) == count


def test_what_was_on_the_screen_is_not_unread_before_the_server_has_counted(run):
    script = """
        const { emptyInbox, applyInboxRows, notedRead, unreadConversations, unreadOf } = await load("state/inbox-rows.js");
        let inbox = notedRead(applyInboxRows(emptyInbox(), [row]), "a", 7);
        const seen = [unreadConversations(inbox), unreadOf(inbox, inbox.rows.a).mentions, notedRead(inbox, "a", 6) === inbox];
        inbox = applyInboxRows(inbox, [{ ...row, counter: 2, lastMessage: { number: 8 } }]);
        return [...seen, unreadConversations(inbox)];
    """
    assert run(script, row=row("a", 1, unread=2, mentions=1, lastMessage={"number": 7})) == [0, 0, True, 1]


TIMES = """
    const { emptyInbox, applyInboxRows, isMuted } = await load("state/inbox-rows.js");
    const { inboxAt, steadySpan } = await load("state/inbox-times.js");
    const inbox = applyInboxRows(emptyInbox(), rows);
    const at = (time) => inboxAt(inbox, Date.parse(time), { me: "me", blocked: new Set(["spammer"]) });
"""


def last(number=7, **more):
    return {"number": number, "author": "ben", "text": "secret", "expiresAt": "2026-06-01T12:00:00Z"} | more


def test_mutes_and_last_messages_end(run):
    """The rows that do not change, and all of them before anything ends, stay the objects that they are."""
    rows = [
        row("message", 1, lastMessage=last()), row("mute", 2, membership={"muted": {"mentions": True, "until": "2026-06-01T13:00:00Z"}}),
        row("ever", 3, membership={"muted": {"mentions": True}}, lastMessage={"number": 1, "author": "ben", "text": "stays"}),
        {"id": "gone", "counter": 4, "gone": True},
    ]
    script = TIMES + """
        const shown = (time) => {
            const next = at(time);
            const same = Object.keys(next.rows).filter((id) => next.rows[id] === inbox.rows[id]).join(" ");
            const { message, mute, ever } = next.rows;
            return [next === inbox, same, message.lastMessage.text ?? message.lastMessage.deletedAt, isMuted(mute.membership), isMuted(ever.membership),
                JSON.stringify(next).includes("secret")];
        };
        return ["11:59:59.999", "12:00:00", "12:59:59.999", "13:00:00"].map((time) => shown(`2026-06-01T${time}Z`));
    """
    assert run(script, rows=rows) == [
        [True, "message mute ever gone", "secret", True, True, True],
        [False, "mute ever gone", "2026-06-01T12:00:00Z", True, True, False],
        [False, "mute ever gone", "2026-06-01T12:00:00Z", True, True, False],
        [False, "ever gone", "2026-06-01T12:00:00Z", False, True, False],
    ]


def test_until_when_rows_stay_as_they_are(run):
    rows = [
        row("a", 1, lastMessage=last()), row("b", 2, membership={"muted": {"until": "2026-06-01T13:00:00Z"}}),
        # Of one that was deleted nothing changes any more.
        row("c", 3, lastMessage=last(expiresAt="2026-06-01T12:30:00Z", deletedAt="2026-06-01T10:00:00Z")),
        row("d", 4, membership={"muted": {"mentions": True}}), {"id": "e", "counter": 5, "gone": True},
    ]
    script = TIMES + """
        const text = (time) => Number.isFinite(time) ? new Date(time).toISOString().slice(11, 16) : String(time);
        return ["11:00", "12:00", "12:40", "13:00", "14:00"].map((time) => {
            const { from, until } = steadySpan(inbox, Date.parse(`2026-06-01T${time}:00Z`));
            return `${text(from)} ${text(until)}`;
        });
    """
    assert run(script, rows=rows) == ["-Infinity 12:00", "12:00 13:00", "12:00 13:00", "13:00 Infinity", "13:00 Infinity"]


MENTION = [{"kind": "mention", "start": 0, "length": 1, "user": "me"}]


@pytest.mark.parametrize(
    ("kind", "message", "left"),
    [
        ("direct", last(), [1, 1]),
        ("group", last(ranges=MENTION), [1, 0]),
        # The last one was not among them: one's own, read, a notice, a call that was answered, of somebody who is blocked.
        ("group", last(author="me"), [2, 1]),
        ("group", last(number=3), [2, 1]),
        ("group", last(notice={"kind": "joined"}), [2, 1]),
        ("group", last(call={"state": "ended", "participants": [{"user": "me", "state": "left"}]}), [2, 1]),
        ("group", last(author="spammer"), [2, 1]),
        ("direct", last(author="spammer"), [1, 1]),
        ("direct", last(call={"state": "ended", "participants": [{"user": "me", "state": "missed"}]}), [1, 1]),
        # The server has counted without it.
        ("direct", last(deletedAt="2026-06-01T12:00:00Z"), [2, 1]),
    ],
)
def test_a_message_that_has_disappeared_is_not_unread(run, kind, message, left):
    rows = [row("a", 1, unread=2, mentions=1, membership={"read": 5}, conversation={"kind": kind}, lastMessage=message)]
    script = TIMES + """
        const { unread, mentions } = at("2026-06-01T12:00:00Z").rows.a;
        return [unread, mentions];
    """
    assert run(script, rows=rows) == left


def test_filters_and_the_archive(run):
    rows = [
        row("a", 1, 4, unread=1, conversation={"kind": "direct"}), row("b", 2, 3, conversation={"kind": "group"}),
        row("c", 3, 2, conversation={"kind": "direct"}, membership={"state": "invited"}),
        row("d", 4, 1, conversation={"kind": "group"}, membership={"archived": True}),
    ]
    script = """
        const state = await load("state/inbox-rows.js");
        const inbox = state.applyArchivePage(state.applyInboxSnapshot(state.emptyInbox(), { conversations: rows.slice(0, 3) }),
            { conversations: rows.slice(3), nextCursor: "next" });
        const ids = (list) => list.map((one) => one.id).join("");
        const filtered = (filter, kept) => ids(state.filteredRows(inbox, state.listedRows(inbox), filter, kept));
        // A snapshot, which may come after the archive's page, has no archived rows.
        const again = state.applyInboxSnapshot(inbox, { conversations: rows.slice(0, 1) });
        return [filtered("all"), filtered("unread"), filtered("unread", "b"), filtered("groups"), ids(state.archivedRows(inbox)),
            inbox.archive.nextCursor, ids(state.listedRows(again)), ids(state.archivedRows(again))];
    """
    assert run(script, rows=rows) == ["abc", "ac", "abc", "b", "d", "next", "a", "d"]

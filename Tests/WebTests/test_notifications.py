"""state/news.js: which messages, calls and reads are news."""

import pytest

RUN = """
    const { knownInbox, newsOf, settled, shownNews, tagOf } = await load("state/news.js");
    const inbox = (rows) => ({ rows: Object.fromEntries(rows.map((row) => [row.id, row])), read: {}, isLoaded: true });
    const { inboxAt } = await load("state/inbox-times.js");
    const options = { me: "me", blocked: new Set(["spammer"]) };
    const known = knownInbox(inbox(before), "me");
    const after = inboxAt(inbox(rows), Date.parse("2031-05-06T12:00:00Z"), options);
    rows = rows.map(({ id }) => after.rows[id]);
    const news = rows.map((row) => newsOf(known, after, row, options) ?? null);
    const shown = rows.map((row) => shownNews([row.lastMessage], row, options).map((one) => tagOf(row.id, one)));
    return { news, shown, settled: settled(known, after), first: settled(undefined, after) };
"""


def row(name="c", number=5, unread=1, state="member", **message):
    more = {key: message.pop(key) for key in ("muted", "mentions", "activity", "gone") if key in message}
    membership = {"state": state, **({"muted": more.pop("muted")} if "muted" in more else {})}
    last = {"number": number, "author": "ben", "text": "Hi", "ranges": [], **message}
    return {"id": name, "conversation": {"kind": "group"}, "membership": membership, "unread": unread, "activity": 10,
            "lastMessage": last, **more}  # fmt: skip


def call(state, mine):
    people = [{"user": "ben", "state": "left"}, {"user": "me", "state": mine}]
    return {"id": "k", "state": state, "participants": people}


MENTION = [{"kind": "mention", "start": 0, "length": 1, "user": "me"}]
ALL = [{"kind": "mention", "start": 0, "length": 1}]


@pytest.mark.parametrize(
    ("changed", "news"),
    [
        (row(number=6), {"after": 5, "upTo": 6}),
        (row(number=9, unread=4), {"after": 5, "upTo": 9}),
        # Nothing new, one's own, read elsewhere, a notice, deleted, of somebody who is blocked.
        (row(), None),
        (row(number=6, author="me"), None),
        (row(number=6, unread=0), None),
        (row(number=6, notice={"kind": "joined"}), None),
        (row(number=6, deletedAt="2031-05-06T11:00:00Z"), None),
        (row(number=6, unread=2, expiresAt="2031-05-06T12:00:00Z"), None),
        (row(number=6, author="spammer"), None),
        (row(number=6, state="left"), None),
        (row(number=6, gone=True), None),
        # Invited: they ask to write.
        (row(number=6, state="invited"), {"after": 5, "upTo": 6}),
        # Muted, for good, until later, and until a time that is over.
        (row(number=6, muted={}), None),
        (row(number=6, muted={"until": "2031-05-06T13:00:00Z"}), None),
        (row(number=6, muted={"until": "2031-05-06T11:00:00Z"}), {"after": 5, "upTo": 6}),
        # Muted, but for mentions.
        (row(number=6, muted={"mentions": True}, mentions=1, ranges=MENTION), {"after": 5, "upTo": 6}),
        (row(number=6, muted={"mentions": False}, mentions=1, ranges=MENTION), None),
        (row(number=6, muted={"mentions": True}, mentions=0), None),
        # A call that rings tells by itself; one that was missed is news, also with the number that it had.
        (row(number=6, call=call("ringing", "invited")), None),
        (row(number=5, call=call("ended", "missed")), {"after": 4, "upTo": 5}),
        (row(number=6, call=call("ended", "left")), None),
        # A new conversation is above all others; older rows come with pages.
        (row("new", number=1, activity=11), {"after": 0, "upTo": 1}),
        (row("old", number=3, activity=4), None),
    ],
)
def test_news(run, changed, news):
    assert run(RUN, before=[row()], rows=[changed])["news"] == [news]


def test_a_missed_call_is_news_once(run):
    missed = row(number=5, call=call("ended", "missed"))
    assert run(RUN, before=[missed], rows=[missed])["news"] == [None]
    assert run(RUN, before=[row()], rows=[missed])["shown"] == [["call-k"]]


def test_what_is_shown_of_a_muted_conversation(run):
    quiet = {"muted": {"mentions": True}, "mentions": 1}
    rows = [row("a", 6, ranges=MENTION, **quiet), row("b", 6, ranges=ALL, **quiet), row("c", 6, **quiet)]
    assert run(RUN, before=[row()], rows=rows)["shown"] == [["message-a-6"], ["message-b-6"], []]


def test_what_was_read_or_deleted_since(run):
    before = [row("read"), row("deleted"), row("same"), row("zero", unread=0)]
    rows = [row("read", unread=0), row("deleted", deletedAt="2031-05-06T11:00:00Z"), row("same"), row("zero", unread=0)]
    found = run(RUN, before=before, rows=rows)
    assert found["settled"] == {"read": {"read": 5}, "deleted": ["message-deleted-5"]}
    # When the page opens: what an earlier one has shown.
    assert found["first"]["read"] == {"read": 5, "zero": 5}

"""What waits until the server has it (state/outbox-entries.js), and how it is shown meanwhile (state/pending.js)."""

import pytest

QUEUE = """
    const q = await load("state/outbox-entries.js");
    let turn = 0;
    const entry = (name, params, key, more) => ({ clientID: `c${turn += 1}`, conversation: "v", name, params, key, createdAt: turn, ...more });
    const add = (entries, ...one) => q.added(entries, entry(...one)).entries;
    const names = (entries) => entries.map((one) => one.params.text ?? `${one.name} ${Object.values(one.params).join()}`);
"""


def test_messages_keep_their_order_and_never_replace_each_other(run):
    script = QUEUE + """
        let entries = [];
        for (const text of ["a", "b", "a"]) entries = add(entries, q.MESSAGE, { text });
        const [first] = entries;
        const failed = q.changed(entries, first.clientID, { state: "failed" });
        return [names(entries), q.nextOf(entries, "v").params.text, q.nextOf(failed, "v").params.text, q.nextOf(entries, "w") ?? null,
            names(q.removed(entries, first.clientID))];
    """
    assert run(script) == [["a", "b", "a"], "a", "b", None, ["b", "a"]]


def test_what_a_reload_would_lose_is_not_counted(run):
    script = QUEUE + """
        let entries = [];
        for (const text of ["a", "b", "c", "d"]) entries = add(entries, q.MESSAGE, { text });
        const counts = [q.countWaiting(entries)];
        const [first, second, third] = entries;
        for (const [one, values] of [[first, { order: 1 }], [second, { order: 2 }], [third, { isOverdue: true }], [first, { state: "failed" }]]) {
            entries = q.changed(entries, one.clientID, values);
            counts.push(q.countWaiting(entries));
        }
        return counts;
    """
    assert run(script) == [0, 1, 2, 3, 2]


def test_of_changes_with_one_key_the_last_is_sent(run):
    script = QUEUE + """
        let entries = add([], "messages.star", { number: 1 }, "star 1");
        entries = add(entries, "messages.star", { number: 2 }, "star 2");
        const { entries: next, replaced } = q.added(entries, entry("messages.unstar", { number: 1 }, "star 1"));
        const sending = q.changed(entries, entries[0].clientID, { state: "sending" });
        return [names(next), replaced.map((one) => one.clientID), names(add(sending, "messages.unstar", { number: 1 }, "star 1"))];
    """
    assert run(script) == [
        ["messages.star 2", "messages.unstar 1"], ["c1"], ["messages.star 1", "messages.star 2", "messages.unstar 1"],
    ]


def test_marks_only_rise_and_are_not_counted(run):
    script = QUEUE + """
        let entries = [];
        for (const read of [3, 9, 5]) entries = add(entries, "conversations.mark", { read }, "mark");
        return [names(entries), q.countWaiting(q.changed(entries, entries[0].clientID, { order: 1 }))];
    """
    assert run(script) == [["conversations.mark 9"], 0]


def test_a_message_waits_for_no_mark(run):
    script = QUEUE + """
        let entries = add([], "conversations.mark", { read: 3 }, "mark");
        entries = add(entries, "members.updateMe", { pinned: true }, "keep pinned");
        entries = add(entries, q.MESSAGE, { text: "a" });
        entries = add(entries, "messages.delete", { number: 1 }, "delete 1");
        return q.waitingLanes(entries).map((lane) => names(entries.filter((one) => q.laneOf(one) === lane))).concat(
            q.waitingLanes(entries).map((lane) => names([q.nextOf(entries, lane)])));
    """
    own, messages = ["conversations.mark 3", "members.updateMe true"], ["a", "messages.delete 1"]
    assert run(script) == [own, messages, own[:1], messages[:1]]


def test_edits_of_one_message_are_one_edit_of_what_it_was(run):
    script = QUEUE + """
        let entries = add([], "messages.edit", { number: 1, text: "one", textVersion: 4 }, "edit 1");
        entries = add(entries, "messages.edit", { number: 1, text: "two", textVersion: 4 }, "edit 1");
        const together = entries.map((one) => one.params);
        // One that is being sent is not changed: the next is based on its result.
        const sending = q.changed(entries, entries[0].clientID, { state: "sending" });
        const two = add(sending, "messages.edit", { number: 1, text: "three", textVersion: 4 }, "edit 1");
        const rebased = q.rebased(two, two[0], { message: { textVersion: 7 } });
        // After a reload the server may have it.
        const left = q.restored([{ ...sending[0], order: 1, wasSent: true }]);
        return [together, rebased.map((one) => one.params.textVersion), left[0].state,
            add(left, "messages.edit", { number: 1, text: "four", textVersion: 4 }, "edit 1").length];
    """
    assert run(script) == [[{"number": 1, "text": "two", "textVersion": 4}], [4, 7], "waiting", 2]


def test_another_tab_changes_the_queue(run):
    """Its entries come, those that it has removed go, and what is being sent here stays so."""
    script = QUEUE + """
        const own = [{ ...entry(q.MESSAGE, { text: "sent" }), order: 1, state: "sending" },
            { ...entry(q.MESSAGE, { text: "gone" }), order: 2, state: "waiting" }, { ...entry(q.MESSAGE, { text: "new" }), state: "waiting" }];
        const stored = [{ ...entry(q.MESSAGE, { text: "theirs" }), order: 3, state: "sending" }, { ...own[0], state: "waiting" }];
        const next = q.reloaded(own, stored);
        return [names(next), next.map((one) => one.state), names(q.reloaded(own, [...stored, { ...own[2], order: 4 }]))];
    """
    assert run(script) == [["sent", "theirs", "new"], ["sending", "waiting", "waiting"], ["sent", "theirs", "new"]]


def test_a_message_that_waits_is_written_anew_where_it_stands(run):
    """But for what the server may have by its client id, a sound, or what is not on the disk yet."""
    script = QUEUE + """
        const made = (params, more) => ({ ...entry(q.MESSAGE, params), order: 1, state: "waiting", ...more });
        const failed = made({ text: "a", replyTo: 3, draft: 2 }, { state: "failed", problem: "no" });
        const [first, second] = [made({ text: "one" }), made({ text: "two" }, { order: 2 })];
        const next = { ...first, ...q.revised(first, "uno", 99) };
        return [q.revised(failed, "b", 99), [failed, first, made({ text: "a" }, { wasSent: true }), made({ text: "a" }, { state: "sending" }),
            made({ text: "a" }, { order: undefined }), made({ file: "f" }), { ...entry("messages.star", { number: 1 }), order: 1 }].map(q.isRevisable),
            names(q.reloaded([first, second], [next, second])), q.reloaded([first, second], [next, second])[1] === second,
            names(q.reloaded([{ ...first, state: "sending" }, second], [next, second]))];
    """
    revised = {"params": {"text": "b", "replyTo": 3, "draft": 2}, "state": "waiting", "problem": None, "createdAt": 99}
    assert run(script) == [revised, [True, True, False, False, False, False, False], ["uno", "two"], True, ["one", "two"]]


@pytest.mark.parametrize(
    ("problem", "outcome"),
    [
        ({"type": "network", "isTransient": True}, "wait"), ({"type": "unavailable", "status": 503, "isTransient": True}, "wait"),
        ({"type": "rate_limited", "status": 429, "isTransient": True}, "pause"), ({"type": "unauthenticated", "status": 401}, "stop"),
        ({"type": "forbidden", "status": 403}, "refuse"), ({"type": "conflict", "status": 409}, "refuse"),
    ],
)
def test_what_follows_from_an_error(run, problem, outcome):
    assert run(QUEUE + "return q.afterError(problem);", problem=problem) == outcome


def test_pauses_grow_and_30_days_are_too_long(run):
    script = QUEUE + """
        const old = { createdAt: 0 };
        return [[0, 1, 2, 9].map(q.pauseAfter), q.isTooOld(old, 29 * 86_400_000), q.isTooOld(old, 31 * 86_400_000), q.isTooOld(old, -3_600_000)];
    """
    assert run(script) == [[1_000, 2_000, 4_000, 30_000], False, True, False]


def test_messages_of_the_stream_were_stored(run):
    script = QUEUE + """
        let entries = add([], q.MESSAGE, { text: "a" });
        entries = add(entries, q.MESSAGE, { text: "b" });
        const left = (author, clientID, conversation = "v") => names(q.unstored(entries, conversation, [{ author, clientID }], "me"));
        return [left("me", "c1"), left("other", "c1"), left("me", "c1", "w"), q.unstored(entries, "v", [], "me") === entries];
    """
    assert run(script) == [["b"], ["a", "b"], ["a", "b"], True]


def test_what_is_sent_of_a_message(run):
    script = QUEUE + """
        return [q.sendBody({ clientID: "c", text: "a", replyTo: 3, draft: 2 }), q.sendBody({ clientID: "c", file: "f", thread: 4 }),
            q.sendBody({ clientID: "c", forward: { conversation: "v", number: 1 } })];
    """
    assert run(script) == [
        {"clientID": "c", "text": "a", "replyTo": 3, "draft": 2}, {"clientID": "c", "kind": "voice", "file": "f", "thread": 4},
        {"clientID": "c", "forward": {"conversation": "v", "number": 1}},
    ]


PENDING = """
    const { noBlocks, withMessages } = await load("state/blocks.js");
    const { emptyThread, messageOf } = await load("state/thread-rows.js");
    const p = await load("state/pending.js");
    const thread = { ...emptyThread(), conversation: { pins: [2] }, read: 1, blocks: withMessages(noBlocks, [
        { number: 1, version: 1, author: "me", text: "first", ranges: [], reactions: { "+": { count: 1, users: ["you"] } } },
        { number: 2, version: 2, author: "you", text: "second", ranges: [], reactions: {} }]) };
    const entry = (name, params, state = "waiting") => ({ name, params, state, createdAt: 0 });
    const shown = (...entries) => p.withPending(thread, entries, "me");
"""


def test_changes_are_shown_at_once(run):
    script = PENDING + """
        const edited = messageOf(shown(entry("messages.edit", { number: 1, text: "Hi <@all>" })), 1);
        const both = shown(entry("messages.react", { number: 1, emoji: "+" }), entry("messages.react", { number: 2, emoji: "!" }));
        const { language } = messageOf(shown(entry("messages.setLanguage", { number: 1, language: "pt-BR" })), 1);
        return [language, edited.text, edited.ranges, edited.version, messageOf(both, 1).reactions, messageOf(both, 2).reactions, both.reacted,
            shown(entry("messages.pin", { number: 1 })).conversation.pins, shown(entry("messages.unpin", { number: 2 })).conversation.pins,
            shown(entry("messages.star", { number: 1 })).starred, shown(entry("conversations.mark", { read: 2 })).read,
            shown(entry("messages.delete", { number: 2, for: "me" })).hidden, "text" in messageOf(shown(entry("messages.delete", { number: 1, for: "all" })), 1)];
    """
    assert run(script) == [
        {"code": "pt-BR", "confidence": "high"}, "Hi <@all>", [{"kind": "mention", "start": 3, "length": 6}], 1, {"+": {"count": 2, "users": ["you", "me"]}},
        {"!": {"count": 1, "users": ["me"]}}, {"1": ["+"], "2": ["!"]}, [1, 2], [], {"1": True}, 2, {"2": True}, False,
    ]


def test_what_is_taken_back_or_refused_is_not_shown(run):
    script = PENDING + """
        const twice = shown(entry("messages.react", { number: 1, emoji: "+" }), entry("messages.removeReaction", { number: 1, emoji: "+" }));
        return [messageOf(twice, 1).reactions, messageOf(shown(entry("messages.edit", { number: 1, text: "no" }, "failed")), 1).text,
            shown(entry("messages.edit", { number: 9, text: "no" })) === thread, shown(entry("conversations.mark", { read: 1 })) === thread];
    """
    assert run(script) == [{"+": {"count": 1, "users": ["you"]}}, "first", True, True]


def test_how_a_conversation_is_kept_is_shown_at_once(run):
    script = """
        const { inboxWithPending } = await load("state/pending.js");
        const inbox = { rows: { v: { id: "v", membership: { pinned: false, muted: { mentions: true } } } }, read: {} };
        const entry = (name, params) => ({ name, params, conversation: "v", state: "waiting" });
        const next = inboxWithPending(inbox, [entry("members.updateMe", { pinned: true }), entry("members.updateMe", { muted: null }),
            entry("conversations.mark", { read: 4 }), { ...entry("members.updateMe", { archived: true }), conversation: "w" }]);
        return [next.rows, next.read, inboxWithPending(inbox, []) === inbox];
    """
    assert run(script) == [{"v": {"id": "v", "membership": {"pinned": True}}}, {"v": 4}, True]


CLEARED = """
    const { friendsWithPending, inboxWithPending } = await load("state/pending.js");
    const entry = (name, params, more) => ({ name, params, conversation: "v", state: "waiting", ...more });
"""


def test_what_is_cleared_or_deleted_is_hidden_up_to_what_was_seen(run):
    """But no row under which something waits to be sent, or that has something new."""
    script = CLEARED + """
        const inbox = { rows: { v: { id: "v", lastMessage: { number: 4 }, unread: 2 }, w: { id: "w", lastMessage: { number: 9 } } }, read: {} };
        const rows = (...entries) => inboxWithPending(inbox, entries).rows;
        const deleted = entry("conversations.delete", { upTo: 4, for: "me" });
        return [rows(entry("conversations.clear", { upTo: 4 })).v, rows(deleted).v.gone, rows(deleted, entry("messages.send", { text: "a" })).v.gone ?? false,
            rows({ ...deleted, conversation: "w" }).w];
    """
    assert run(script) == [
        {"id": "v", "lastMessage": None, "unread": 0, "mentions": 0}, True, False, {"id": "w", "lastMessage": {"number": 9}},
    ]


def test_a_thread_that_is_cleared_later(run):
    script = PENDING + """
        const cleared = p.withPending({ ...thread, first: 1, last: 2 }, [entry("conversations.clear", { upTo: 1 })], "me");
        return [messageOf(cleared, 1) ?? null, messageOf(cleared, 2).text, shown(entry("members.leave", {})).isLeaving,
            messageOf(shown(entry("members.leave", {})), 1).text];
    """
    assert run(script) == [None, "second", True, "first"]


def test_friends_who_wait(run):
    script = CLEARED + """
        const user = (id) => ({ id, displayName: id });
        const known = { state: { a: { user: user("a"), state: "received" }, b: { user: user("b"), state: "friend" } }, blocked: new Set(["x"]) };
        const about = (name, id, more) => entry(name, { user: id }, { conversation: undefined, ...more });
        const shown = (...entries) => {
            const { state, blocked } = friendsWithPending(known, entries);
            return [Object.fromEntries(Object.entries(state).map(([id, one]) => [id, one.state])), [...blocked]];
        };
        return [shown(about("friends.request", "c", { person: user("c") }), about("friends.accept", "a"), about("blocks.remove", "x")),
            shown(about("friends.decline", "a"), about("blocks.add", "b"), about("friends.accept", "z")),
            shown(about("friends.request", "a", { person: user("a") }), about("friends.remove", "a"))];
    """
    assert run(script) == [
        [{"a": "friend", "b": "friend", "c": "requested"}, []], [{}, ["x", "b"]], [{"b": "friend"}, ["x"]],
    ]


def test_what_is_about_people_has_a_lane_of_its_own(run):
    script = QUEUE + """
        const lanes = [entry("friends.request", { user: "u" }, undefined, { conversation: undefined }), entry("blocks.add", { user: "u" }, undefined, { conversation: undefined }),
            entry("conversations.clear", { upTo: 1 }), entry("members.leave", {}), entry(q.MESSAGE, { text: "a" })].map(q.laneOf);
        return lanes;
    """
    assert run(script) == ["people", "people", "own v", "v", "v"]

"""How messages lie in a thread (state/thread-layout.js), which of them are in the page (state/message-window.js), and their ticks."""

BEGIN = """
    const { layout } = await load("state/thread-layout.js");
    const lines = (items) => items.map((one) => [one.message.number, one.day ? "day" : "", one.isUnread ? "unread" : "",
        one.isFirst ? "first" : "", one.isLast ? "last" : "", one.folded?.length ?? 0].filter(Boolean).join(" "));
"""


def message(number, author, minute, day=20, **more):
    return {"number": number, "author": author, "sentAt": f"2026-11-{day}T10:{minute:02}:00Z"} | more


def test_groups_by_author_and_time_and_days(run):
    messages = [
        message(1, "ben", 0), message(2, "ben", 1), message(3, "ann", 1), message(4, "ann", 9), message(5, "ann", 10),
        message(6, "ann", 10, notice={"kind": "left"}), message(7, "ann", 11), message(8, "ann", 11, day=21),
    ]
    assert run(BEGIN + "return lines(layout(messages, { me: 'ann' }));", messages=messages) == [
        "1 day first", "2 last", "3 first last", "4 first", "5 last", "6 first last", "7 first last", "8 day first last",
    ]


def test_the_divider_stands_before_the_first_unread_of_somebody_else(run):
    messages = [message(1, "ben", 0), message(2, "ann", 0), message(3, "ben", 0), message(4, "ben", 1)]
    script = BEGIN + "return [1, 2, 4, undefined].map((unreadAfter) => lines(layout(messages, { me: 'ann', unreadAfter })));"
    plain = ["1 day first last", "2 first last", "3 first", "4 last"]
    marked = ["1 day first last", "2 first last", "3 unread first", "4 last"]
    assert run(script, messages=messages) == [marked, marked, plain, plain]


def test_the_divider_stands_before_nothing_of_blocked_people(run):
    messages = [message(1, "ben", 0), message(2, "bad", 0), message(3, "bad", 1), message(4, "ben", 1)]
    script = BEGIN + """
        const blocked = new Set(["bad"]);
        const found = (count) => layout(messages.slice(0, count), { me: "ann", unreadAfter: 1, blocked });
        return [3, 4].map((count) => found(count).filter((one) => one.isUnread).map((one) => one.message.number));
    """
    assert run(script, messages=messages) == [[], [4]]


def test_what_blocked_people_say_is_folded_until_it_is_opened(run):
    messages = [
        message(1, "cem", 0), message(2, "bad", 0), message(3, "worse", 0), message(4, "cem", 1), message(5, "bad", 2),
        message(6, "bad", 2, notice={"kind": "left"}),
    ]
    script = BEGIN + """
        const blocked = new Set(["bad", "worse"]);
        return [layout(messages, { me: "ann", blocked }), layout(messages, { me: "ann", blocked, opened: new Set([2]) })].map(lines);
    """
    assert run(script, messages=messages) == [
        ["1 day first last", "2 first last 2", "4 first last", "5 first last 1", "6 first last"],
        ["1 day first last", "2 first last", "3 first last", "4 first last", "5 first last 1", "6 first last"],
    ]


def test_what_lies_beside_the_window_decides_at_its_ends(run):
    """So that a message is what it will be when those before and after it come into the page."""
    messages = [
        message(1, "ben", 0), message(2, "ben", 1), message(3, "bad", 1), message(4, "bad", 2), message(5, "ann", 2),
        message(6, "ann", 3), message(7, "ann", 3, day=21),
    ]
    script = BEGIN + """
        const options = { me: "ann", blocked: new Set(["bad"]) };
        const all = lines(layout(messages, options));
        const part = (from, to) => lines(layout(messages.slice(from, to),
            { ...options, before: messages[from - 1], after: messages[to] }));
        return [all, ...[[0, 7], [1, 3], [2, 6], [3, 4], [5, 6], [6, 7], [2, 2]].map(([from, to]) => part(from, to))];
    """
    whole = ["1 day first", "2 last", "3 first last 2", "5 first", "6 last", "7 day first last"]
    assert run(script, messages=messages) == [
        whole, whole, ["2 last", "3 first last 1"], ["3 first last 2", "5 first", "6 last"], ["4 first last 1"], ["6 last"],
        ["7 day first last"], [],
    ]


def test_the_window_has_at_most_so_many_messages(run):
    """It moves by four at a time, and follows the newest message where it has that."""
    script = """
        const w = await load("state/message-window.js");
        const numbers = Array.from({ length: 400 }, (_, index) => index + 1);
        const size = (one, all = numbers) => {
            const inside = w.inWindow(one, all.map((number) => ({ number })), all);
            return [inside[0].number, inside.at(-1).number, inside.length];
        };
        let window = w.newestWindow(numbers);
        const opened = size(window);
        const up = [];
        for (let turn = 0; turn < 22; turn += 1) up.push(size(window = w.earlierWindow(window, numbers)));
        const parts = w.partsOf(window, numbers);
        const down = [];
        while (w.partsOf(window, numbers).after > 0) down.push(size(window = w.laterWindow(window, numbers)));
        return [opened, up[0], up[19], up[21], parts, down.length, down.at(-1), size(w.windowAround(numbers, 200)),
            size(w.windowAround(numbers, 2)), size(w.windowAround(numbers, 399)), w.isIn(window, 400), w.isIn(window, 280)];
    """
    assert run(script) == [
        [361, 400, 40], [357, 400, 44], [281, 400, 120], [273, 392, 120], {"before": 272, "inside": 120, "after": 8}, 2,
        [281, 400, 120], [180, 219, 40], [1, 21, 21], [379, 400, 22], True, False,
    ]


def test_the_window_stays_small_while_messages_arrive(run):
    """At the end it goes along; who reads further above keeps what is there."""
    script = """
        const w = await load("state/message-window.js");
        const numbers = Array.from({ length: 500 }, (_, index) => index + 1);
        const window = w.newestWindow(numbers.slice(0, 100));
        return [w.trimmedWindow(window, numbers.slice(0, 180), true) === window, w.trimmedWindow(window, numbers, true),
            w.trimmedWindow(window, numbers, false), w.trimmedWindow({ first: 1, last: 90 }, numbers, true)];
    """
    assert run(script) == [True, {"first": 411, "last": None}, {"first": 61, "last": 180}, {"first": 1, "last": 90}]


def test_ticks(run):
    """Read and received hold of all the others who are in it; who left, or is only invited, does not count."""
    script = """
        const { receiptOf } = await load("state/receipts.js");
        const members = { ann: { user: "ann", state: "member" }, ben: { user: "ben", state: "member" },
            cem: { user: "cem", state: "member" }, left: { user: "left", state: "left" }, asked: { user: "asked", state: "invited" } };
        const thread = { members, shown: { ben: [[0, 5]], cem: [[0, 2]], left: [[0, 7]] }, delivered: { ben: 6, cem: 4 } };
        return [2, 4, 5, 7].map((number) => receiptOf(thread, number, "ann"));
    """
    assert run(script) == [
        {"state": "read", "readers": ["ben", "cem"]}, {"state": "delivered", "readers": ["ben"]},
        {"state": "sent", "readers": ["ben"]}, {"state": "sent", "readers": []},
    ]


def test_messages_disappear_at_their_time(run):
    script = """
        const { expired, nextExpiry } = await load("state/disappearing.js");
        const at = (second) => new Date(second * 1000).toISOString();
        const { heldMessages, messageOf, withCopies } = await load("state/thread-rows.js");
        const thread = withCopies({ blocks: [] }, [{ number: 1, text: "a", ranges: [], reactions: {}, expiresAt: at(10) },
            { number: 2, text: "b", expiresAt: at(20) }, { number: 3, text: "c" }]);
        const later = expired(thread, 15_000);
        return [expired(thread, 9_000) === thread, nextExpiry(thread), heldMessages(later).map((one) => one.text ?? null),
            messageOf(later, 1).deletedAt === at(10), nextExpiry(later), nextExpiry(expired(later, 20_000)) === undefined];
    """
    assert run(script) == [True, 10000, [None, "b", "c"], True, 20000, True]

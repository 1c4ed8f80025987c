"""How messages lie in a thread (state/layout.js), which of them are in the page (state/window.js), and their ticks."""

BEGIN = """
    const { layout } = await load("state/layout.js");
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


def test_the_window_has_at_most_so_many_messages(run):
    script = """
        const w = await load("state/window.js");
        const numbers = Array.from({ length: 400 }, (_, index) => index + 1);
        const size = (one, all = numbers) => {
            const inside = w.inWindow(one, all.map((number) => ({ number })));
            return [inside[0].number, inside.at(-1).number, inside.length];
        };
        let window = w.newestWindow(numbers);
        const opened = size(window);
        const up = [];
        for (let turn = 0; turn < 4; turn += 1) up.push(size(window = w.earlierWindow(window, numbers)));
        const down = [];
        while (w.hasLater(window, numbers)) down.push(size(window = w.laterWindow(window, numbers)));
        const more = [...numbers, ...Array.from({ length: 100 }, (_, index) => 401 + index)];
        const trimmed = w.trimmedWindow(window, more);
        return [opened, up, down.at(-1), size(trimmed, more), size(w.windowAround(numbers, 200)), size(w.windowAround(numbers, 2)),
            w.hasEarlier(w.windowAround(numbers, 2), numbers), size(w.windowAround(numbers, 399))];
    """
    assert run(script) == [
        [341, 400, 60], [[311, 400, 90], [281, 400, 120], [251, 370, 120], [221, 340, 120]], [281, 400, 120],
        [441, 500, 60], [170, 229, 60], [1, 31, 31], False, [369, 400, 32],
    ]


def test_ticks(run):
    """Read and received hold of all the others who are in it; who left, or is only invited, does not count."""
    script = """
        const { receiptOf } = await load("state/receipts.js");
        const members = { ann: { user: "ann", state: "member" }, ben: { user: "ben", state: "member" },
            cem: { user: "cem", state: "member" }, left: { user: "left", state: "left" }, asked: { user: "asked", state: "invited" } };
        const thread = { members, shown: { ben: [[0, 5]], cem: [[0, 2]] }, delivered: { ben: 6, cem: 4 } };
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
        const thread = { messages: { 1: { number: 1, text: "a", ranges: [], reactions: {}, expiresAt: at(10) },
            2: { number: 2, text: "b", expiresAt: at(20) }, 3: { number: 3, text: "c" } } };
        const later = expired(thread, 15_000);
        return [expired(thread, 9_000) === thread, nextExpiry(thread), Object.values(later.messages).map((one) => one.text ?? null),
            later.messages[1].deletedAt === at(10), nextExpiry(later), nextExpiry(expired(later, 20_000)) === undefined];
    """
    assert run(script) == [True, 10000, [None, "b", "c"], True, 20000, True]

"""state/thread-rows.js: what is held of a conversation, however and how often it comes."""

import random

import pytest

BEGIN = """
    const state = await load("state/thread-rows.js");
    const numbers = (thread) => state.shownMessages(thread).map((one) => [one.number, one.version]);
    const open = (messages, more) => state.applySnapshot(state.emptyThread(), { conversation: { id: "c", version: 1 },
        membership: { state: "member", read: 0, version: 1 }, members: [], people: [], messages, hasEarlier: false,
        ...(messages.length > 0 && { range: [messages[0].number, messages.at(-1).number] }), ...more });
"""


def message(number, version, **more):
    return {"number": number, "version": version, "author": "ben", "clientID": f"id {number}", "reactions": {}} | more


@pytest.mark.parametrize("seed", range(3))
def test_rows_in_any_order_and_twice_are_the_latest_of_each(run, seed):
    print("seed", seed)
    generator = random.Random(seed)
    copies = [message(generator.randrange(1, 9), version) for version in range(2, 50)]
    latest = {one["number"]: one["version"] for one in copies}
    delivered = copies + generator.sample(copies, 20)
    generator.shuffle(delivered)
    # The first that came is the first number that is held: the snapshot has number 1.
    script = BEGIN + """
        let thread = open([first]);
        for (const one of delivered) thread = state.applyRows(thread, [{ message: one }]);
        return [numbers(thread), thread.first, thread.last];
    """
    held = {1: 1} | latest
    assert run(script, first=message(1, 1), delivered=delivered) == [[list(one) for one in sorted(held.items())], 1, max(held)]


def test_the_range_grows_with_new_messages_and_pages(run):
    script = BEGIN + """
        const thread = open(window, { hasEarlier: true });
        const ignored = state.applyRows(thread, [{ message: { ...window[0], number: 2, version: 90 } }]);
        const grown = state.applyRows(thread, [{ message: { ...window[0], number: 12, version: 91 } }]);
        const paged = state.applyEarlier(grown, page, 10);
        const late = state.applyEarlier(paged, page, 10);
        return [numbers(ignored), [grown.first, grown.last], numbers(paged), [paged.first, paged.last, paged.hasEarlier], late === paged];
    """
    page = {"messages": [message(8, 1), message(9, 2)], "range": [7, 9], "hasEarlier": True}
    assert run(script, window=[message(10, 3), message(11, 4)], page=page) == [
        [[10, 3], [11, 4]], [10, 12], [[8, 1], [9, 2], [10, 3], [11, 4], [12, 91]], [7, 12, True], True,
    ]


def test_only_what_comes_after_a_gap_is_held(run):
    script = BEGIN + """
        const thread = state.applyRows(open(held), newest, [4, 70]);
        return [numbers(thread), thread.first, thread.last, thread.hasEarlier];
    """
    newest = [{"message": message(71, 80)}, {"message": message(72, 81)}]
    assert run(script, held=[message(2, 2), message(3, 3)], newest=newest) == [[[71, 80], [72, 81]], 71, 72, True]
    # One that was held, and has changed, does not become the first.
    edited = {"message": message(2, 79)}
    assert run(script, held=[message(2, 2), message(3, 3)], newest=[edited, *newest]) == [[[71, 80], [72, 81]], 71, 72, True]


def test_a_snapshot_replaces_messages_but_no_newer_copy_of_this_epoch(run):
    script = BEGIN + """
        const edited = state.withMessage(open([one, two]), { ...two, version: 9 });
        const data = { conversation: { id: "c", version: 1 }, membership: { state: "member", read: 0 }, members: [], people: [],
            messages: [two], range: [2, 2], hasEarlier: true };
        return [numbers(state.applySnapshot(edited, data)), numbers(state.applySnapshot(edited, data, { isNewEpoch: true }))];
    """
    assert run(script, one=message(1, 1), two=message(2, 2)) == [[[2, 9]], [[2, 2]]]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_snapshots_of_another_epoch_come_in_any_order(run, order):
    """Marks of the epoch before are gone, and those of this one stay, also when the messages come after them."""
    script = BEGIN + """
        const marks = (shown, scheduled) => ({ marks: [{ user: "ben", shown: [[0, shown]], delivered: shown }], scheduled });
        const before = state.applyMarksSnapshot(open([one, two]), marks(2, { count: 2 }), "ann");
        const data = { conversation: { id: "c", version: 1 }, membership: { state: "member", read: 0 }, members: [], people: [],
            messages: [one], range: [1, 1], hasEarlier: false };
        const steps = [(thread) => state.applySnapshot(thread, data, { isNewEpoch: true }),
            (thread) => state.applyMarksSnapshot(thread, marks(1, { count: 1 }), "ann")];
        const { shown, delivered, scheduled } = order.reduce((thread, index) => steps[index](thread), before);
        return { shown, delivered, scheduled };
    """
    wanted = {"shown": {"ben": [[0, 1]]}, "delivered": {"ben": 1}, "scheduled": {"count": 1}}
    assert run(script, one=message(1, 1), two=message(2, 2), order=order) == wanted


def test_marks_end_that_are_not_shown_any_more(run):
    """As who was away learns it, who has turned receipts off on another device."""
    script = BEGIN + """
        const before = state.applyMarksSnapshot(open([one]),
            { marks: [{ user: "ben", shown: [[0, 1]], delivered: 1 }, { user: "cem", shown: [], delivered: 1 }] }, "ann");
        const { shown, delivered } = state.applyMarks(before, [{ marks: { user: "ben", shown: [], delivered: 0 } }], "ann");
        return { shown, delivered };
    """
    assert run(script, one=message(1, 1)) == {"shown": {"cem": []}, "delivered": {"cem": 1}}


def test_what_was_deleted_for_oneself_stays_away(run):
    script = BEGIN + """
        const hidden = state.applyOwn(open([one, two]), [{ number: 1, starred: false, hidden: true, reacted: [] }]);
        return numbers(state.applyRows(hidden, [{ message: { ...one, version: 9 } }]));
    """
    assert run(script, one=message(1, 1), two=message(2, 2)) == [[2, 2]]


def test_what_was_cleared_is_not_held(run):
    script = BEGIN + """
        const thread = open([one, two, three], { hasEarlier: true });
        const cleared = state.cleared(thread, [{ from: 2 }]);
        const all = state.cleared(thread, [{ from: 3 }]);
        return [numbers(cleared), cleared.first, cleared.hasEarlier, numbers(all), all.last === undefined,
            state.cleared(thread, [{ from: 0, until: 1 }, { from: 2 }]) === thread];
    """
    values = {"one": message(1, 1), "two": message(2, 2), "three": message(3, 3)}
    assert run(script, **values) == [[[3, 3]], 3, False, [], True, True]


def test_marks(run):
    """They only rise. Ranges begin after their first number."""
    script = BEGIN + """
        let thread = state.applyMarks(open([one]), [{ marks: { user: "ann", read: 5, delivered: 5 } }], "ann");
        thread = state.applyMarks(thread, [{ marks: { user: "ann", read: 3, delivered: 5 } },
            { marks: { user: "ben", delivered: 4, shown: [[1, 3]] } }, { marks: { user: "ben", delivered: 2, shown: [[1, 2]] } }], "ann");
        const { readersOf } = await load("state/receipts.js");
        return [thread.read, [1, 2, 3, 4].map((number) => readersOf(thread, number))];
    """
    assert run(script, one=message(1, 1)) == [5, [[], ["ben"], ["ben"], []]]


def test_of_two_copies_of_what_is_noted_the_newer_one_counts(run):
    """A page may be older than a row of the stream that came before it. What is hidden stays hidden."""
    script = BEGIN + """
        const newer = { number: 1, starred: true, reacted: ["b"], counter: 8 };
        const thread = state.applyOwn(open([one]), [newer, { number: 1, starred: false, reacted: [], hidden: true, counter: 7 }]);
        return [thread.starred[1], thread.reacted[1], thread.hidden[1], state.applyOwn(thread, [{ ...newer, starred: false, counter: 9 }]).starred[1]];
    """
    assert run(script, one=message(1, 1)) == [True, ["b"], True, False]


def test_reactions(run):
    """Whose users are cut to the first twenty: the user's own notes say whether they are one of them."""
    script = BEGIN + """
        const thread = state.applyOwn(open([one]), [{ number: 1, starred: false, reacted: ["b", "c"] }]);
        return state.reactionsOf(thread, one, "ann").map((reaction) => [reaction.emoji, reaction.isOwn]);
    """
    crowd = [f"user {number}" for number in range(20)]
    reactions = {
        "a": {"count": 1, "users": ["ann"]}, "b": {"count": 21, "users": crowd}, "c": {"count": 1, "users": ["ben"]},
    }
    assert run(script, one=message(1, 1, reactions=reactions)) == [["a", True], ["b", True], ["c", False]]


def test_the_member_of_a_row_is_newer_than_the_membership(run):
    script = BEGIN + """
        const invited = open([], { membership: { state: "invited", read: 0 } });
        const joined = state.applyRows(invited, [{ member: { user: "ann", state: "member", version: 2 }, person: { id: "ann" } }]);
        const late = state.applyRows(joined, [{ member: { user: "ann", state: "invited", version: 1 } }]);
        return [invited, joined, late].map((thread) => state.stateOf(thread, "ann"));
    """
    assert run(script) == ["invited", "member", "member"]


def test_authors_and_mentioned_people_are_to_be_found(run):
    script = BEGIN + "return state.unknownPeople(open([one], { people: [{ id: 'ben' }] }));"
    ranges = [{"kind": "mention", "start": 0, "length": 1, "user": "cem"}, {"kind": "mention", "start": 1, "length": 1}]
    assert run(script, one=message(1, 1, ranges=ranges)) == ["cem"]


def test_writers(run):
    script = """
        const { applyTyping, currentWriters, nextStop } = await load("state/typing.js");
        const { writersText } = await load("chat/thread/notices.js");
        const name = (user) => user.toUpperCase();
        let writers = applyTyping({}, { user: "ben", state: "recording" }, 0);
        const one = writersText(writers, name);
        writers = applyTyping(writers, { user: "cem", state: "typing" }, 1000);
        const both = writersText(writers, name);
        const [stop, later] = [nextStop(writers), currentWriters(writers, 4000)];
        return [one, both, stop, writersText(later, name), writersText(applyTyping(later, { user: "cem", state: "stopped" }, 4000), name)];
    """
    assert run(script) == ["BEN is recording…", "BEN and CEM are typing…", 3500, "CEM is typing…", ""]

"""state/earlier-range.js: reading in an earlier range of a conversation, and coming back."""

import pytest

BEGIN = """
    const state = await load("state/thread-rows.js");
    const past = await load("state/earlier-range.js");
    const message = (number, version = number) => ({ number, version, author: "ben", reactions: {} });
    const page = (first, last, hasEarlier, hasLater) => ({ range: [first, last], hasEarlier, hasLater, own: [],
        messages: Array.from({ length: last - first + 1 }, (_, index) => message(first + index)) });
    const open = state.applySnapshot(state.emptyThread(), { conversation: { id: "c", version: 1 }, membership: { read: 0 },
        members: [], people: [], ...page(90, 99, true, false) });
    const shown = (thread) => {
        const numbers = state.shownMessages(thread).map((one) => one.number);
        return [numbers[0], numbers.at(-1), numbers.length];
    };
    const around = past.applyAround(open, page(10, 30, true, true));
"""


def test_an_earlier_range_is_shown_instead_of_the_newest(run):
    script = BEGIN + """
        const grown = past.applyLater(state.applyEarlier(around, page(1, 9, false, true), 10), page(31, 50, true, true), 30);
        return [shown(around), shown(grown), grown.past.hasEarlier, [grown.first, grown.last], shown(past.leftPast(grown)),
            state.heldMessages(past.leftPast(grown)).length, past.applyLater(grown, page(31, 50, true, true), 30) === grown];
    """
    assert run(script) == [[10, 30, 21], [1, 50, 50], False, [90, 99], [90, 99, 10], 10, True]


@pytest.mark.parametrize(("later", "want"), [("31, 89, true, true", [10, 99, 90]), ("31, 99, true, false", [10, 99, 90])])
def test_ranges_that_meet_are_one(run, later, want):
    script = BEGIN + f"""
        const met = past.applyLater(around, page({later}), 30);
        return [shown(met), met.past === undefined, met.hasEarlier, met.first];
    """
    assert run(script) == [want, True, True, 10]


def test_a_page_that_meets_the_newest_range_is_no_other_one(run):
    script = BEGIN + """
        const near = past.applyAround(open, page(80, 95, true, true));
        const within = past.applyAround(open, page(92, 95, true, true));
        return [shown(near), near.past === undefined, near.hasEarlier, shown(within)];
    """
    assert run(script) == [[80, 99, 20], True, True, [90, 99, 10]]


def test_frames_change_both_ranges_and_nothing_between(run):
    """A message between them is left for its page, and one after a gap ends the earlier range."""
    script = BEGIN + """
        const rows = [message(20, 500), message(60, 501), message(95, 502), message(100, 503), message(5, 504)].map((one) => ({ message: one }));
        const next = state.applyRows(around, rows);
        const versions = [20, 60, 95, 100, 5].map((number) => state.messageOf(next, number)?.version ?? null);
        const gap = state.applyRows(next, [{ message: message(300, 900) }], [101, 299]);
        return [versions, shown(next), shown(past.leftPast(next)), gap.past === undefined, shown(gap)];
    """
    assert run(script) == [[500, None, 502, 503, None], [10, 30, 21], [90, 100, 11], True, [300, 300, 1]]


def test_counting_what_is_newer(run):
    script = BEGIN + """
        const more = state.applyRows(around, [{ message: message(100) }, { message: { ...message(101), author: "ann" } },
            { message: { ...message(102), notice: { kind: "left" } } }, { message: { ...message(103), deletedAt: "now" } }]);
        return [past.newerThan(more, 98, "ann"), past.newerThan(more, 100, "ann"), past.isShown(around, 20), past.isShown(around, 95)];
    """
    assert run(script) == [2, 0, True, False]


BOUND = BEGIN + """
    const held = (thread) => {
        const numbers = state.heldMessages(thread).map((one) => one.number);
        return [numbers.length, numbers[0], numbers.at(-1), thread.first, thread.last, thread.hasEarlier,
            thread.past ? [thread.past.first, thread.past.last, thread.past.hasEarlier] : null];
    };
    const long = (first, last) => state.applySnapshot(state.emptyThread(), { conversation: { id: "c", version: 1 },
        membership: { read: 0 }, members: [], people: [], ...page(first, last, false, false) });
"""


def test_at_most_2000_messages_are_held(run):
    """Those around what is in the page, and the newest."""
    script = BOUND + """
        const [few, many] = [long(1, 2000), long(1, 2001)];
        const end = past.bounded(many, { first: 1950 });
        const near = past.bounded(many, { first: 1200, last: 1319 });
        const far = past.bounded(many, { first: 600, last: 719 });
        const top = past.bounded(many, { first: 1, last: 120 });
        return [past.bounded(few, { first: 1 }) === few, held(end), held(near), held(far), held(top)];
    """
    assert run(script) == [
        True, [1000, 1002, 2001, 1002, 2001, True, None], [1302, 700, 2001, 700, 2001, True, None],
        [1500, 100, 2001, 1502, 2001, True, [100, 1099, True]], [1000, 1, 2001, 1502, 2001, True, [1, 500, False]],
    ]


def test_an_earlier_range_is_bounded_at_both_ends_and_meets_the_newest_again(run):
    script = BOUND + """
        const early = past.applyAround(long(5000, 5040), page(1, 2100, false, true));
        const cut = past.bounded(early, { first: 1000, last: 1119 });
        const back = state.applyEarlier(cut, page(450, 499, true, true), 500);
        const later = past.applyLater(cut, page(1500, 1530, true, true), 1499);
        const met = past.applyLater(later, page(1531, 4999, true, true), 1530);
        return [held(cut), state.shownNumbers(cut).length, held(back), held(later), held(met), state.messageOf(later, 5003).number];
    """
    newest = [5000, 5040, True]
    assert run(script) == [
        [1041, 500, 5040, *newest, [500, 1499, True]], 1000, [1091, 450, 5040, *newest, [450, 1499, True]],
        [1072, 500, 5040, *newest, [500, 1530, True]], [4541, 500, 5040, 500, 5040, True, None], 5003,
    ]


def test_notes_end_with_the_messages_that_they_are_of(run):
    """Of those that are read again they come with the page."""
    script = BOUND + """
        const own = (number) => ({ number, starred: true, hidden: true, listened: true, reacted: ["+"], counter: number });
        const noted = state.applyOwn(long(1, 2001), [3, 2000].map(own));
        const maps = ({ hidden, reacted, starred, listened, counters }) => [hidden, reacted, starred, listened, counters].map((one) => Object.keys(one).join());
        const cut = state.heldNotes(past.bounded(noted, { first: 1950 }));
        const cleared = state.cleared(noted, [{ from: 2000 }]);
        return [maps(noted), maps(cut), maps(cleared), state.applyOwn(cut, [own(3)]).starred[3]];
    """
    assert run(script) == [["3,2000"] * 5, ["2000"] * 5, [""] * 5, True]


def test_two_ranges_may_have_a_part_of_one_block(run):
    script = BOUND + """
        const thread = past.applyAround(long(90, 99), page(64, 70, true, true));
        const cut = past.leftPast(state.withCopies(thread, [message(66, 900)]));
        const { outside } = await load("state/blocks.js");
        const numbers = outside(long(60, 80).blocks, 66, 70).flatMap((block) => [[block.index, ...block.messages.map((one) => one.number)]]);
        return [held(thread), state.messageOf(state.withCopies(thread, [message(66, 900)]), 66).version, held(cut), numbers];
    """
    assert run(script) == [
        [17, 64, 99, 90, 99, False, [64, 70, True]], 900, [10, 90, 99, 90, 99, False, None],
        [[0, 60, 61, 62, 63], [1, 64, 65, 66, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80]],
    ]

"""state/past.js: reading in an earlier range of a conversation, and coming back."""

import pytest

BEGIN = """
    const state = await load("state/thread.js");
    const past = await load("state/past.js");
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
            Object.keys(past.leftPast(grown).messages).length, past.applyLater(grown, page(31, 50, true, true), 30) === grown];
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
        const versions = [20, 60, 95, 100, 5].map((number) => next.messages[number]?.version ?? null);
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

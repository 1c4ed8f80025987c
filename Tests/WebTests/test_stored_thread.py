"""What of a thread is written to the disk, and what two tabs make of it (state/stored-thread.js)."""

import random

import pytest

HELD = """
    const h = await load("state/stored-thread.js");
    const { messagesIn, noBlocks, withMessages } = await load("state/blocks.js");
    const blocks = (list, known = noBlocks) => withMessages(known, list, (_, one) => one);
    const { emptyThread } = await load("state/thread-rows.js");
    const message = (number, version = number) => ({ number, version, text: `text ${number}` });
    const thread = (first, last, more = {}) => ({ ...emptyThread(), isLoaded: true, first, last, hasEarlier: first > 1,
        blocks: blocks(Array.from({ length: last - first + 1 }, (_, index) => message(first + index))), ...more });
    const numbers = ({ messages }) => messages.map((one) => one.number);
"""


def test_what_has_changed_is_written_alone(run):
    script = HELD + """
        const before = thread(5, 8);
        const next = { ...before, last: 9, blocks: blocks([message(6, 20), message(9)], before.blocks), starred: { 7: true }, counters: { 7: 30 } };
        const earlier = { ...before, first: 3, blocks: blocks([message(3), message(4)], before.blocks) };
        const past = { ...before, blocks: blocks([message(1)], before.blocks) };
        const change = h.changesOf(before, next);
        return [numbers(change), change.own, change.isReplaced, change.hasRoster, numbers(h.changesOf(before, earlier)),
            numbers(h.changesOf(before, past)), numbers(h.changesOf(emptyThread(), before))];
    """
    own = [{"number": 7, "hidden": False, "starred": True, "listened": False, "reacted": [], "counter": 30}]
    assert run(script) == [[6, 9], own, False, False, [3, 4], [], [5, 6, 7, 8]]


def test_a_thread_that_lost_messages_is_written_anew(run):
    """After a gap, a clearing, or where nothing is known of what is on disk."""
    script = HELD + """
        const before = thread(1, 4);
        const gap = h.changesOf(before, { ...thread(3, 4) });
        const same = h.changesOf(before, before, true);
        return [gap.isReplaced, numbers(gap), same.isReplaced, numbers(same), same.hasRoster];
    """
    assert run(script) == [True, [3, 4], True, [1, 2, 3, 4], True]


def test_messages_of_responses_are_written_with_the_newest_range(run):
    script = HELD + """
        const { withResponse } = await load("state/results.js");
        const [next, empty] = [withResponse(thread(5, 8), message(12)), withResponse({ ...emptyThread(), isLoaded: true }, message(12))];
        const [record, alone] = [h.recordOf(next), h.changesOf(emptyThread(), empty)];
        return [numbers(h.changesOf(thread(5, 8), next, true)), [record.first, record.last], numbers(alone), alone.isReplaced];
    """
    assert run(script) == [[5, 6, 7, 8, 12], [5, 8], [12], False]


MEETING = HELD + """
    const record = (sequence, first, last, epoch = "e") => ({ position: [epoch, sequence], first, last, hasEarlier: first > 1 });
    const met = (stored, own, isReplaced = false, known = stored?.first) => {
        const { isOther = false, empty = false, record: next } = h.meeting(stored, own, { isReplaced, known });
        return [isOther, empty, next?.first ?? null];
    };
"""


@pytest.mark.parametrize(
    ("script", "want"),
    [
        ("met(undefined, record(5, 3, 9), true)", [False, True, 3]),
        # Another tab has read further up, and knows of the same changes.
        ("met(record(5, 1, 8), record(6, 3, 9))", [False, False, 1]), ("met(record(5, 3, 8), record(5, 1, 8))", [False, False, 1]),
        # It is ahead.
        ("met(record(7, 1, 9), record(6, 3, 8))", [False, False, None]), ("met(record(7, 1, 9), record(6, 3, 8), true)", [False, False, None]),
        # What was there has not been followed.
        ("met(record(5, 1, 8), record(6, 3, 9), true)", [False, True, 3]),
        # Another epoch begins with everything.
        ("met(record(9, 1, 8, 'old'), record(2, 1, 3), true)", [False, True, 1]), ("met(record(2, 1, 3), record(9, 1, 8, 'old'))", [True, False, None]),
        # Room was made meanwhile.
        ("met(record(5, 6, 8), record(6, 1, 9), false, 1)", [False, False, 6]),
    ],
)
def test_a_record_meets_that_of_another_tab(run, script, want):
    assert run(MEETING + f"return {script};") == want


def test_a_thread_comes_back_as_it_was(run):
    script = HELD + """
        const left = thread(2, 9, { starred: { 4: true }, hidden: { 5: true }, reacted: { 6: ["+"] }, read: 7, people: { me: { id: "me" } } });
        const own = h.changesOf(emptyThread(), left).own;
        const record = h.recordOf(left);
        const again = h.threadOf(record, h.rosterOf(left), { messages: messagesIn(left.blocks), own }, 2);
        const part = h.threadOf(record, h.rosterOf(left), { messages: [message(9)], own: [] }, 9);
        return [JSON.stringify(again.blocks) === JSON.stringify(left.blocks), again.starred["4"], again.hidden,
            again.reacted["6"], again.read, again.people, again.hasEarlier, again.isLoaded, [part.first, part.last, part.hasEarlier]];
    """
    assert run(script) == [True, True, {"5": True}, ["+"], 7, {"me": {"id": "me"}}, True, True, [9, 9, True]]


@pytest.mark.parametrize("seed", range(3))
def test_two_tabs_never_write_a_hole(run, seed):
    """Whatever they read and whenever they write: all numbers of the record are on disk, in their last version."""
    print("seed", seed)
    generator = random.Random(seed)
    steps = [(generator.choice(["send", "edit", "earlier", "save", "save", "open"]), generator.randrange(2), generator.random()) for _ in range(120)]
    script = HELD + """
        const server = { sequence: 30, messages: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [index + 1, message(index + 1)])) };
        const last = () => Object.keys(server.messages).length;
        const disk = { record: undefined, messages: {} };
        const take = (first, until, known) => blocks(Object.values(server.messages).filter(({ number }) => number >= first && number <= until), known);
        const fresh = () => ({ state: { ...emptyThread(), first: last() - 4, last: last(), blocks: take(last() - 4, last()) }, saved: emptyThread(), isNew: true, known: undefined, older: [] });
        const open = () => {
            if (!disk.record) return fresh();
            // It hears of everything since the position of the record.
            const first = Math.max(disk.record.first, disk.record.last - 9);
            const saved = { ...emptyThread(), first, last: disk.record.last, blocks: blocks(Object.values(disk.messages).filter(({ number }) => number >= first)) };
            const older = Object.values(server.messages).filter((one) => one.number < first && one.number >= disk.record.first && one.version > disk.record.position[1]);
            return { state: { ...saved, last: last(), blocks: take(first, last()) }, saved, isNew: false, known: disk.record.first, older };
        };
        const tabs = [fresh(), fresh()];
        const announce = (number) => {
            for (const tab of tabs) {
                if (number < tab.state.first) { if (tab.known !== undefined && number >= tab.known) tab.older.push(server.messages[number]); continue; }
                tab.state = { ...tab.state, last: last(), blocks: blocks([server.messages[number]], tab.state.blocks) };
            }
        };
        const holes = [];
        for (const [what, index, part] of steps) {
            const tab = tabs[index];
            if (what === "send" || what === "edit") {
                const number = what === "send" ? last() + 1 : 1 + Math.floor(part * last());
                server.messages[number] = message(number, server.sequence += 1);
                announce(number);
            }
            if (what === "earlier") {
                const first = Math.max(1, tab.state.first - 5);
                tab.state = { ...tab.state, first, blocks: take(first, tab.state.first - 1, tab.state.blocks) };
            }
            if (what === "open") tabs[index] = open();
            if (what === "save") {
                const changes = h.changesOf(tab.saved, tab.state, tab.isNew);
                const own = { position: ["e", server.sequence], first: tab.state.first, last: tab.state.last };
                const { empty, record } = h.meeting(disk.record, own, { isReplaced: changes.isReplaced, known: tab.known });
                if (empty) disk.messages = {};
                for (const one of [...changes.messages, ...tab.older]) if (!(disk.messages[one.number]?.version > one.version)) disk.messages[one.number] = one;
                if (record) disk.record = record;
                [tab.saved, tab.isNew, tab.older, tab.known] = [tab.state, false, [], disk.record.first];
                for (let number = disk.record.first; number <= disk.record.last; number += 1) {
                    if (disk.messages[number]?.version !== server.messages[number].version) holes.push([what, number]);
                }
            }
        }
        return holes;
    """
    assert run(script, steps=steps) == []


def test_who_was_unopened_for_longest_loses_most(run):
    script = """
        const { shrinking } = await load("state/stored-thread.js");
        const list = [["a", 3, 1, 400], ["b", 1, 1, 300], ["c", 2, 51, 90], ["d", 4, 1, 300]]
            .map(([id, openedAt, first, last]) => ({ id, openedAt, first, last }));
        return [shrinking(list, 2000, 50), shrinking(list, 800, 50), shrinking(list, 10, 50).map((one) => one.id)];
    """
    assert run(script) == [[], [{"id": "b", "first": 251}], ["b", "a", "d"]]

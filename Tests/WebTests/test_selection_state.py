"""state/message-choice.js: which messages are chosen, which leave, and what can be done with those that are."""

import pytest

BEGIN = """
    const state = await load("state/thread-rows.js");
    const selection = await load("state/message-choice.js");
    const message = (number, more) => ({ number, version: number, author: "ben", kind: "text", text: `text ${number}`, reactions: {}, ...more });
    const open = (messages, more) => state.applySnapshot(state.emptyThread(), { conversation: { id: "c", kind: "group", version: 1, pins: [] },
        membership: { read: 0, state: "member", role: "member" }, members: [], people: [], own: [], messages,
        range: [messages[0].number, messages.at(-1).number], hasEarlier: false, ...more });
    const many = (count, more) => Array.from({ length: count }, (_, index) => message(index + 1, more?.(index + 1)));
    const thread = open(many(200));
    const choose = (...numbers) => numbers.reduce((now, number) => selection.toggled(now, state.messageOf(thread, number)), selection.emptySelection);
    const numbers = (chosen, now = thread) => selection.selectedMessages(chosen, now).map((one) => one.number);
    const change = (...changes) => state.applyRows(thread, changes.map((one) => ({ message: message(one.number, { version: 1000, ...one }) })));
"""


def test_choosing_and_leaving_out(run):
    script = BEGIN + """
        const three = choose(5, 2, 9);
        return [numbers(three), numbers(choose(5, 2, 5)), selection.countSelected(three), selection.isSelected(three, 2), selection.isSelected(three, 3)];
    """
    assert run(script) == [[2, 5, 9], [2], 3, True, False]


def test_ranges_in_both_directions_without_what_cannot_be_chosen(run):
    script = BEGIN + """
        const mixed = state.applyOwn(change({ number: 3, deletedAt: "2026-01-01T00:00:00Z" }, { number: 4, notice: { kind: "joined" } }),
            [{ number: 5, hidden: true, counter: 1, reacted: [] }]);
        const down = selection.extended(choose(2), mixed, 7);
        const up = selection.extended(choose(9), mixed, 6);
        const alone = selection.extended(selection.emptySelection, mixed, 8);
        return [numbers(down, mixed), numbers(up, mixed), numbers(alone, mixed), numbers(selection.extended(down, mixed, 9), mixed)];
    """
    assert run(script) == [[2, 6, 7], [6, 7, 8, 9], [8], [2, 6, 7, 8, 9]]


def test_at_most_a_hundred(run):
    """Of a range the nearest come first, and one that was chosen can still be left out."""
    script = BEGIN + """
        const down = selection.extended(choose(10), thread, 200);
        const up = selection.extended(choose(190), thread, 1);
        const full = selection.toggled(down, state.messageOf(thread, 150));
        return [numbers(down).length, numbers(down).at(-1), numbers(up)[0], full === down, numbers(selection.toggled(down, state.messageOf(thread, 20))).length];
    """
    assert run(script) == [100, 109, 91, True, 99]


@pytest.mark.parametrize(
    "change",
    [
        'change({ number: 5, text: undefined, deletedAt: "2026-01-01T00:00:00Z" })',
        'change({ number: 5, text: "another", editedAt: "2026-01-01T00:00:00Z" })',
        "state.applyOwn(thread, [{ number: 5, hidden: true, counter: 1, reacted: [] }])",
        "state.cleared(thread, [{ from: 5 }])",
        "open(many(20).slice(8))",
        "disappearing.expired(change({ number: 5, expiresAt: '2026-01-01T00:00:00Z' }), Date.parse('2026-01-02T00:00:00Z'))",
        "pending.withPending(thread, [{ name: 'messages.delete', params: { number: 5, for: 'all' }, createdAt: 0, state: 'waiting' }], 'ann')",
        "pending.withPending(thread, [{ name: 'messages.edit', params: { number: 5, text: 'another' }, createdAt: 0, state: 'waiting' }], 'ann')",
    ],
    ids=["deleted", "edited", "hidden", "cleared", "reset", "expired", "deleted here", "edited here"],
)
def test_one_that_is_not_what_it_was_leaves(run, change):
    script = BEGIN + f"""
        const disappearing = await load("state/disappearing.js");
        const pending = await load("state/pending.js");
        const next = {change};
        const left = selection.kept(choose(5, 9), next);
        return [numbers(left, next), selection.countSelected(left)];
    """
    assert run(script) == [[9], 1]


def test_other_changes_leave_it_as_it_is(run):
    script = BEGIN + """
        const chosen = choose(5, 9);
        const reacted = change({ number: 5, reactions: { "👍": { count: 1, users: ["cem"] } } }, { number: 201 });
        const again = open(many(200));
        return [selection.kept(chosen, reacted) === chosen, selection.kept(chosen, again) === chosen, selection.kept(chosen, state.emptyThread()).texts.size];
    """
    assert run(script) == [True, True, 0]


def test_what_can_be_done_with_all_of_them(run):
    script = BEGIN + """
        const kinds = { 1: { author: "ann" }, 2: {}, 3: { kind: "voice", text: undefined, voice: { file: "f" }, author: "ann" },
            4: { kind: "call", text: undefined, call: {}, author: "ann" } };
        const mixed = state.applyOwn(open(many(4, (number) => kinds[number])), [{ number: 1, starred: true, counter: 1, reacted: [] }]);
        const may = (now, ...list) => {
            const can = selection.actionsFor(list.map((number) => state.messageOf(now, number)), now, "ann");
            return Object.keys(can).filter((name) => can[name]).join(" ");
        };
        const admin = { ...mixed, membership: { ...mixed.membership, role: "admin" } };
        const left = { ...mixed, membership: { ...mixed.membership, state: "left" } };
        const direct = { ...admin, conversation: { ...admin.conversation, kind: "direct" } };
        return [may(mixed), may(mixed, 1), may(mixed, 1, 2), may(mixed, 1, 3), may(mixed, 1, 4), may(admin, 1, 2), may(left, 1), may(direct, 1, 2)];
    """
    assert run(script) == [
        "",
        "copy forward unstar delete deleteForAll",
        "copy forward star delete",
        "copy star delete deleteForAll",
        "copy star delete",
        "copy forward star delete deleteForAll",
        "copy forward unstar delete",
        "copy forward star delete",
    ]

"""state/hints.js: which explanations are held and shown."""

import random

import pytest

BEGIN = """
    const hints = await load("state/hints.js");
    const state = await load("state/thread-rows.js");
    const held = await load("state/stored-thread.js");
    const { withMessages, noBlocks } = await load("state/blocks.js");
    const message = (number, textVersion, more = {}) => ({ number, version: textVersion, textVersion, author: "ben", ...more });
    const thread = (...messages) => ({ ...state.emptyThread(), isLoaded: true, first: messages[0].number, last: messages.at(-1).number,
        blocks: withMessages(noBlocks, messages, (_, one) => one) });
    const row = (number, of, touched, more = {}) => ({ number, of, language: "en", status: "done", kind: "lexicon",
        items: [{ start: 0, length: 1, kind: "slang", meaning: `${number} ${of} ${touched}`, relevance: "high" }], touched, ...more });
    const shown = (known) => state.heldMessages(known).map((one) => hints.hintsOf(known, one)?.items[0]?.meaning ?? null);
"""


@pytest.mark.parametrize("seed", range(3))
def test_rows_in_any_order_and_twice_are_the_latest_of_each(run, seed):
    print("seed", seed)
    generator = random.Random(seed)
    copies = [[number, 2 * version, 20 * number + version] for number in range(1, 6) for version in range(1, 9)]
    delivered = copies + generator.sample(copies, 20)
    generator.shuffle(delivered)
    script = BEGIN + """
        let known = thread(...[1, 2, 3, 4, 5].map((number) => message(number, 1)));
        for (const one of delivered) known = hints.applyHints(known, [row(...one)]);
        const before = shown(known);
        known = state.applyRows(known, [1, 2, 3, 4, 5].map((number) => ({ message: message(number, 16) })));
        return [before, shown(known)];
    """
    assert run(script, delivered=delivered) == [[None] * 5, [f"{number} 16 {20 * number + 8}" for number in range(1, 6)]]


def test_what_a_model_says_is_not_replaced_by_a_lexicon(run):
    script = BEGIN + """
        const model = (touched, more) => row(1, 1, touched, { kind: "model", ...more });
        let known = hints.applyHints(thread(message(1, 1)), [row(1, 1, 0)]);
        const first = shown(known);
        known = hints.applyHints(known, [row(1, 1, 7, { status: "queued" })]);
        known = hints.applyHints(known, [model(9)]);
        known = hints.applyHints(known, [row(1, 1, 0), row(1, 1, 8)]);
        const second = shown(known);
        // Unless it may not be shown any more.
        known = hints.applyHints(known, [row(1, 1, 0, { reason: "consent_required" })]);
        return [first, second, shown(known)];
    """
    assert run(script) == [["1 1 0"], ["1 1 9"], ["1 1 0"]]


def test_a_snapshot_replaces_what_is_held_and_a_record_keeps_it(run):
    script = BEGIN + """
        const known = hints.applyHints(thread(message(1, 1), message(2, 1)), [row(1, 1, 1), row(2, 1, 2)]);
        const record = held.recordOf(known);
        const restored = held.threadOf(record, held.rosterOf(known), { messages: [message(1, 1), message(2, 1)], own: [] }, 1);
        const older = held.threadOf({ ...record, hints: undefined }, held.rosterOf(known), { messages: [message(1, 1)], own: [] }, 1);
        const next = hints.applyHintsSnapshot(known, { hints: [row(2, 1, 3)] });
        return [shown(restored), shown(older), shown(next), shown(hints.applyHintsSnapshot(known, {}))];
    """
    assert run(script) == [["1 1 1", "2 1 2"], [None], [None, "2 1 3"], [None, None]]


def test_those_of_gone_texts_are_not_shown_and_there_are_not_too_many(run):
    script = BEGIN + """
        let known = hints.applyHints(thread(message(1, 5), message(2, 1, { deletedAt: "x" })), [row(1, 4, 9), row(2, 1, 9)]);
        const gone = shown(known);
        const numbers = Array.from({ length: 300 }, (_, index) => index + 1);
        known = hints.applyHints(thread(message(1000, 1)), numbers.map((number) => row(number, 1, number)));
        return [gone, Object.keys(known.hints.rows).length, Math.min(...Object.keys(known.hints.rows).map(Number)),
            hints.hintModeOf(undefined), hints.hintModeOf({ hints: "off" }, { hints: "automatic" }), hints.hintModeOf({ hints: "off" }, {})];
    """
    assert run(script) == [[None, None], 200, 101, "onRequest", "automatic", "off"]

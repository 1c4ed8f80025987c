"""state/translations.js and state/reading.js: which translations are held and shown, and who needs one."""

import random

import pytest

BEGIN = """
    const tr = await load("state/translations.js");
    const state = await load("state/thread-rows.js");
    const { withMessages, noBlocks } = await load("state/blocks.js");
    const message = (number, textVersion, more = {}) => ({ number, version: textVersion, textVersion, author: "ben", ...more });
    const thread = (...messages) => ({ ...state.emptyThread(), isLoaded: true, first: messages[0].number, last: messages.at(-1).number,
        blocks: withMessages(noBlocks, messages, (_, one) => one) });
    const row = (number, of, touched, more = {}) => ({ number, of, language: "en", status: "done", text: `${number} ${of} ${touched}`, touched, ...more });
    const listening = (held, rows, language = "en") => tr.applyTranslationsSnapshot(held, { language, mode: "automatic", translations: rows });
    const texts = (held) => state.heldMessages(held).map((one) => tr.translationOf(held, one)?.text ?? null);
"""


@pytest.mark.parametrize("seed", range(3))
def test_rows_in_any_order_and_twice_are_the_latest_of_each(run, seed):
    print("seed", seed)
    generator = random.Random(seed)
    # Versions of a text only rise with what is touched.
    copies = [[number, 2 * version, 20 * number + version] for number in range(1, 6) for version in range(1, 9)]
    delivered = copies + generator.sample(copies, 20)
    generator.shuffle(delivered)
    script = BEGIN + """
        let held = listening(thread(...[1, 2, 3, 4, 5].map((number) => message(number, 1))), []);
        for (const one of delivered) held = tr.applyTranslations(held, [row(...one)]);
        const before = texts(held);
        held = state.applyRows(held, [1, 2, 3, 4, 5].map((number) => ({ message: message(number, 16) })));
        return [before, texts(held)];
    """
    latest = [f"{number} 16 {20 * number + 8}" for number in range(1, 6)]
    assert run(script, delivered=delivered) == [[None] * 5, latest]


def test_one_is_shown_beside_its_text_alone(run):
    """A newer one waits for its message, and an older one is dropped."""
    script = BEGIN + """
        const held = listening(thread(message(1, 5), message(2, 6)), [row(1, 5, 10), row(2, 8, 11)]);
        const edited = state.applyRows(held, [{ message: message(2, 8) }, { message: message(1, 9) }]);
        const deleted = state.applyRows(edited, [{ message: message(2, 12, { textVersion: 8, deletedAt: "2026-01-01T00:00:00Z" }) }]);
        const late = tr.applyTranslations(edited, [row(1, 5, 30)]);
        return [texts(held), texts(edited), texts(deleted), late === edited, Object.keys(tr.heldTranslations(edited).translations.rows)];
    """
    assert run(script) == [["1 5 10", None], [None, "2 8 11"], [None, None], True, ["2"]]


def test_of_two_copies_the_higher_counts(run):
    script = BEGIN + """
        const pick = (known, one) => tr.newerTranslation(known, one) === one;
        const queued = row(1, 5, 7, { status: "queued" });
        return [pick(queued, row(1, 5, 8)), pick(row(1, 5, 8), queued), pick(row(1, 5, 8), row(1, 6, 2)), pick(row(1, 6, 2), row(1, 5, 8)),
            // Why there is none now: not where there is one.
            pick(queued, row(1, 5, 0, { status: "unavailable" })), pick(row(1, 5, 8), row(1, 5, 0, { status: "unavailable" })),
            pick(row(1, 5, 0, { status: "unavailable" }), queued)];
    """
    assert run(script) == [True, False, True, False, True, False, True]


def test_a_snapshot_replaces_and_another_language_empties(run):
    script = BEGIN + """
        const held = listening(thread(message(1, 5), message(2, 6)), [row(1, 5, 10), row(2, 6, 11)]);
        const again = listening(held, [row(2, 6, 12)]);
        const other = listening(held, [row(1, 5, 13, { language: "es" })], "es");
        const stray = tr.applyTranslations(other, [row(2, 6, 20)]);
        return [texts(again), texts(other), stray === other, texts(listening(held, [], undefined))];
    """
    assert run(script) == [[None, "2 6 12"], ["1 5 13", None], True, [None, None]]


def test_another_epoch_begins_without_those_of_the_last(run):
    script = BEGIN + """
        const snapshot = { conversation: { id: "c", version: 1 }, membership: { read: 0 }, members: [], people: [], messages: [message(1, 5)], range: [1, 1], hasEarlier: false };
        const held = listening(thread(message(1, 5)), [row(1, 5, 10)]);
        return [{}, { isNewEpoch: true }, { isNewEpoch: true, keepsTranslations: true }].map((options) => texts(state.applySnapshot(held, snapshot, options)));
    """
    assert run(script) == [["1 5 10"], [None], ["1 5 10"]]


def test_what_is_written_of_them(run):
    """What is new, and what is gone; after a snapshot, or another language, all."""
    script = BEGIN + """
        const held = listening(thread(message(1, 5), message(2, 6), message(3, 7)), [row(1, 5, 10), row(2, 6, 11)]);
        const more = tr.applyTranslations(held, [row(3, 7, 12), row(9, 20, 13)]);
        const edited = state.applyRows(more, [{ message: message(1, 21) }]);
        const cleared = state.cleared(more, [{ from: 2 }]);
        const short = (before, after, isNew) => {
            const { put, gone, isReplaced } = tr.changedTranslations(before, after, isNew);
            return [put.map((one) => one.number), gone.map((one) => one.number), isReplaced];
        };
        return [short(held, more), short(more, edited), short(more, listening(more, [row(2, 6, 30)])), short(more, listening(more, [], "es")), short(more, cleared, true)];
    """
    assert run(script) == [
        [[3, 9], [], False], [[], [1], False], [[2], [], True], [[], [], True], [[3, 9], [], True],
    ]


@pytest.mark.parametrize(
    ("tag", "known", "is_readable"),
    [
        ("en-US", ["en-GB"], True), ("en", ["de", "en-AU"], True), ("de", ["en"], False), ("zh-Hans", ["zh-Hant"], False),
        ("zh-TW", ["zh-Hant"], True), ("zh-CN", ["zh-TW"], False), ("zh", ["zh-TW"], True), ("sr-Latn", ["sr"], False), ("nb", ["no"], True),
        ("no", ["nn"], True), ("nb", ["nn"], False), ("no", ["no"], True), ("not a tag", ["en"], False), ("ru", [], False),
    ],
)
def test_who_reads_a_language(call, tag, known, is_readable):
    assert call("state/reading.js", "isReadable", tag, known) is is_readable


@pytest.mark.parametrize(
    ("message", "want"),
    [
        ({"language": {"code": "ru", "confidence": "high"}}, [True, True]),
        ({"language": {"code": "en-GB", "confidence": "high"}}, [False, False]),
        # A guess that may be a language that they know is left to them.
        ({"language": {"code": "es", "confidence": "low"}}, [False, True]),
        ({"language": {"code": "ru", "confidence": "low"}}, [True, True]),
        ({}, [False, True]),
        ({"author": "me", "language": {"code": "ru", "confidence": "high"}}, [False, False]),
        ({"deletedAt": "now", "language": {"code": "ru", "confidence": "high"}}, [False, False]),
        ({"text": "😀 12", "language": {"code": "ru", "confidence": "high"}}, [False, False]),
        ({"kind": "voice", "text": None}, [False, False]),
        ({"kind": "voice", "text": None, "voice": {"transcript": {"status": "pending"}}}, [False, False]),
        ({"kind": "voice", "text": None, "voice": {"transcript": {"status": "complete", "text": ""}}}, [False, False]),
        (
            {
                "kind": "voice", "text": None, "voice": {"transcript": {"status": "complete", "text": "слово"}},
                "language": {"code": "ru", "confidence": "high"},
            },
            [True, True],
        ),
    ],
)
def test_who_needs_a_translation(run, message, want):
    script = """
        const { needsTranslation, offersTranslation } = await load("state/reading.js");
        const reader = { me: "me", known: ["en", "de"], into: "en" };
        const one = { kind: "text", author: "ben", text: "слово", ...message };
        return [needsTranslation(one, reader), offersTranslation(one, reader)];
    """
    assert run(script, message=message) == want


def test_how_somebody_reads(run):
    script = """
        const { readerOf } = await load("state/reading.js");
        const me = { languages: ["uk", "en"], translation: { mode: "automatic", into: "en" } };
        return [readerOf(undefined), readerOf({ languages: ["uk"] }), readerOf(me), readerOf(me, { translation: { mode: "off" } })]
            .map(({ mode, into }) => [mode, into ?? null]);
    """
    assert run(script) == [["onRequest", None], ["onRequest", "uk"], ["automatic", "en"], ["off", "uk"]]

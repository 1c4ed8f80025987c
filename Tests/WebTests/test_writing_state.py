"""What is written: drafts over several devices (state/draft-versions.js), mentions (state/mentions.js), and times for later."""

import random

import pytest

DRAFTS = "const d = await load('state/draft-versions.js'); const texts = (...list) => list.map((one) => [one.text, one.revision, one.isSaved]);"


def test_a_draft_is_saved_once_for_all_that_was_written(run):
    script = DRAFTS + """
        const first = d.written(d.emptyDraft(), "H");
        const second = d.written(first, "He");
        const going = d.saving(second);
        const more = d.written(going, "Hel");
        return [d.written(second, "He") === second, ...texts(first, second, going, more, d.received(more, { text: "He", revision: 1 }),
            d.unsaved(going))];
    """
    assert run(script) == [
        True, ["H", 1, False], ["He", 1, False], ["He", 1, True], ["Hel", 2, False], ["Hel", 2, False], ["He", 2, False],
    ]


def test_another_device_never_writes_over_what_is_typed(run):
    """It comes when nothing is being written here, and what is written here goes above it."""
    script = DRAFTS + """
        const other = { text: "other", revision: 4 };
        const own = d.saving(d.written(d.emptyDraft(), "own"));
        return texts(d.received(d.emptyDraft(), other), d.received(own, other), d.received(own, other, { isTyping: true }),
            d.received(d.written(d.emptyDraft(), "own"), other), d.received(own, { text: "", revision: 1 }));
    """
    assert run(script) == [
        ["other", 4, True], ["other", 4, True], ["own", 5, False], ["own", 5, False], ["own", 1, True],
    ]


def test_a_draft_that_was_sent_never_comes_back(run):
    script = DRAFTS + """
        const gone = d.sent(d.saving(d.written(d.emptyDraft(), "sent")));
        const late = d.received(gone, { text: "sent", revision: 1 });
        const next = d.written(late, "next");
        return [late === gone, ...texts(gone, next, d.received(gone, { text: "elsewhere", revision: 2 }))];
    """
    assert run(script) == [True, ["", 1, True], ["next", 2, False], ["elsewhere", 2, True]]


@pytest.mark.parametrize("seed", range(3))
def test_two_devices_end_with_the_same_draft(run, seed):
    """Whatever they write and whenever the server's copy reaches them."""
    print("seed", seed)
    generator = random.Random(seed)
    steps = [(generator.choice(["write", "save", "hear", "send"]), generator.randrange(2), f"text {turn}") for turn in range(60)]
    script = DRAFTS + """
        const devices = [d.emptyDraft(), d.emptyDraft()];
        let server = { text: "", revision: 0 };
        const save = (index) => {
            if (devices[index].isSaved) return;
            const { text, revision } = devices[index];
            devices[index] = d.saving(devices[index]);
            if (revision > server.revision) server = { text, revision };
            devices[index] = d.received(devices[index], server);
        };
        for (const [what, index, text] of steps) {
            if (what === "write") devices[index] = d.written(devices[index], text);
            if (what === "save") save(index);
            if (what === "hear") devices[index] = d.received(devices[index], server);
            if (what === "send") {
                devices[index] = d.sent(devices[index]);
                if (devices[index].revision >= server.revision) server = { text: "", revision: devices[index].revision };
            }
        }
        for (let turn = 0; turn < 4; turn += 1) for (const index of [0, 1]) {
            devices[index] = d.received(devices[index], server);
            save(index);
        }
        return [devices[0].text, devices[1].text, server.text];
    """
    one, other, server = run(script, steps=steps)
    assert one == other == server


MENTIONS = "const m = await load('state/mentions.js');"
ANN, BEN = "0190aaaa-0000-7000-8000-000000000001", "0190aaaa-0000-7000-8000-000000000002"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("@", {"start": 0, "query": ""}), ("hi @be", {"start": 3, "query": "be"}), ("(@Ann Ab", {"start": 1, "query": "Ann Ab"}),
        ("mail@be", None), ("@ann\nand", None), ("@ ann", None), ("no", None), ("@" + "a" * 40, None),
    ],
)
def test_a_mention_begins_after_an_at_sign(run, text, want):
    assert run(MENTIONS + "return m.mentionAt(text, text.length) ?? null;", text=text) == want


def test_names_that_match(run):
    people = [{"id": name, "displayName": name} for name in ("Ben Brook", "Ann Abel", "Bob Ándor", "Cem Can")]
    script = MENTIONS + "return ['b', 'an', 'ca', 'x', ''].map((query) => m.matchingPeople(people, query).map((one) => one.id));"
    assert run(script, people=people) == [
        ["Ben Brook", "Bob Ándor"], ["Ann Abel", "Bob Ándor"], ["Cem Can"], [], ["Ann Abel", "Ben Brook", "Bob Ándor", "Cem Can"],
    ]


def test_a_mention_is_written_as_a_name_and_sent_as_an_id(run):
    script = MENTIONS + """
        const chosen = m.withMention("Hi @be, yes", { start: 3, query: "be" }, { id: ben, displayName: "Ben" });
        const sent = m.encoded(chosen.text, [chosen.mention]);
        const names = { [ann]: "Ann", [ben]: "Ben" };
        const shown = m.decoded(`<@${ann}> and <@${ben}> and <@all> and <@0190aaaa-0000-7000-8000-00000000000f>`, (user) => names[user]);
        return [chosen.text, chosen.caret, sent, shown.text, m.encoded(shown.text, shown.mentions),
            m.encoded("@Bench and @Ben", [chosen.mention])];
    """
    unknown = "<@0190aaaa-0000-7000-8000-00000000000f>"
    assert run(script, ann=ANN, ben=BEN) == [
        "Hi @Ben , yes", 8, f"Hi <@{BEN}> , yes", f"@Ann and @Ben and @all and {unknown}",
        f"<@{ANN}> and <@{BEN}> and <@all> and {unknown}", f"@Bench and <@{BEN}>",
    ]


def test_two_people_of_one_name(run):
    script = MENTIONS + "return m.encoded('@Ann and @Ann', [{ label: '@Ann', user: ann }, { label: '@Ann', user: ben }]);"
    assert run(script, ann=ANN, ben=BEN) == f"<@{ANN}> and <@{BEN}>"


def test_times_for_later(run):
    """In Berlin: 2026-11-26 was a Thursday."""
    script = """
        const { laterChoices, localText } = await load("state/send-times.js");
        return ["2026-11-26T09:30:00Z", "2026-11-29T20:30:00Z", "2026-11-30T08:00:00Z"].map((now) => laterChoices(new Date(now))
            .map(({ name, time }) => `${name} ${localText(time)}`));
    """
    assert run(script) == [
        ["hour 2026-11-26T11:30", "evening 2026-11-26T19:00", "tomorrow 2026-11-27T09:00", "monday 2026-11-30T09:00"],
        ["hour 2026-11-29T22:30", "tomorrow 2026-11-30T09:00", "monday 2026-11-30T09:00"],
        ["hour 2026-11-30T10:00", "evening 2026-11-30T19:00", "tomorrow 2026-12-01T09:00", "monday 2026-12-07T09:00"],
    ]


FOUND = "const f = await load('state/search-matches.js'); const marked = (text, matches) => f.excerpt(text, matches).map((one) => one.isMatch ? `[${one.text}]` : one.text).join('');"


def test_the_part_of_a_text_around_its_first_match(run):
    long = "word " * 30 + "needle in hay " + "tail " * 40
    script = FOUND + """
        const start = long.indexOf("needle");
        return [marked("one two three", [{ start: 4, length: 3 }]), marked(long, [{ start, length: 6 }]), marked("plain"),
            marked("short", [{ start: 90, length: 2 }])];
    """
    short, excerpt, plain, wrong = run(script, long=long)
    assert (short, plain, wrong) == ("one [two] three", "plain", "short")
    assert "[needle] in hay" in excerpt and excerpt.startswith("…word") and excerpt.endswith("…") and len(excerpt) < 200


def test_names_by_the_beginnings_of_their_words(run):
    script = FOUND + "return [['Ann Ábel', 'ab an'], ['Ann Ábel', 'be'], ['Ann', ' '], ['Trip to Rome', 'rom']].map(([name, query]) => f.nameMatches(name, query).map((one) => name.slice(one.start, one.start + one.length)));"
    assert run(script) == [["Áb", "An"], [], [], ["Rom"]]


SAME = [("한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"), ("мой", "мои\u0306"), ("がき", "か\u3099き"), ("テスト", "ﾃｽﾄ"), ("ガム", "ｶﾞﾑ")]


@pytest.mark.parametrize(("one", "other"), SAME + [(other, one) for one, other in SAME])
def test_what_looks_the_same_is_found(run, one, other):
    """In names and messages, and the ranges are of the text as it is."""
    script = FOUND + """
        const name = `Ann ${one}`;
        const [{ matches }] = f.messagesWith([{ number: 1, text: `😀 ${one}, x` }], [], other, 0);
        return [f.nameMatches(name, other).map(({ start, length }) => name.slice(start, start + length)),
            matches.map(({ start, length }) => [start, length])];
    """
    assert run(script, one=one, other=other) == [[one], [[3, len(one)]]]


def test_a_part_of_a_letter_begins_no_word(run):
    script = FOUND + "return ['йогурт', 'и\u0306огурт', 'हिन्दी'].map((name) => f.nameMatches(name, name.includes('о') ? 'огурт' : 'न्दी'));"
    assert run(script) == [[], [], []]


def test_messages_of_this_device_by_the_beginnings_of_their_words(run):
    script = FOUND + """
        const message = (number, text, more) => ({ number, text, ...more });
        const messages = [message(1, "The Needle in the hay"), message(2, "needless"), message(3, "hay"), message(4, "needle hay", { deletedAt: "x" }),
            message(5, "needle, hay"), message(6, "needle hay", { expiresAt: "2026-01-01T00:00:00Z" }), message(7, undefined, { voice: { transcript: { text: "hay needle" } } }),
            message(8, "今日は天気がいい"), message(9, "Ánne’s needle")];
        const found = (query) => f.messagesWith(messages, [{ number: 5, hidden: true }], query, Date.parse("2026-02-01")).map(({ message, matches }) =>
            [message.number, ...matches.map(({ start, length }) => (message.text ?? message.voice.transcript.text).slice(start, start + length))]);
        return [found("hay need"), found("ANNE"), found("天気"), found(" "), found("eedle")];
    """
    hay, anne, weather, nothing, inner = run(script)
    assert hay == [[1, "hay", "Needle"], [7, "hay", "needle"]]
    assert (anne, weather, nothing, inner) == ([[9, "Ánne"]], [[8, "天気"]], [], [])


def test_messages_of_this_device_by_filters(run):
    script = FOUND + """
        const link = { kind: "link", start: 0, length: 4 };
        const messages = [{ number: 1, conversation: "a", kind: "text", text: "hay", ranges: [link] }, { number: 2, conversation: "b", kind: "text", text: "hay" },
            { number: 3, conversation: "a", kind: "voice", voice: {} }, { number: 4, conversation: "a", kind: "text", text: "hay", ranges: [{ kind: "mention", user: "ann" }] },
            { number: 5, conversation: "a", kind: "text", text: "hay", ranges: [{ kind: "mention" }] }, { number: 6, conversation: "a", kind: "text", text: "hay", ranges: [{ kind: "mention", user: "ben" }] }];
        const found = (query, filters) => f.messagesWith(messages, [{ number: 2, starred: true }], query, 0, { me: "ann", ...filters }).map(({ message }) => message.number);
        return [found("", { link: true }), found("hay", { conversation: "b" }), found("", { kind: "voice" }), found("", { mentions: true }), found("", { starred: true }),
            found("needle", { link: true }), found("", { conversation: "a" })];
    """
    assert run(script) == [[1], [2], [3], [4, 5], [2], [], []]


def test_messages_of_this_device_by_author_and_days(run):
    """Days are those of the user, whose clock is an hour ahead of UTC, in summer two; the last is one of them."""
    script = FOUND + """
        const message = (number, author, sentAt) => ({ number, author, sentAt, kind: "text", text: "hay" });
        const messages = [message(1, "ann", "2026-01-30T22:59:59Z"), message(2, "ben", "2026-01-30T23:00:00Z"), message(3, "ann", "2026-01-31T22:59:59Z"),
            message(4, "ann", "2026-01-31T23:00:00Z")];
        const found = (query, filters) => f.messagesWith(messages, [], query, 0, { me: "ann", ...filters }).map(({ message }) => message.number);
        return [found("", { author: "ann" }), found("hay", f.timesOf("2026-01-31", "2026-01-31")), found("hay", f.timesOf("2026-02-01", "")), found("hay", f.timesOf("", "2026-01-30")),
            found("", { author: "ann", ...f.timesOf("2026-01-31", "") }), found("", f.timesOf("2026-01-31", "")), f.timesOf("", ""), f.timesOf("2026-03-29", "2026-03-29")];
    """
    summer = {"from": "2026-03-28T23:00:00.000Z", "to": "2026-03-29T22:00:00.000Z"}
    assert run(script) == [[1, 3, 4], [2, 3], [4], [1], [3, 4], [], {}, summer]

"""Emoji: the file that Scripts/emoji has written, searching it (state/emoji-search.js), and names in a text (state/emoji-writing.js)."""

import json
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "Sources/WebAPI/Web/emoji"
FILE = FOLDER / "en.json"
LANGUAGES = sorted(one.stem for one in FOLDER.glob("*.json"))
EMOJI = """
const e = await load("state/emoji-search.js");
const all = e.emojiOf(await (await fetch("/emoji/en.json")).json());
const first = (query, count = 1) => e.foundEmoji(all, query).slice(0, count).map((one) => one.text).join(" ");
"""
WRITING = "const w = await load('state/emoji-writing.js');"


def test_the_file_has_the_standard(run):
    """Every emoji once, in its order, those with tones as variants; and a reaction may be any of them in any tone."""
    groups = json.loads(FILE.read_text())["groups"]
    rows = [row for group in groups.values() for row in group]
    texts = [row[0] for row in rows]
    assert next(iter(groups)) == "smileys" and [*groups][-1] == "flags" and texts[0] == "😀"
    assert len(texts) == len(set(texts)) > 1_800
    assert all(row[1].strip() for row in rows)
    script = EMOJI + """
        const texts = all.items.flatMap((one) => [0, 1, 2, 3, 4, 5].map((tone) => e.toned(one, tone)));
        return [new Set(texts).size, texts.filter((one) => !e.isOneEmoji(one)), e.toned(all.items[0], 3)];
    """
    tones = sum(len(row) == 4 for row in rows)
    assert run(script) == [len(texts) + 5 * tones, [], "😀"]


def test_a_tone_is_that_of_everybody_in_it(run):
    script = EMOJI + "return ['👋', '🧑‍🤝‍🧑', '🤝'].map((text) => e.toned(all.items.find((one) => one.text === text), 5));"
    assert run(script) == ["👋🏿", "🧑🏿‍🤝‍🧑🏿", "🤝🏿"]


@pytest.mark.parametrize(("query", "first"), [
    # A short name that is known elsewhere, then names that begin with it, words that do, and those that have it within.
    ("heart", "❤️"), ("+1", "👍"), ("tada", "🎉"), ("100", "💯"), ("thumbs up", "👍"), ("up thu", "👍"), ("GRINNING", "😀"),
    ("flag: fra", "🇫🇷"), ("cote", "🇨🇮"), ("eyed", ""), ("☃", "☃️"), ("👋🏽", "👋"), ("", ""), ("  ", ""), ("zzzz", ""),
])  # fmt: skip
def test_search(run, query, first):
    assert run(EMOJI + "return first(query)", query=query) == first


@pytest.mark.parametrize("tag", LANGUAGES)
def test_every_language_has_the_same_emoji(tag):
    """With names of their own, but for the few that are newer than the annotations."""
    files = [json.loads((FOLDER / f"{one}.json").read_text()) for one in ("en", tag)]
    english, own = ([(group, row) for group, rows in one["groups"].items() for row in rows] for one in files)
    assert files[1]["language"] == tag
    assert [(group, row[0], row[3:]) for group, row in english] == [(group, row[0], row[3:]) for group, row in own]
    same = [row[0] for (_, first), (_, row) in zip(english, own) if first[1] == row[1]]
    assert tag == "en" or len(same) < 100, same


IN_TWO = """
    const e = await load("state/emoji-search.js");
    const [own, english] = await Promise.all([tag, "en"].map(async (one) => (await fetch(`/emoji/${one}.json`)).json()));
    const all = e.emojiOf(own, english);
"""


@pytest.mark.parametrize(("tag", "query", "first"), [
    ("es", "cohete", "🚀"), ("es", "rocket", "🚀"), ("es", "corazon rojo", "❤️"), ("es", "tada", "🎉"), ("es", "waving hand", "👋"),
    ("pt", "foguete", "🚀"), ("pt", "coração vermelho", "❤️"), ("pt", "TACA DE VINHO", "🍷"), ("ru", "ракета", "🚀"),
    ("ru", "алое сердце", "❤️"), ("ru", "snowman", "☃️"), ("hi", "रॉकेट", "🚀"), ("hi", "लाल दिल", "❤️"), ("hi", "rocket", "🚀"),
    ("ar", "صاروخ", "🚀"), ("ar", "قلب أحمر", "❤️"), ("ar", "rocket", "🚀"), ("ar", "قلب احمر", "❤️"),
])  # fmt: skip
def test_search_in_a_language_and_in_english(run, tag, query, first):
    assert run(IN_TWO + "return e.foundEmoji(all, query)[0]?.text ?? ''", tag=tag, query=query) == first


@pytest.mark.parametrize(("tag", "name", "text"), [
    ("es", "corazón_rojo", "❤️"), ("es", "red_heart", "❤️"), ("ru", "алое_сердце", "❤️"), ("ru", "heart", "❤️"), ("ar", "قلب_أحمر", "❤️"),
])  # fmt: skip
def test_a_whole_name_in_a_language_and_in_english(run, tag, name, text):
    assert run(IN_TWO + "return e.emojiNamed(all, name)?.text ?? ''", tag=tag, name=name) == text


def test_vowels_are_no_accents(run):
    """Marks that a script writes its vowels with tell words apart."""
    script = """
        const { folded } = await load("state/mentions.js");
        return ["हिन्दी", "ÀÉñ", "ЙЁ", "Ἀθήνα", "مُحَمَّد"].map(folded);
    """
    assert run(script) == ["हिन्दी", "aen", "ие", "αθηνα", "محمد"]


def test_words_that_begin_so_come_first(run):
    """And of each kind, the order is the standard's."""
    script = EMOJI + """
        return e.foundEmoji(all, "rin").map((one) => [one.name.startsWith("rin") ? 0 : one.words.some((word) => word.startsWith("rin")) ? 1 : 2,
            all.items.indexOf(one)]);
    """
    found = run(script)
    assert found == sorted(found) and {rank for rank, _ in found} >= {0, 2}


def test_those_that_were_used_last(run):
    script = EMOJI + """
        let recent = [];
        for (let index = 0; index < 40; index += 1) recent = e.withRecent(recent, all.items[index % 36].text);
        const again = e.withRecent(["👍🏽", "🎉"], "🎉");
        return [recent.length, recent[0] === all.items[3].text, new Set(recent).size, again,
            e.itemsFor(all, ["👍🏽", "🪉"]).map(({ text, name }) => [text, name])];
    """
    assert run(script) == [32, True, 32, ["🎉", "👍🏽"], [["👍🏽", "thumbs up"], ["🪉", "🪉"]]]


@pytest.mark.parametrize(("text", "is_one"), [
    ("❤", True), ("❤️", True), ("1️⃣", True), ("#⃣", True), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", True), ("🪉", True), ("👨‍👩‍👧‍👦", True), ("🇫🇷", True), ("👋🏽", True),
    ("1", False), ("", False), ("a", False), ("👍👍", False), ("👍 ", False), ("🇫", False), ("🏽", False), ("👍\u200d", False), ("🎉🏽", False),
    ("🏴󠁧󠁢", False), ("\u200d".join(["👩"] * 12), False),
])  # fmt: skip
def test_a_reaction_is_one_emoji(call, text, is_one):
    """As the server's ReactionEmoji decides."""
    assert call("state/emoji-search.js", "isOneEmoji", text) is is_one


@pytest.mark.parametrize(("text", "found"), [
    (":smi", [0, "smi"]), ("well :sm", [5, "sm"]), ("line\n:+1", [5, "+1"]), (":s", None), ("at 10:30", None), ("a:smi", None), (":-)", None),
    (": smi", None), (":smi ", None), (":हंस", [0, "हंस"]), ("`:smi", None), ("`code` :smi", [7, "smi"]), ("```\n:smi\n", None), ("```\n:smi", None),
    ("``` a ``` :smi", [10, "smi"]), ("`a\n:smi", [3, "smi"]), ("``a` :smi", None), (":smi" + "x" * 50, None),
])  # fmt: skip
def test_what_a_colon_begins(run, text, found):
    script = WRITING + "const found = w.emojiAt(text, text.length); return found ? [found.start, found.query] : null;"
    assert run(script, text=text) == found


def test_a_caret_between_code_and_text(run):
    script = WRITING + """
        const text = ":ab `:cd` :ef";
        return [3, 8, 13].map((caret) => w.emojiAt(text, caret)?.query ?? null);
    """
    assert run(script) == ["ab", None, "ef"]


@pytest.mark.parametrize(("text", "replaced"), [
    (":smile:", "😄"), ("so :heart:", "so ❤️"), (":red_heart:", "❤️"), (":Red-Heart:", "❤️"), (":nothing_of_this:", None), ("a:smile:", None),
    ("`:smile:", None), ("::", None), ("at :30:", None), (":x:", "❌"),
])  # fmt: skip
def test_a_whole_name(run, text, replaced):
    script = EMOJI + WRITING + """
        const begun = w.wholeEmojiAt(text, text.length);
        const item = begun && e.emojiNamed(all, begun.query);
        return item ? w.withEmoji(text, begun, item.text).text : null;
    """
    assert run(script, text=text) == replaced


def test_the_caret_stands_after_the_emoji(run):
    script = WRITING + "return Object.values(w.withEmoji('a :smi b', w.emojiAt('a :smi b', 6), '😄'));"
    assert run(script) == ["a 😄 b", 4]

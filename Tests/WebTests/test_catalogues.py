"""The catalogues of other languages: their forms are the browser's, their texts are shown, and Scripts/catalogues finds faults."""

import json
import pathlib
import re
import runpy

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FILES = {one.stem: one for one in sorted((ROOT / "Sources/WebAPI/Web/catalogues").glob("*.json"))}
SCRIPT = runpy.run_path(str(ROOT / "Scripts/catalogues"))
# A text of each, and of a count: the forms differ.
SHOWN = {
    "ar": ("إلغاء", ["لا ردود", "رد واحد", "ردّان", "5 ردود", "11 ردًا", "100 رد"]),
    "es": ("Cancelar", ["0 respuestas", "1 respuesta", "2 respuestas", "5 respuestas", "11 respuestas", "100 respuestas"]),
    "hi": ("रद्द करें", ["0 जवाब", "1 जवाब", "2 जवाब", "5 जवाब", "11 जवाब", "100 जवाब"]),
    "pt": ("Cancelar", ["0 resposta", "1 resposta", "2 respostas", "5 respostas", "11 respostas", "100 respostas"]),
    "ru": ("Отмена", ["0 ответов", "1 ответ", "2 ответа", "5 ответов", "11 ответов", "100 ответов"]),
}
IN = """
    const { setLocale } = await load("language/locale.js");
    const { t } = await load("language/texts.js");
    setLocale(tag, await (await fetch(`/catalogues/${tag}.json`)).json());
    try { %s } finally { setLocale("en"); }
"""


@pytest.mark.parametrize("tag", FILES)
def test_texts_and_plurals(run, tag):
    body = "return [t('common.cancel'), [0, 1, 2, 5, 11, 100].map((count) => t('message.replies', { count }))]"
    assert run(IN % body, tag=tag) == list(SHOWN[tag])


@pytest.mark.parametrize("tag", ["en", *FILES])
def test_the_plural_categories_are_those_of_the_browser(run, tag):
    """And the forms that may say their number in words are for one number alone, of all up to two millions."""
    counts = [*range(2_000), *range(2_000, 2_000_001, 1_000), 1.5, 0.5]
    script = """
        const rules = new Intl.PluralRules(tag);
        return [rules.resolvedOptions().pluralCategories, counts.map((count) => rules.select(count))];
    """
    categories, chosen = run(script, tag=tag, counts=counts)
    known, exact = SCRIPT["PLURALS"][tag]
    assert set(categories) == known
    assert all(chosen.count(category) == 1 for category in exact)


@pytest.mark.parametrize("tag", FILES)
def test_one_kind_of_digits(run, tag):
    """Clocks and counts have the same as dates and numbers, whatever the language is used to."""
    body = """
        const { dayText, lengthText, numberText, stampText } = await load("language/format.js");
        const day = dayText("2030-12-31T12:00:00Z", new Date("2031-05-06T12:00:00Z"));
        return [day, lengthText(64 * 60_000), numberText(1.5, 1), stampText("2030-12-31T12:00:00Z"), t("members.count", { count: 1234 })];
    """
    for text in run(IN % body, tag=tag):
        assert re.findall(r"\d", text) and re.findall(r"\d", text) == re.findall(r"[0-9]", text), text


def test_the_catalogues_are_whole():
    assert SCRIPT["check"](SCRIPT["english"]()) == []


@pytest.mark.parametrize(("entry", "own", "tag", "found"), [
    ("Call {name}", "Llamar a {name}", "es", []),
    ("Call {name}", "Llamar", "es", ["lacks {name}"]),
    ("Call", "Llamar a {name}", "es", ["has an unknown {name}"]),
    ("Call {name}", "Llamar a {nombre}", "es", ["lacks {name}", "has an unknown {nombre}"]),
    ("Your call has ended", "Your call has ended", "es", ["is in English"]),
    ("Chat", "Chat", "es", []),
    ("Call", "Llamar ", "es", ["is empty, or begins or ends with a space"]),
    ("Call", "", "es", ["is empty, or begins or ends with a space"]),
    ({"one": "{count} day", "other": "{count} days"}, "{count} días", "es", ["needs a form for each of many, one, other"]),
    ({"one": "{count} day", "other": "{count} days"}, {"one": "un día", "other": "{count} días"}, "es", ["has no form for many"]),
    ({"one": "{count} day", "other": "{count} days"}, {"one": "{count} दिन", "few": "{count} दिन", "other": "{count} दिन"}, "hi",
     ["has forms that the language has not: few"]),
    # In Hindi it is also for 0, in Spanish for 1 alone.
    ({"one": "{count} day", "other": "{count} days"}, {"one": "एक दिन", "other": "{count} दिन"}, "hi", ["(one) lacks {count}"]),
    ({"one": "{count} day", "other": "{count} days"}, {"one": "un día", "many": "días", "other": "{count} días"}, "es",
     ["(many) lacks {count}"]),
    ("{count} unread", {"one": "{count} अपठित", "other": "{count} अपठित"}, "hi", []),
    ("Unread", {"one": "अपठित", "other": "अपठित"}, "hi", ["has plural forms, but no count"]),
])  # fmt: skip
def test_faults_of_an_entry(entry, own, tag, found):
    assert SCRIPT["faults"](entry, own, tag) == found


def test_a_new_text_is_asked_for_in_each_language():
    """With its English, for whoever translates it; and one that is gone is named."""
    source = SCRIPT["english"]()
    source["composer"]["somethingNew"] = "Something new"
    del source["common"]["cancel"]
    assert sorted(SCRIPT["check"](source)) == sorted(
        line for tag in FILES for line in (
            f"catalogues/{tag}.json: composer.somethingNew is missing, in English 'Something new'",
            f"catalogues/{tag}.json: common.cancel is not in catalogues/en.js"))


@pytest.mark.parametrize("tag", FILES)
def test_the_order_is_that_of_english(tag):
    """So that a translator finds the text beside its neighbours."""
    source, own = SCRIPT["english"](), json.loads(FILES[tag].read_text())
    assert [(group, [*texts]) for group, texts in own.items()] == [(group, [*texts]) for group, texts in source.items()]

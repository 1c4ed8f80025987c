"""state/language-choices.js: the languages to choose from for a message, and finding one."""

import pytest

CHOICES = """
const l = await load("state/language-choices.js");
const name = (tag) => (code) => new Intl.DisplayNames(tag, { type: "language" }).of(code);
const choices = l.languageChoices(["pt-BR", "es", "pt-BR"], name("es"), name("en"), new Intl.Collator("es").compare);
const codes = (found) => found.map((one) => one.code);
"""


def test_the_likely_ones_come_first(run):
    """Each is there once, has a name, and the others are in the order of their names."""
    choices, names = run(CHOICES + """
        const others = choices.slice(2).map((one) => one.name);
        return [codes(choices), others.every((one, index) => index === 0 || new Intl.Collator("es").compare(others[index - 1], one) < 0)];
    """)
    assert choices[:2] == ["pt-BR", "es"]
    assert len(set(choices)) == len(choices) > 100
    assert names
    unnamed = run(CHOICES + "return codes(choices.filter(({ code, name }) => name === code))")
    assert unnamed == []


@pytest.mark.parametrize(("query", "first"), [
    ("", "pt-BR"), ("ruso", "ru"), ("RUSSIAN", "ru"), ("aleman", "de"), ("zh-hant", "zh-Hant"), ("tradicional", "zh-Hant"), ("hi", "hi"),
    ("xx", None), ("uso", None),
])  # fmt: skip
def test_finding_one(run, query, first):
    found = run(CHOICES + "return codes(l.foundLanguages(choices, query))", query=query)
    assert (found[0] if found else None) == first if query != "hi" else "hi" in found

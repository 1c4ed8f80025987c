"""state/hosted-names.js: the names of the hosted services that a level allows."""

import pytest


def engine(name, hosted=True):
    return {"name": name, "hosted": hosted}


SERVER = {
    "translators": [engine("mt"), engine("apertium", hosted=False)],
    "transcriber": engine("speech"),
    "embedder": engine("e5"),
    "languageModel": engine("writer"),
}


@pytest.mark.parametrize(
    ("level", "names"),
    [
        ("off", []),
        ("local", []),
        ("translate", ["mt", "speech"]),
        ("full", ["writer", "mt", "speech", "e5"]),
        ("a level of tomorrow", []),
    ],
)
def test_each_level_allows_its_own(call, level, names):
    assert call("state/hosted-names.js", "hostedNames", SERVER, level) == names


@pytest.mark.parametrize(
    ("server", "names"),
    [
        ({}, []),
        ({"languageModel": engine("writer", hosted=False), "translators": [engine("mt")]}, ["mt"]),
        # One that does several things is named once.
        ({"languageModel": engine("one"), "translators": [engine("one")], "transcriber": engine("one")}, ["one"]),
    ],
)
def test_what_is_not_there_or_the_operators_own_is_not_named(call, server, names):
    assert call("state/hosted-names.js", "hostedNames", server, "full") == names

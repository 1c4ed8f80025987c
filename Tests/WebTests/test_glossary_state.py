"""state/glossary-terms.js: the terms of a conversation, a list that is replaced as a whole."""

import pytest

BOX = {"source": "box", "target": "caja", "language": "es"}
CASE = {"source": "Box", "target": "Caja", "language": "es"}
OTHER = {"source": "box", "target": "caixa", "language": "pt"}


def of(call, name, *arguments):
    return call("state/glossary-terms.js", name, *arguments)


def test_a_term_is_one_for_its_words_as_they_are_written_and_its_language(call):
    changed = BOX | {"target": "cajón"}
    assert of(call, "hasTerm", [BOX, OTHER], changed)
    assert not of(call, "hasTerm", [BOX, OTHER], CASE)
    assert not of(call, "hasTerm", [BOX, OTHER], changed, BOX)
    # It may not become another one that is there.
    assert of(call, "hasTerm", [BOX, OTHER], OTHER, BOX)


def test_adding_changing_and_removing(call):
    assert of(call, "withTerm", [BOX], OTHER) == [BOX, OTHER]
    assert of(call, "withTerm", [BOX, OTHER], CASE, BOX) == [CASE, OTHER]
    # Somebody has removed the one that is changed.
    assert of(call, "withTerm", [OTHER], CASE, BOX) == [OTHER, CASE]
    assert of(call, "withoutTerm", [BOX, CASE, OTHER], BOX) == [CASE, OTHER]


@pytest.mark.parametrize(
    ("field", "want"),
    [("terms[0].source", "source"), ("terms[199].target", "target"), ("terms[3].language", "language"), ("terms", None), (None, None),
     ("terms[1].nothing", None)])
def test_which_field_a_problem_is_about(call, field, want):
    # JSON has no undefined.
    assert of(call, "fieldOfTerm", *([] if field is None else [field])) == want

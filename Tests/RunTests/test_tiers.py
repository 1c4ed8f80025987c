"""The list of tiers, and which failed tests are tried once more."""

from __future__ import annotations

import datetime

import pytest
from switchboard_tests.runs import reruns
from switchboard_tests.runs.cases import Case, Outcome
from switchboard_tests.runs.tiers import Entry, Tiers, TiersError

TIERS = Tiers(
    [
        Entry("IntegrationTests/test_a.py", True, True, ""),
        Entry("IntegrationTests/test_a.py::test_load", False, True, "load"),
        Entry("IntegrationTests/test_a.py::test_load[a-b]", True, True, ""),
        Entry("IntegrationTests/test_access.py", True, False, "the access matrix"),
        Entry("LoadTests", True, True, ""),
        Entry("LoadTests.Media", False, True, "media"),
    ]
)


def test_the_longest_name_decides():
    assert TIERS.of_item("Tests/IntegrationTests/test_a.py::test_x[1]").is_presubmit
    assert not TIERS.of_item("Tests/IntegrationTests/test_a.py::test_load[a::b]").is_presubmit
    assert TIERS.of_item("Tests/IntegrationTests/test_a.py::test_load[a-b]").is_presubmit
    assert TIERS.of_function("LoadTests.Checker/works()/Checker.swift:1:2").is_presubmit
    assert not TIERS.of_function("LoadTests.Media/works(_:)/Media.swift:1:2").is_presubmit
    assert TIERS.swift_outside_presubmit == ["LoadTests.Media"]
    with pytest.raises(TiersError, match="has no line"):
        TIERS.of_item("Tests/IntegrationTests/test_new.py::test_x")


def test_the_list_is_complete(tmp_path):
    (tmp_path / "IntegrationTests").mkdir()
    (tmp_path / "IntegrationTests/test_a.py").write_text("def test_load(): pass")
    (tmp_path / "IntegrationTests/test_new.py").write_text("")
    (tmp_path / "LoadTests").mkdir()
    (tmp_path / "LoadTests/Checker.swift").write_text("struct Checker {}")
    problems = "\n".join(TIERS.problems(tmp_path))
    assert "test_new.py has no line" in problems
    assert "test_access.py: there is no such file" in problems
    assert "LoadTests.Media: there is no such suite" in problems
    assert len(problems.splitlines()) == 3
    assert Tiers.read().problems() == []


@pytest.mark.parametrize(
    "line, problem",
    [
        ("WireTests", "1 columns"),
        ("WireTests\tsome\tonce", "tier: 'some'"),
        ("WireTests\tgate\ttwice", "rerun: 'twice'"),
        ("WireTests\tall\tonce", "reason"),
        ("WireTests\tgate\tnever", "reason"),
        ("WireTests\tgate\tonce\nWireTests\tgate\tonce", "has a line already"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, problem):
    file = tmp_path / "tiers.tsv"
    file.write_text(f"# A comment.\n{line}\n")
    with pytest.raises(TiersError, match=problem):
        Tiers.read(file)


def failed(test="Tests/IntegrationTests/test_a.py::test_x", outcome=Outcome.FAILED, text="", in_teardown=False):
    file = "Tests/LoadTests/Checker.swift" if test.startswith("LoadTests") else test.split("::")[0]
    return Case(test, file, outcome, 1, text, in_teardown)


@pytest.mark.parametrize(
    "case, reason",
    [
        (failed(), None),
        (failed("LoadTests.Checker/works()/Checker.swift:1:2"), None),
        (failed(outcome=Outcome.HUNG), "hung"),
        (failed(outcome=Outcome.CRASHED), "crashed"),
        (failed(text="the server died:\nlog"), "the server died"),
        (failed(text="AddressSanitizer: heap-use-after-free"), "Sanitizer"),
        (failed(text="Switchboard/Call.swift:3: Fatal error: Index out of range"), "Fatal error"),
        (failed(in_teardown=True), "whole test"),
        (failed("Tests/IntegrationTests/test_access.py::test_x"), "access matrix"),
    ],
)
def test_what_is_tried_once_more(case, reason):
    why = reruns.why_never(case, TIERS, set(), {})
    assert why is None if reason is None else reason in why


def test_tests_that_were_changed_lately_are_not():
    recent = {"Tests/IntegrationTests/test_a.py"}
    assert "last 20 commits" in reruns.why_never(failed(), TIERS, recent, {})
    # Known ones are, for a while.
    assert reruns.why_never(failed(), TIERS, recent, {failed().id: datetime.date.today()}) is None


def test_known_flakes_have_an_end(tmp_path):
    file = tmp_path / "flaky.tsv"
    file.write_text("# A comment.\ntest_a\ta race\t2026-11-01\t2026-11-15\n")
    known = reruns.flaky(file)
    assert reruns.expired(known, datetime.date(2026, 11, 15)) == []
    assert reruns.expired(known, datetime.date(2026, 11, 16)) == ["test_a"]
    for line in ("a\ta race\t2026-11-01\t2026-11-16", "a\t\t2026-11-01\t2026-11-02", "a\tb\tc\td", "a"):
        file.write_text(line)
        with pytest.raises(reruns.FlakyError):
            reruns.flaky(file)
    assert reruns.expired(reruns.flaky(), datetime.date.today()) == []

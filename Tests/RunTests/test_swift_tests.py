"""The runner of Swift's tests, around a program that behaves like their executable."""

from __future__ import annotations

import json
import os
import pathlib

import pytest
from switchboard_tests.runs.cases import Outcome
from switchboard_tests.runs.swift_tests import SwiftTests, pattern

FAKE = pathlib.Path(__file__).parent / "fake_tests.py"
ONE = "FakeTests.SuiteA/works(_:)/Suite.swift:1:6"
TWO = "FakeTests.SuiteA/worksToo()/Suite.swift:2:6"
THREE = "FakeTests.SuiteB/works()/Suite.swift:3:6"


@pytest.fixture
def tests(tmp_path):
    def make(*plan, **options) -> SwiftTests:
        file = tmp_path / "plan.json"
        file.write_text(json.dumps(plan))
        return SwiftTests(FAKE, tmp_path / "log", os.environ | {"FAKE_PLAN": str(file)}, **options)

    return make


def outcomes(cases):
    return {case.id: case.outcome for case in cases}


def passing(*names):
    return [step for name in names for step in ({"start": name}, {"end": name})]


def test_what_passes_fails_and_is_skipped(tests):
    run = tests(*passing(ONE), {"start": TWO}, {"issue": TWO}, {"end": TWO}, {"skip": THREE})
    cases = run.run()
    assert outcomes(cases) == {ONE: Outcome.PASSED, TWO: Outcome.FAILED, THREE: Outcome.SKIPPED}
    [failed] = [case for case in cases if case.is_red]
    assert "1 == 2" in failed.text and failed.file == "Tests/FakeTests/Suite.swift"


def test_a_case_that_is_open_for_too_long_is_ended_and_the_rest_runs(tests):
    plan = [*passing(ONE), {"start": TWO}, {"sleep": 60}, {"end": TWO}, *passing(THREE)]
    # The second process has no TWO, so the sleep is all that is left of it: a short one.
    run = tests(*plan[:3], {"sleep": 3}, *plan[4:], case_seconds=1)
    assert outcomes(run.run()) == {ONE: Outcome.PASSED, TWO: Outcome.HUNG, THREE: Outcome.PASSED}


def test_a_crash_is_of_what_was_running_and_the_rest_runs(tests, tmp_path):
    plan = [*passing(ONE), {"start": TWO}]
    first = tests(*plan, {"kill": 4}, *passing(THREE))
    assert outcomes(first._run_once([])[0].cases()) == {ONE: Outcome.PASSED}
    stream, ending = first._run_once([])
    assert outcomes(stream.cases(ending)) == {ONE: Outcome.PASSED, TWO: Outcome.CRASHED}
    # Whatever is selected, this plan kills its process: without a test that was running, that is a crash of its own.
    found = outcomes(first.run())
    assert found[ONE] is Outcome.PASSED and found[TWO] is Outcome.CRASHED
    assert [name for name, outcome in found.items() if outcome is Outcome.CRASHED and name != TWO]


def test_an_end_before_the_end_is_a_crash_even_with_code_0(tests):
    assert Outcome.CRASHED in outcomes(tests({"start": ONE}, {"exit": 0}).run()).values()


def test_one_alone(tests):
    run = tests(*passing(ONE, TWO))
    assert run.run_alone(TWO).outcome is Outcome.PASSED
    # A test that is not there has not passed.
    assert run.run_alone("FakeTests.SuiteA/gone()/Suite.swift:9:6") is None
    # Neither has one that is skipped.
    assert tests({"skip": ONE}).run_alone(ONE) is None


def test_a_pattern_is_of_one_function():
    assert pattern("A.B/c(_:)/D.swift:1:2") == r"^A\.B/c\(_:\)/D\.swift:1:2$"

"""What becomes of pytest's reports, and of a pytest that ends before its time."""

from __future__ import annotations

import json
import os
import pathlib
import textwrap

import pytest
from switchboard_tests.runs.cases import Outcome
from switchboard_tests.runs.python_tests import PythonTests, read
from switchboard_tests.runs.tiers import ROOT


def report(outcome, when, text="", crashed=False):
    one = {"id": "Tests/F/test_f.py::test", "outcome": outcome, "when": when, "seconds": 1, "text": text}
    return json.dumps(one | {"crashed": crashed})


@pytest.mark.parametrize(
    "lines, outcome, in_teardown",
    [
        ([report("passed", "setup"), report("passed", "call"), report("passed", "teardown")], Outcome.PASSED, False),
        ([report("passed", "setup"), report("failed", "call"), report("passed", "teardown")], Outcome.FAILED, False),
        ([report("passed", "setup"), report("passed", "call"), report("failed", "teardown")], Outcome.FAILED, True),
        ([report("failed", "setup"), report("passed", "teardown")], Outcome.FAILED, False),
        ([report("skipped", "setup"), report("passed", "teardown")], Outcome.SKIPPED, False),
        ([report("passed", "setup"), report("skipped", "call"), report("passed", "teardown")], Outcome.SKIPPED, False),
        ([report("passed", "setup"), report("failed", "???", crashed=True)], Outcome.CRASHED, False),
        ([report("passed", "setup"), report("passed", "call")], Outcome.CRASHED, False),
    ],
)
def test_reports_of_one_item_are_one_case(lines, outcome, in_teardown):
    [case], has_finished = read(lines)
    assert not has_finished
    assert (case.outcome, case.in_teardown, case.seconds) == (outcome, in_teardown, len(lines))
    assert case.file == "Tests/F/test_f.py"


@pytest.fixture
def run(tmp_path):
    """Runs a file with these tests, as `Scripts/test` runs those of the project."""

    def runs(text, *arguments):
        (tmp_path / "conftest.py").write_text('pytest_plugins = ["switchboard_tests.runs.results_plugin"]\n')
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        (tmp_path / "test_it.py").write_text(textwrap.dedent(text))
        environment = os.environ | {"PYTHONPATH": str(ROOT / "Tests/PythonSupport")}
        environment.pop("PYTEST_XDIST_WORKER", None)
        tests = PythonTests(ROOT / ".venv/bin/pytest", tmp_path, environment)
        cases = tests.run("--tier=all", *arguments, "test_it.py")
        return {pathlib.Path(case.id).name: case.outcome for case in cases}

    return runs


def test_a_hang_ends_its_process_and_the_rest_runs(run):
    found = run(
        """
        import time
        def test_first(): pass
        def test_hangs(): time.sleep(60)
        def test_last(): pass
        """,
        "--numprocesses=1", "--timeout=2", "--timeout-method=thread",
    )  # fmt: skip
    assert found == {
        "test_it.py::test_first": Outcome.PASSED, "test_it.py::test_hangs": Outcome.HUNG,
        "test_it.py::test_last": Outcome.PASSED,
    }  # fmt: skip


def test_a_hang_of_one_alone_is_named(run):
    found = run("import time\ndef test_hangs(): time.sleep(60)", "--timeout=1")
    assert found["test_it.py::test_hangs"] is Outcome.HUNG
    assert found["pytest --tier=all --timeout=1 test_it.py"] is Outcome.CRASHED


def test_an_error_of_collection_is_red(run):
    assert Outcome.FAILED in run("import nothing_like_this").values()


def test_the_end_of_pytest_itself_is_red(run):
    for code in (0, 1, 3):
        found = run(f"import os\ndef test_first(): pass\ndef test_ends(): os._exit({code})\ndef test_last(): pass")
        assert found["test_it.py::test_first"] is Outcome.PASSED
        assert found["test_it.py::test_ends"] is Outcome.CRASHED
        # What did not run is told of by the run.
        assert found["pytest --tier=all test_it.py"] is Outcome.CRASHED


def test_one_alone_has_passed_only_if_pytest_has(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(
        textwrap.dedent(
            """
            import os
            pytest_plugins = ["switchboard_tests.runs.results_plugin"]
            def pytest_sessionfinish():
                assert "FAILS" not in os.environ
            """
        )
    )
    (tmp_path / "test_it.py").write_text("def test_passes(): pass\ndef test_fails(): assert False\n")
    file = f"{os.path.relpath(tmp_path, ROOT)}/test_it.py"

    def alone(name, **more):
        environment = os.environ | {"PYTHONPATH": str(ROOT / "Tests/PythonSupport")} | more
        environment.pop("PYTEST_XDIST_WORKER", None)
        return PythonTests(ROOT / ".venv/bin/pytest", ROOT, environment).run_alone(f"{file}::{name}")

    assert alone("test_passes").outcome is Outcome.PASSED
    assert alone("test_fails").outcome is Outcome.FAILED
    assert alone("test_passes", FAILS="1").outcome is Outcome.CRASHED
    # What is not there has not passed.
    assert alone("test_gone").is_red

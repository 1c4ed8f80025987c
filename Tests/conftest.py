"""Assertions of the modules that the suites share are explained like those of test modules. Every frame of the realtime
clients and pages has to be in /asyncapi.json, and what was seen of its tables is kept for Scripts/check-seen.
"""

import pytest

pytest.register_assert_rewrite("switchboard_tests")
pytest_plugins = ["switchboard_tests.runs.results_plugin"]


@pytest.fixture(autouse=True)
def frames_are_in_the_document():
    """Fails the test during which a frame was not as the document says."""
    from switchboard_tests import asyncapi

    yield
    found = asyncapi.take_violations()
    assert not found, "\n".join(found)


def pytest_runtest_logreport(report):
    from switchboard_tests import seen

    if report.skipped and not hasattr(report, "wasxfail"):
        seen.skipped.append(report.nodeid)


def pytest_sessionfinish():
    from switchboard_tests import asyncapi, seen

    if asyncapi.loaded is not None:
        seen.save(asyncapi.loaded.document)

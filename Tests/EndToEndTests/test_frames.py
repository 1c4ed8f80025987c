"""The check of the pages' realtime frames, on which all other tests here rely: it sees them, and finds a wrong one."""

import pytest
from switchboard_tests import asyncapi, seen
from switchboard_tests.browsers.pages import Person

# The page's own socket sends a request that does not exist.
WRONG = """
const [done] = arguments;
globalThis.switchboard.realtime.request("calls.nothing").then(() => done(null), ({ type }) => done(type));
"""


@pytest.fixture
def ann(browsers, url):
    yield Person(browsers[0], url, "Ann Abel").sign_up()
    browsers[0].driver.get("about:blank")


def test_frames_of_pages_are_seen(ann, monkeypatch):
    monkeypatch.setattr(seen, "things", set())
    requests = []
    monkeypatch.setattr(asyncapi, "answered", lambda request, response: requests.append((request, response)))
    ann.driver.refresh()
    ann.is_in()
    assert asyncapi.take_violations() == []
    assert "user:{user} snapshot" in seen.things
    hello, response = next(pair for pair in requests if "hello" in pair[0])
    assert response["id"] == hello["id"] and response["result"]["user"] == ann.user


def test_wrong_frames_of_pages_are_reported(ann):
    with asyncapi.wrong_on_purpose():
        assert ann.driver.execute_async_script(WRONG) == "invalid_request"
    assert asyncapi.take_violations() == []
    assert ann.driver.execute_async_script(WRONG) == "invalid_request"
    [found] = asyncapi.take_violations()
    assert "calls.nothing" in found and found.startswith("a page sent")

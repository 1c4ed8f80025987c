"""The screens of test_looks.py that need a browser which has notifications."""

import looks_people
import pytest
from screens import check
from stage import Stage
from switchboard_tests.browsers import looks
from switchboard_tests.browsers.browser import DESK


@pytest.fixture(scope="module", params=looks.DIRECTIONS)
def stage(request, whole_browsers, url, server):
    made = Stage(whole_browsers, url, request.param, server)
    made.sign_up()
    yield made
    made.leave()
    for one in whole_browsers:
        one.resize(DESK)
        one.set_dark(False)


@pytest.mark.parametrize("screen", [looks_people.notification_hint, looks_people.notification_settings])
def test_screen(stage, request, screen):
    check(screen, stage, request.config)

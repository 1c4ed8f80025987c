"""Every screen of the web client in two of its twelve appearances, all of them with `--appearances all`.

The two differ in size, theme and direction, and are those of the day: a run can be repeated, and six days see all.
What has to hold of each screen is in `looks.faults`: no violation that axe-core knows, contrast included, nothing cut
off, covered or too small to be hit, every text translated, and a name for whatever the accessibility tree lists as a
control. With `--screenshots DIR` each screen is also written as a picture, with that tree beside it.
"""

import pathlib

import looks_calls
import looks_chats
import looks_failures
import looks_people
import pytest
from screens import check
from stage import Stage
from switchboard_tests.browsers import audit, looks
from switchboard_tests.browsers.browser import DESK
from switchboard_tests.tcp_proxy import Proxy

# What is there before anything was written: first, and each by itself. The rest is seen with what was, in any order.
BEFORE = [looks_people.welcome, looks_people.empty]
SCREENS = [*looks_people.SCREENS, *looks_chats.SCREENS, *looks_failures.SCREENS, *looks_calls.SCREENS]


@pytest.fixture(scope="module", params=looks.DIRECTIONS)
def stage(request, browsers, url, server):
    for one in browsers:
        one.keep_one_tab()
    proxy = Proxy(server.port) if server else None
    made = Stage(browsers, url, request.param, server, proxy)
    yield made
    made.leave()
    if proxy:
        proxy.close()
    for one in browsers:
        one.resize(DESK)
        one.set_dark(False)


@pytest.mark.parametrize("screen", SCREENS, ids=[one.__name__ for one in SCREENS])
def test_screen(screen, stage, request):
    if screen not in BEFORE:
        stage.write()
    check(screen, stage, request.config)


# A desk whose page is shown at twice the size has half of the room.
ZOOMED = (640, 400)
OTHERS = [
    looks_chats.chats, looks_chats.details, looks_chats.emoji, looks_chats.writing, looks_chats.other_threads,
    looks_chats.thread_search, looks_chats.selecting, looks_chats.message_menus, looks_people.settings,
    looks_failures.nothing,
]  # fmt: skip


@pytest.mark.parametrize("stage", ["ltr"], indirect=True)
@pytest.mark.parametrize("screen", OTHERS, ids=[one.__name__ for one in OTHERS])
def test_at_twice_the_size_and_with_forced_colors(screen, stage, request):
    stage.write()
    folder = request.config.getoption("--screenshots")
    browser, driver = stage.browsers[0], stage.driver
    desk = looks.Appearance("desk", "light", "ltr")
    found = []
    looks.put_on(browser, desk)
    stage.reset()
    for name in screen(stage):
        looks.put_on(browser, desk, forced_colors="active")
        if folder:
            browser.screenshot(pathlib.Path(folder) / f"{name}-forced-colors.png")
        for one in [*driver.execute_script(audit.INDISTINCT), *looks.violations(browser, "color-contrast")]:
            found.append(f"{name}, forced colors: {one}")
        looks.put_on(browser, desk)
        browser.resize(ZOOMED)
        looks.settle(browser)
        if folder:
            browser.screenshot(pathlib.Path(folder) / f"{name}-zoomed.png")
        for script in (audit.CLIPPED, audit.UNREACHABLE):
            found += [f"{name}, at twice the size: {one}" for one in driver.execute_script(script)]
        looks.put_on(browser, desk)
    assert not found, "\n".join(found)

"""What has to hold of every screen, in each of the appearances that a run asks for."""

import pathlib

import pytest
from switchboard_tests.browsers import looks


def check(screen, stage, config):
    """Looks at what a screen shows, in the appearances that were asked for."""
    wanted = [one for one in looks.named(config.getoption("--appearances")) if one.direction == stage.direction]
    if not wanted:
        pytest.skip(f"no appearance is {stage.direction}")
    folder = config.getoption("--screenshots")
    browser = stage.browsers[0]
    found = []
    looks.put_on(browser, wanted[0])
    stage.reset()
    for name in screen(stage):
        for appearance in wanted:
            looks.put_on(browser, appearance)
            text, faults = looks.tree(browser)
            if folder:
                path = pathlib.Path(folder) / f"{name}-{appearance}"
                browser.screenshot(path.with_suffix(".png"))
                path.with_suffix(".txt").write_text(text)
            faults += looks.faults(browser, appearance, *stage.latin)
            found += [f"{name}, {appearance}: {one}" for one in faults]
        looks.put_on(browser, wanted[0])
    assert not found, "\n".join(found)

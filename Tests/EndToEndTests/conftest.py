"""Two people with a browser each, against the real binary."""

import contextlib
import pathlib
import sys
import time

import pytest
from selenium.common.exceptions import WebDriverException

# The integration tests' network namespaces and certificates.
sys.path.append(str(pathlib.Path(__file__).parents[1] / "IntegrationTests"))

from browser import Browser
from pages import Person, connect
from proxy import Proxy
from server import Server, default_binary


def pytest_addoption(parser):
    here = pathlib.Path(__file__).parent
    parser.addoption("--binary", default=str(default_binary()), help="the switchboard binary")
    parser.addoption("--screenshots", default=str(here / "screenshots"), help="folder for the screenshots")
    parser.addoption("--url", help="use a running server (tests that restart it are skipped)")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the state of every browser to a failed test, since the cause may be in another one."""
    report = (yield).get_result()
    if report.when == "call" and report.failed:
        for one in Browser.living:
            with contextlib.suppress(WebDriverException, OSError):
                report.sections.append((f"browser {one.name}", one.state()))


@pytest.fixture(scope="session")
def server(request, tmp_path_factory):
    if request.config.getoption("--url"):
        yield None
        return
    one = Server(request.config.getoption("--binary"), tmp_path_factory.mktemp("server")).start()
    yield one
    one.stop()


@pytest.fixture(scope="session")
def url(request, server):
    return server.url if server else request.config.getoption("--url").rstrip("/")


@pytest.fixture(scope="session")
def browsers(tmp_path_factory):
    both = [Browser(name, tmp_path_factory.mktemp(name)) for name in ("left", "right")]
    yield both
    for one in both:
        one.quit()


@pytest.fixture
def people(browsers, url):
    """Ann and Ben, new to the server, signed in."""
    for one in browsers:
        one.keep_one_tab()
    yield [Person(one, url, name).sign_up() for one, name in zip(browsers, ("Ann Abel", "Ben Brook"))]
    for one in browsers:
        one.keep_one_tab()
        # Leaves the pages, so that no call of this test rings in the next.
        one.driver.get("about:blank")


@pytest.fixture
def ann(people):
    return people[0]


@pytest.fixture
def ben(people):
    return people[1]


@pytest.fixture
def proxy(server):
    if server is None:
        pytest.skip("needs a server of its own")
    one = Proxy(server.port)
    yield one
    one.close()


@pytest.fixture
def pictures(request):
    """Takes a picture of a screen: `pictures(person.browser, "name")`."""
    folder = pathlib.Path(request.config.getoption("--screenshots"))

    def take(browser, name):
        # Transitions take at most a quarter of a second; nothing is asserted on screenshots.
        time.sleep(0.35)
        browser.screenshot(folder / f"{name}.png")

    return take


@pytest.fixture
def in_call(people):
    """Ann has called Ben with video, and both see each other."""
    connect(*people)
    return people

"""Two people with a browser each, against the real binary."""

import contextlib
import datetime
import pathlib
import subprocess
import time
import wave

import pytest
from selenium.common.exceptions import WebDriverException
from switchboard_tests.browsers import looks
from switchboard_tests.browsers.browser import Browser
from switchboard_tests.browsers.chats import API, open_chat, shows
from switchboard_tests.browsers.offline import KEPT
from switchboard_tests.browsers.pages import WORDS, Person, connect, together
from switchboard_tests.browsers.server import Server, default_binary
from switchboard_tests.browsers.transcription import listening_server
from switchboard_tests.tcp_proxy import Proxy

NAMES = ["Ann Abel", "Ben Brook", "Cem Can", "Dora Dean"]


def pytest_addoption(parser):
    parser.addoption("--binary", default=str(default_binary()), help="the switchboard binary")
    parser.addoption("--screenshots", help="folder for screenshots, of which none are taken without it")
    pair = ",".join(str(one) for one in looks.of_the_day(datetime.date.today()))
    parser.addoption("--appearances", default=pair, help="of test_looks: all, or desk-light-ltr,phone-dark-rtl")
    parser.addoption("--url", help="use a running server (tests that restart it are skipped)")


def pytest_terminal_summary(terminalreporter, config):
    terminalreporter.write_line(f"appearances of test_looks: {config.getoption('--appearances')}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the state of every browser and server to a failed test, since the cause may be in another one."""
    report = (yield).get_result()
    if report.when == "call" and report.failed:
        for one in Browser.living:
            with contextlib.suppress(WebDriverException, OSError):
                report.sections.append((f"browser {one.name}", one.state()))
        for server in Server.living:
            report.sections.append((f"server at {server.port}", server.tail()))


@pytest.fixture(autouse=True)
def pages_keep_the_policy():
    """Fails the test during which a page has violated its content security policy."""
    yield
    found = {one.name: one.take_violations() for one in Browser.living}
    assert not any(found.values()), found


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


@pytest.fixture(scope="module")
def whole_browsers(tmp_path_factory):
    """What a file has as `browsers` whose pages need more than Chromium's engine."""
    both = [Browser(name, tmp_path_factory.mktemp(name), is_whole=True) for name in ("left", "right")]
    yield both
    for one in both:
        one.quit()


def leave_pages(browser):
    browser.keep_one_tab()
    browser.driver.get("about:blank")


@pytest.fixture
def people(browsers, url):
    """Ann and Ben, new to the server, signed in."""
    for one in browsers:
        one.keep_one_tab()
    made = [Person(one, url, name) for one, name in zip(browsers, NAMES)]
    together(made, Person.sign_up)
    yield made
    # So that no call of this test rings in the next.
    together(browsers, leave_pages)


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
def pair(browsers, url, proxy):
    """Ann, whose way to the server can be cut, and Ben: `(ann, ben, conversation)`, open at both."""
    for one in browsers:
        one.keep_one_tab()
    people = zip(browsers, (proxy.url, url), ("Ann Abel", "Ben Brook"))
    ann, ben = [Person(one, where, name).sign_up() for one, where, name in people]
    conversation = API(ann).create("direct", [API(ben)])
    for person in (ann, ben):
        open_chat(person, conversation)
        shows(person, "Hello")
    # The page opens without the server from now on.
    ann.browser.wait("the worker", lambda: ann.driver.execute_script(KEPT))
    yield ann, ben, conversation
    proxy.restore()
    for one in browsers:
        one.keep_one_tab()
        one.driver.get("about:blank")


@pytest.fixture(scope="module")
def chatters(browsers, url):
    """Ann and Ben, signed up once for all tests of a file."""
    for one in browsers:
        one.keep_one_tab()
    made = [Person(one, url, name) for one, name in zip(browsers, ("Ann Abel", "Ben Brook"))]
    together(made, Person.sign_up)
    yield made
    together(browsers, lambda one: one.driver.get("about:blank"))


@pytest.fixture(scope="module")
def apis(chatters):
    return [API(one) for one in chatters]


@pytest.fixture
def group(request, apis):
    """A new group of both, by the name of the test."""
    ann, ben = apis
    return ann.create("group", [ben], name=request.node.name[5:45])


@pytest.fixture
def pictures(request):
    """Takes a picture of a screen: `pictures(person.browser, "name")`."""
    folder = request.config.getoption("--screenshots")

    def take(browser, name):
        if not folder:
            return
        # Transitions take at most a quarter of a second; nothing is asserted on screenshots.
        time.sleep(0.35)
        browser.screenshot(pathlib.Path(folder) / f"{name}.png")

    return take


@pytest.fixture
def in_call(people):
    """Ann has called Ben with video, and both see each other."""
    connect(*people)
    return people


@pytest.fixture(scope="module")
def four(browsers, tmp_path_factory):
    """Four browsers: the two that every test has, and two more."""
    more = [Browser(name, tmp_path_factory.mktemp(name)) for name in ("third", "fourth")]
    yield [*browsers, *more]
    for one in more:
        one.quit()


@pytest.fixture
def crowd(four, url):
    """Signs that many people up. They send small pictures, since one machine makes and shows all of them."""

    def gather(count):
        made = [Person(one, url, name) for one, name in zip(four[:count], NAMES)]
        together(made, lambda person: person.sign_up(save_data=True))
        return made

    for one in four:
        one.keep_one_tab()
    yield gather
    together(four, leave_pages)


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    """A speech file that a browser's fake microphone plays in a loop, with a pause, as there is between sentences."""
    file = tmp_path_factory.mktemp("speech") / "words.wav"
    subprocess.run(["flite", "-voice", "slt", "-t", WORDS, "-o", file], check=True)
    with wave.open(str(file)) as said:
        form, words = said.getparams(), said.readframes(said.getnframes())
    with wave.open(str(file), "wb") as with_pause:
        with_pause.setparams(form)
        with_pause.writeframes(words + bytes(form.framerate * form.sampwidth))
    return file


@pytest.fixture(scope="module")
def speaker(spoken, tmp_path_factory):
    """A browser whose fake microphone plays speech."""
    one = Browser("speaker", tmp_path_factory.mktemp("speaker"), [f"--use-file-for-fake-audio-capture={spoken}"])
    yield one
    one.quit()


@pytest.fixture
def listener(request, tmp_path):
    """A server, and the path of a file that makes its transcription provider fail."""
    one, broken = listening_server(request.config.getoption("--binary"), tmp_path)
    one.start()
    yield one, broken
    one.stop()


@pytest.fixture
def three(browsers, speaker, listener):
    """Ann, Ben and Cem; Ben's fake microphone plays speech."""
    server, _ = listener
    for one in browsers:
        one.keep_one_tab()
    made = [Person(one, server.url, name) for one, name in zip((browsers[0], speaker, browsers[1]), NAMES)]
    together(made, Person.sign_up)
    yield made
    together((*browsers, speaker), lambda one: one.driver.get("about:blank"))

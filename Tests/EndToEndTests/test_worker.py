"""The service worker: the page opens without a server, and a new build comes with a reload that somebody asks for."""

import json
import re

import pytest
from switchboard_tests.browsers.builds import serve, write_build
from switchboard_tests.browsers.pages import PASSWORD, Person
from switchboard_tests.browsers.server import Server
from switchboard_tests.server import HTTP

OTHER = "0123456789ab"
# The build of the page, what is kept, and the state of the worker: `activated`, or null.
BUILDS = """
const [done] = arguments;
const own = document.querySelector("meta[name=build]")?.content ?? null;
Promise.all([caches.keys(), navigator.serviceWorker?.getRegistration()])
    .then(([names, { installing, waiting, active } = {}]) =>
        done([own, names, (installing ?? waiting ?? active)?.state ?? null]));
"""
# What the worker keeps, by its paths.
KEPT = """
const [done] = arguments;
caches.keys().then(([name]) => caches.open(name)).then((cache) => cache.keys())
    .then((requests) => done(requests.map(({ url }) => new URL(url).pathname)));
"""
WITHOUT_WORKERS = "Object.defineProperty(Navigator.prototype, 'serviceWorker', { get: () => undefined });"


@pytest.fixture
def own(request, tmp_path):
    """A server of the test's own."""
    if request.config.getoption("--url"):
        pytest.skip("restarts the server")
    one = Server(request.config.getoption("--binary"), tmp_path).start()
    yield one
    one.stop()


@pytest.fixture
def other_build(own, tmp_path):
    return write_build(own, tmp_path / "other", OTHER)


@pytest.fixture
def browser(browsers):
    one = browsers[0]
    one.keep_one_tab()
    yield one
    one.driver.get("about:blank")


def builds(browser):
    return browser.driver.execute_async_script(BUILDS)


def is_kept(browser, build=None):
    """Waits until the worker keeps the page's build alone."""
    def kept():
        own, names, state = builds(browser)
        return own == (build or own) and names == [f"build {own}"] and state == "activated"

    browser.wait("the build to be kept", kept)


def test_the_page_opens_without_a_server(browser, own, pictures):
    ann = Person(browser, own.url, "Ann Abel").sign_up()
    is_kept(browser)
    own.stop()
    browser.driver.refresh()
    ann.says("#offline", "Reconnecting to the server")
    assert ann.find("main[data-page]") and ann.all("nav a")
    pictures(browser, "offline")
    own.start()
    ann.is_online()
    ann.gone("#offline")


def test_so_does_the_form_to_sign_in(browser, own):
    ann = Person(browser, own.url, "Ann Abel")
    account = {"email": ann.email, "password": PASSWORD, "displayName": ann.name}
    assert HTTP.post(f"{own.url}/v1/accounts", json=account).status_code == 201
    browser.open(own.url)
    ann.find("#sign-in-form")
    is_kept(browser)
    own.stop()
    browser.driver.refresh()
    ann.find("#sign-in-form")
    ann.says("#offline", "Reconnecting to the server")
    # Pressing it says why nothing happens, loses nothing that was typed, and works once the server is there.
    ann.sign_in()
    ann.says("#sign-in-form [role=alert]", "Can’t reach the server")
    own.start()
    ann.click("#sign-in-form [type=submit]")
    ann.is_in()


def test_the_worker_keeps_the_page_alone(browser, own):
    Person(browser, own.url, "Ann Abel").sign_up()
    is_kept(browser)
    for address in ["/v1/server", "/docs", "/favicon.svg", "/openapi.json"]:
        browser.driver.execute_async_script("fetch(arguments[0]).then(() => arguments[1]())", address)
    kept = sorted(re.sub("-[0-9a-f]{12}", "", path) for path in browser.driver.execute_async_script(KEPT))
    assert kept == ["/", "/assets/app.css", "/assets/app.js", "/favicon.svg"]


def test_the_page_can_be_installed(browser, own):
    browser.open(own.url)
    is_kept(browser)
    manifest = browser.driver.execute_cdp_cmd("Page.getAppManifest", {})
    assert manifest["errors"] == [] and json.loads(manifest["data"])["start_url"] == "/"
    assert browser.driver.execute_cdp_cmd("Page.getInstallabilityErrors", {})["installabilityErrors"] == []
    for icon in json.loads(manifest["data"])["icons"]:
        assert own.read(icon["src"])


def test_a_new_build_comes_when_it_is_asked_for(browser, own, other_build, pictures):
    """The server is upgraded while Ann writes: what she has written stays until she loads the new page."""
    serve(own, other_build)
    ann = Person(browser, own.url, "Ann Abel").sign_up()
    is_kept(browser, OTHER)
    ann.find("#search").send_keys("half a na")
    serve(own, None)
    ann.says("#update", "A new version is ready")
    pictures(browser, "new-version")
    assert builds(browser)[0] == OTHER
    assert ann.find("#search").get_attribute("value") == "half a na"
    ann.click("#update [data-action=reload]")
    browser.wait("the new page", lambda: builds(browser)[0] not in (OTHER, None))
    ann.is_in()
    is_kept(browser)
    ann.gone("#update")


def test_without_a_worker_a_reload_brings_it_too(browser, own, other_build):
    script = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WITHOUT_WORKERS})
    try:
        serve(own, other_build)
        ann = Person(browser, own.url, "Ann Abel").sign_up()
        assert builds(browser) == [OTHER, [], None]
        serve(own, None)
        ann.says("#update", "A new version is ready")
        ann.click("#update [data-action=reload]")
        browser.wait("the new page", lambda: builds(browser)[0] not in (OTHER, None))
        ann.is_in()
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_the_worker_leaves_for_another_client(browser, own, tmp_path):
    """The operator serves a client of their own, which has no worker."""
    browser.open(own.url)
    is_kept(browser)
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>Theirs</title>")
    serve(own, folder)

    # The page that was kept, once more; meanwhile the browser looks for another worker.
    browser.driver.refresh()
    browser.wait("the worker to leave", lambda: builds(browser)[1:] == [[], None])
    browser.driver.refresh()
    assert browser.driver.title == "Theirs"
    assert builds(browser) == [None, [], None]

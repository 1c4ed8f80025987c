"""Notifications while a tab is open: one per message, none for what a tab shows, and gone when it was read."""

import contextlib
import itertools
import json
import pathlib
import time
import uuid

import pytest
import websockets.sync.client
from switchboard_tests.browsers.chats import API, open_chat
from switchboard_tests.browsers.pages import Person, together
from switchboard_tests.browsers.server import Server
from switchboard_tests.server import HTTP
from switchboard_tests.waiting import TIMEOUT

READING_INTERVAL = 0.7
SHOWN = """
const done = arguments[0];
navigator.serviceWorker.ready.then((one) => one.getNotifications())
    .then((list) => done(list.map(({ title, body, tag }) => [title, body, tag])));
"""
# The worker that answers for the page from the next time on.
ACTIVE = "navigator.serviceWorker.ready.then((one) => arguments[0](Boolean(one.active)))"


@pytest.fixture(scope="module")
def browsers(whole_browsers):
    return whole_browsers


@pytest.fixture
def pair(browsers, url):
    """Ann, whose browser lets the page notify her, with a second tab for what hides the first; and Ben."""
    for one in browsers:
        one.keep_one_tab()
    ann, ben = (Person(one, url, name) for one, name in zip(browsers, ("Ann Abel", "Ben Brook")))
    together([ann, ben], Person.sign_up)
    allow(ann)
    ann.driver.refresh()
    ann.is_in()
    assert ann.driver.execute_async_script(ACTIVE)
    yield ann, ben
    together(browsers, leave)


def leave(browser):
    browser.keep_one_tab()
    browser.driver.execute_cdp_cmd("Browser.resetPermissions", {})
    browser.driver.get("about:blank")


def allow(person):
    person.driver.execute_cdp_cmd("Browser.grantPermissions", {
        "origin": person.url, "permissions": ["notifications", "audioCapture", "videoCapture"]})  # fmt: skip


@contextlib.contextmanager
def hidden(person):
    """Another tab is in front. In it nothing listens: it is of another page."""
    other, first = person.browser.new_tab("about:blank")
    yield
    person.browser.switch(other)
    person.driver.close()
    person.browser.switch(first)


def shown(person):
    """The notifications; beside a hidden tab they are asked from a page of /docs, which has no part in them."""
    if person.driver.current_url.startswith("about:"):
        person.driver.get(f"{person.url}/docs")
    return sorted(tuple(one) for one in person.driver.execute_async_script(SHOWN))


def notified(person, *want):
    """Waits until the notifications have these titles and texts. To list them makes the browser forget those that are
    not displayed yet, so it is done seldom."""

    def are_there():
        time.sleep(READING_INTERVAL)
        return [one[:2] for one in shown(person)] == sorted(want)

    person.browser.wait(f"the notifications {want}", are_there)


@contextlib.contextmanager
def worker_of(person):
    """Runs scripts in the service worker of a browser, by the protocol of its developer tools."""
    address = person.driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
    targets = HTTP.get(f"http://{address}/json/list").json()
    # Other tests' servers have left theirs.
    [target] = [one for one in targets if one["type"] == "service_worker" and one["url"].startswith(f"{person.url}/")]
    numbers = itertools.count(1)
    with websockets.sync.client.connect(target["webSocketDebuggerUrl"], max_size=None) as socket:

        def run(script):
            number = next(numbers)
            parameters = {"expression": script, "awaitPromise": True, "returnByValue": True}
            socket.send(json.dumps({"id": number, "method": "Runtime.evaluate", "params": parameters}))
            while (answer := json.loads(socket.recv(timeout=TIMEOUT))).get("id") != number:
                pass
            assert "exceptionDetails" not in answer["result"], answer
            return answer["result"]["result"].get("value")

        yield run


def test_messages_of_a_hidden_tab(pair):
    """One for each, with who wrote and what; a click opens the message; what was read elsewhere or deleted goes."""
    ann, ben = pair
    one, other = API(ann), API(ben)
    direct = one.create("direct", [other])
    group = one.create("group", [other], name="Trip")
    ann.go("settings")
    with hidden(ann):
        other.say(direct, "First")
        notified(ann, ("Ben Brook", "First"))
        second = other.say(direct, "Second")
        number = other.say(group, "Third")
        notified(ann, ("Ben Brook", "First"), ("Ben Brook", "Second"), ("Trip", "Ben Brook: Third"))
        # One's own on another device is no news.
        one.say(group, "Mine")
        other.ask("DELETE", f"/v1/conversations/{direct}/messages/{second}?for=all")
        notified(ann, ("Ben Brook", "First"), ("Trip", "Ben Brook: Third"))
        one.ask("POST", f"/v1/conversations/{direct}/marks", {"read": second})
        notified(ann, ("Trip", "Ben Brook: Third"))
        with worker_of(ann) as run:
            run("registration.getNotifications().then(([one]) => switchboard.openNotification(one))")
        notified(ann)
    address = f"#/c/{group}/{number}"
    ann.browser.wait("the message", lambda: ann.driver.execute_script("return location.hash") == address)
    ann.says("#messages .text", "Third")


def test_what_a_tab_shows_has_none(pair, url):
    """With two tabs: one shows the conversation and the other does not, and both tell of another one."""
    ann, ben = pair
    one, other = API(ann), API(ben)
    direct = one.create("direct", [other])
    group = one.create("group", [other], name="Trip")
    ann.browser.new_tab(url)
    ann.is_in()
    open_chat(ann, direct)
    other.say(direct, "Seen")
    ann.says("#messages .text", "Seen")
    other.say(group, "Unseen")
    notified(ann, ("Trip", "Ben Brook: Unseen"))
    # Left, it is not shown any more.
    ann.go("settings")
    other.say(direct, "Not seen")
    notified(ann, ("Ben Brook", "Not seen"), ("Trip", "Ben Brook: Unseen"))


def test_muted_conversations_and_settings(pair):
    ann, ben = pair
    one, other = API(ann), API(ben)
    group = one.create("group", [other], name="Trip")
    me = f"/v1/conversations/{group}/members/me"
    one.ask("PATCH", me, {"muted": {"mentions": True}})
    ann.go("settings")
    ann.find("#setting-notificationText")
    with hidden(ann):
        other.say(group, "Quiet")
        number = other.say(group, f"<@{one.user}> look")
        notified(ann, ("Trip", "Ben Brook: @Ann Abel look"))
    one.ask("PATCH", me, {"muted": None})
    one.ask("POST", f"/v1/conversations/{group}/marks", {"read": number})
    ann.click("#setting-notificationText")
    with hidden(ann):
        number = other.say(group, "Secret")
        notified(ann, ("Trip", "New message"))
    # Off, and on again: what came meanwhile is not told of later.
    ann.click("#setting-notifications")
    one.ask("POST", f"/v1/conversations/{group}/marks", {"read": number})
    with hidden(ann):
        notified(ann)
        other.say(group, "Nothing")
    ann.browser.wait("the message", lambda: ann.text(".nav-link[data-nav=chats] .count").startswith("1"))
    ann.click("#setting-notifications")
    with hidden(ann):
        other.say(group, "Something")
        notified(ann, ("Trip", "New message"))


def test_missed_calls_and_friend_requests(pair):
    ann, ben = pair
    one, other = API(ann), API(ben)
    direct = one.create("direct", [other])
    ann.go("settings")
    with hidden(ann):
        other.ask("POST", "/v1/friends", {"clientID": str(uuid.uuid4()), "user": one.user})
        notified(ann, ("Ben Brook", "Asks you to become friends"))
        open_chat(ben, direct)
        ben.click(".thread-head [data-action=call-audio]")
        notified(ann, ("Ben Brook", "Asks you to become friends"), ("Ben Brook is calling", ""))
        ben.hang_up()
        notified(ann, ("Ben Brook", "Asks you to become friends"), ("Ben Brook", "Missed call"))
        other.ask("DELETE", f"/v1/friends/{one.user}")
        notified(ann, ("Ben Brook", "Missed call"))
    ben.leave_call_screen()


def test_it_asks_only_by_a_click(people):
    """In the settings, and in the list after the first message; who does not want it is not asked again."""
    ann, ben = people
    ann.driver.execute_cdp_cmd("Browser.setPermission", {
        "origin": ann.url, "permission": {"name": "notifications"}, "setting": "prompt"})  # fmt: skip
    ann.driver.refresh()
    ann.is_in()
    assert ann.driver.execute_script("return Notification.permission") == "default"
    ann.go("settings")
    ann.find("#notification-settings [data-action=turn-on-notifications]")
    ann.go("chats")
    assert not ann.is_shown(".notification-hint")
    API(ann).create("direct", [API(ben)])
    ann.click(".notification-hint [data-action=no-notifications]")
    ann.gone(".notification-hint")
    ann.driver.refresh()
    ann.find("#chat-search")
    ann.find("#inbox li")
    assert not ann.is_shown(".notification-hint")
    ann.driver.execute_cdp_cmd("Browser.resetPermissions", {})


def test_signing_out_removes_them(pair):
    ann, ben = pair
    one, other = API(ann), API(ben)
    direct = one.create("direct", [other])
    ann.go("settings")
    with hidden(ann):
        other.say(direct, "First")
        notified(ann, ("Ben Brook", "First"))
    ann.click("[data-action=sign-out]")
    ann.find("#sign-in-form")
    with hidden(ann):
        notified(ann)


@pytest.fixture
def plain(request, tmp_path):
    """A server of plain modules: their page has no worker."""
    one = Server(request.config.getoption("--binary"), tmp_path)
    web = pathlib.Path(__file__).parents[2] / "Sources/WebAPI/Web"
    one.config.write_text(one.config.read_text().replace("http:\n", f"http:\n  webDirectory: {web}\n", 1))
    one.start()
    yield one
    one.stop()


# Keeps what the page shows; what it does is the browser's.
WATCH = """
window.notified = [];
window.Notification = class extends Notification {
    constructor(title, options) {
        super(title, options);
        window.notified.push([title, options.body, options.tag]);
    }
};
"""


def test_two_tabs_without_a_worker(browsers, plain):
    """They agree which of them shows it."""
    left, right = browsers
    for one in browsers:
        one.keep_one_tab()
    ann, ben = Person(left, plain.url, "Ann Abel"), Person(right, plain.url, "Ben Brook")
    together([ann, ben], Person.sign_up)
    allow(ann)
    script = left.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    ann.driver.refresh()
    ann.is_in()
    one, other = API(ann), API(ben)
    direct = one.create("direct", [other])
    second, first = left.new_tab("about:blank")
    left.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    ann.driver.get(plain.url)
    ann.is_in()
    ann.go("settings")
    other.say(direct, "Once")

    def shown_in_tabs():
        found = []
        for handle in (first, second):
            left.switch(handle)
            found += ann.driver.execute_script("return window.notified")
        return [one[:2] for one in found]

    left.wait("one notification", lambda: shown_in_tabs() == [["Ben Brook", "Once"]])
    left.switch(second)
    open_chat(ann, direct)
    other.say(direct, "Seen")
    ann.says("#messages .text", "Seen")
    assert shown_in_tabs() == [["Ben Brook", "Once"]]
    left.switch(first)
    left.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    together(browsers, leave)

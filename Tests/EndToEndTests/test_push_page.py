"""Pushes as a service worker receives them: Chromium's developer tools deliver them in place of a push service.

Chromium looks for its own push service for ever, so subscriptions and their registration are tested in Firefox
(test_push_firefox.py).
"""

import contextlib
import itertools
import json
import time
import uuid

import pytest
import websockets.sync.client
from switchboard_tests.browsers.chats import API, open_chat
from switchboard_tests.browsers.pages import Person, together
from switchboard_tests.server import HTTP
from switchboard_tests.waiting import TIMEOUT

READING_INTERVAL = 0.7
ALLOWED = ["notifications", "audioCapture", "videoCapture"]
# What the worker shows. The buttons are only there where the system's notifications have some.
SHOWN = """
registration.getNotifications().then((list) => list.map(({ title, body, tag, silent, requireInteraction, data }) =>
    ({ title, body, tag, silent, requireInteraction, data })))
"""
CLICK = """
registration.getNotifications({ tag: "%s" }).then(([one]) => switchboard.openNotification(one, "%s"))
"""
# The worker that answers for the page from the next time on.
ACTIVE = "navigator.serviceWorker.ready.then((one) => arguments[0](Boolean(one.active)))"
# What the page has told the worker of who reads.
READER = """
new Promise((resolve) => {
    indexedDB.open("worker").onsuccess = ({ target: { result: database } }) => {
        const names = [...database.objectStoreNames];
        if (names.length === 0) return resolve(null);
        const request = database.transaction("values").objectStore("values").get("reader");
        request.onsuccess = () => { database.close(); resolve(request.result?.reader ?? null); };
    };
})
"""


class Tools:
    """The developer tools of a target."""

    def __init__(self, socket):
        self.socket = socket
        self.numbers = itertools.count(1)
        self.events = []

    def event(self, method):
        """The parameters of the next event of that name."""
        while True:
            event = self.events.pop(0) if self.events else json.loads(self.socket.recv(timeout=TIMEOUT))
            if event.get("method") == method:
                return event["params"]

    def ask(self, method, **parameters):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv(timeout=TIMEOUT))).get("id") != number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")


@contextlib.contextmanager
def tools_of(person, choose):
    """Of the first target that is chosen; none if there is no such target."""
    address = person.driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
    targets = HTTP.get(f"http://{address}/json/list").json()
    target = next(filter(choose, targets), None)
    if target is None:
        yield None
        return
    with websockets.sync.client.connect(target["webSocketDebuggerUrl"], max_size=None) as socket:
        yield Tools(socket)


def tools_of_page(person):
    return tools_of(person, lambda one: one["type"] == "page" and one["url"].startswith(f"{person.url}/"))


class Pushes:
    """Delivers pushes to a browser, and reads what its worker shows."""

    def __init__(self, person):
        self.person = person
        self.user = API(person).user
        with tools_of_page(person) as tools:
            tools.ask("ServiceWorker.enable")
            found = []
            while not found:
                registrations = tools.event("ServiceWorker.workerRegistrationUpdated")["registrations"]
                found = [one for one in registrations if one["scopeURL"] == f"{person.url}/" and not one["isDeleted"]]
        self.registration = found[-1]["registrationId"]
        self.worker = self._start()

    def _start(self):
        """The target of the worker, which may have ended. Workers of earlier tests may live on."""
        with tools_of_page(self.person) as tools:
            tools.ask("ServiceWorker.enable")
            tools.ask("ServiceWorker.startWorker", scopeURL=f"{self.person.url}/")
            while True:
                for one in tools.event("ServiceWorker.workerVersionUpdated")["versions"]:
                    if one["registrationId"] == self.registration and one.get("targetId"):
                        return one["targetId"]

    def send(self, kind, **push):
        self.send_text(json.dumps({"kind": kind, "user": self.user, "title": "Ana", "body": "Hi", **push}))

    def send_text(self, text):
        # Any target of the browser passes it on; a page of /docs keeps no tab of the client open.
        with tools_of_page(self.person) as tools:
            tools.ask("ServiceWorker.enable")
            tools.ask("ServiceWorker.deliverPushMessage", origin=f"{self.person.url}/",
                      registrationId=self.registration, data=text)  # fmt: skip

    def run(self, script):
        with tools_of(self.person, lambda one: one["id"] == self.worker) as tools:
            if tools is not None:
                return tools.run(script)
        self.worker = self._start()
        return self.run(script)

    def shows(self, *want):
        """Waits until the notifications have these tags, titles and texts, and returns the notifications. To list them
        makes the browser forget those that are not displayed yet, so it is done seldom."""
        last = []

        def are_shown():
            time.sleep(READING_INTERVAL)
            last[:] = self.run(SHOWN)
            return sorted((one["tag"], one["title"], one["body"]) for one in last) == sorted(want)

        try:
            self.person.browser.wait(f"the notifications {want}", are_shown)
        except AssertionError as error:
            raise AssertionError(f"not the notifications {want}, but {last}") from error
        return sorted(last, key=lambda one: one["tag"])

    def click(self, tag, button=""):
        self.run(CLICK % (tag, button))


@pytest.fixture(scope="module")
def browsers(whole_browsers):
    return whole_browsers


@pytest.fixture
def ann(browsers, url):
    """Ann, whose browser lets the page notify her and has its worker."""
    one = browsers[0]
    one.keep_one_tab()
    person = Person(one, url, "Ann Abel").sign_up()
    one.driver.execute_cdp_cmd("Browser.grantPermissions", {"origin": url, "permissions": ALLOWED})
    one.driver.refresh()
    person.is_in()
    assert one.driver.execute_async_script(ACTIVE)
    yield person
    one.keep_one_tab()
    one.driver.execute_cdp_cmd("Browser.resetPermissions", {})
    one.driver.get("about:blank")


@pytest.fixture
def ben(browsers, url):
    browsers[1].keep_one_tab()
    yield Person(browsers[1], url, "Ben Brook").sign_up()
    browsers[1].driver.get("about:blank")


@pytest.fixture
def pushes(ann):
    made = Pushes(ann)
    ann.browser.wait("the worker to know her", lambda: (made.run(READER) or {}).get("user") == made.user)
    yield made
    made.run("registration.getNotifications().then((list) => { for (const one of list) one.close(); })")


def leave(ann):
    """No tab of the client is open: only one of /docs."""
    ann.driver.get(f"{ann.url}/docs")


def test_a_message_has_one_notification_and_a_click_opens_it(ann, ben, pushes):
    one, other = API(ann), API(ben)
    chat = one.create("direct", [other])
    number = other.say(chat, "See you at 8")
    leave(ann)
    tag = f"message-{chat}-{number}"
    pushes.send("message", conversation=chat, number=number, body="See you at 8", badge=1)
    [shown] = pushes.shows((tag, "Ana", "See you at 8"))
    assert shown["data"] == {"address": f"#/c/{chat}/{number}", "conversation": chat, "number": number}
    # It was edited, or sent twice.
    pushes.send("message", conversation=chat, number=number, body="See you at 9", badge=1)
    pushes.shows((tag, "Ana", "See you at 9"))
    # Another one is beside it.
    pushes.send("message", conversation=chat, number=number + 1, title="Ana", body="Bye", badge=1)
    pushes.shows((tag, "Ana", "See you at 9"), (f"message-{chat}-{number + 1}", "Ana", "Bye"))
    # No tab is open: the browser opens one only for a click of the user's, so this is one that is open in time.
    ann.driver.get(ann.url)
    ann.is_in()
    ann.go("settings")
    pushes.click(tag)
    address = f"#/c/{chat}/{number}"
    ann.browser.wait("the message", lambda: ann.driver.execute_script("return location.hash") == address)
    ann.says("#messages .text", "See you at 8")
    # What is read goes.
    pushes.shows((f"message-{chat}-{number + 1}", "Ana", "Bye"))


def test_a_tab_that_shows_it_suppresses_it(ann, ben, pushes):
    chat = API(ann).create("direct", [API(ben)])
    open_chat(ann, chat)
    pushes.send("message", conversation=chat, number=2)
    # One that no tab shows comes after it.
    pushes.send("message", conversation="other", number=1)
    pushes.shows(("message-other-1", "Ana", "Hi"))


def test_page_and_push_show_a_message_once(ann, ben, pushes):
    one, other = API(ann), API(ben)
    chat = one.create("direct", [other])
    ann.go("settings")
    number = other.say(chat, "From the page")
    tag = f"message-{chat}-{number}"
    pushes.shows((tag, "Ben Brook", "From the page"))
    pushes.send("message", conversation=chat, number=number, title="Ben Brook", body="From the server")
    pushes.shows((tag, "Ben Brook", "From the server"))


def test_a_ring_and_its_end(ann, pushes):
    call = str(uuid.uuid4())
    leave(ann)
    pushes.send("ring", call=call, video=True, body="Video call", expiresAt=9_999_999_999_999)
    [ring] = pushes.shows((f"ring-{call}", "Ana", "Video call"))
    assert ring["requireInteraction"] and not ring["silent"] and ring["data"]["call"] == call
    pushes.send("ringEnded", call=call, body="Answered on another device", reason="answered")
    [ended] = pushes.shows((f"ring-{call}", "Ana", "Answered on another device"))
    assert ended["silent"] and not ended["requireInteraction"]


def test_a_missed_call_replaces_its_ring(ann, pushes):
    call = str(uuid.uuid4())
    leave(ann)
    pushes.send("ring", call=call, video=False, body="Call", expiresAt=9_999_999_999_999)
    pushes.shows((f"ring-{call}", "Ana", "Call"))
    pushes.send("missedCall", call=call, body="Missed call", badge=1)
    [missed] = pushes.shows((f"call-{call}", "Ana", "Missed call"))
    assert missed["data"]["address"] == "#/history"


def test_a_ring_that_comes_too_late_is_silent(ann, pushes):
    call = str(uuid.uuid4())
    leave(ann)
    pushes.send("ring", call=call, video=False, body="Call", expiresAt=1)
    [ring] = pushes.shows((f"ring-{call}", "Ana", "Call"))
    assert ring["silent"] and not ring["requireInteraction"]


def test_a_ring_whose_end_is_lost_is_gone_when_the_app_is_opened(ann, pushes):
    calls = [str(uuid.uuid4()) for _ in range(2)]
    leave(ann)
    soon = int(time.time() * 1_000) + 3_000
    for call, until in zip(calls, (soon, 9_999_999_999_999), strict=True):
        pushes.send("ring", call=call, video=False, body="Call", expiresAt=until)
    pushes.shows(*((f"ring-{call}", "Ana", "Call") for call in calls))
    # Its time is over.
    time.sleep(max(0, soon / 1_000 + 1 - time.time()))
    ann.driver.get(ann.url)
    ann.is_in()
    pushes.shows((f"ring-{calls[1]}", "Ana", "Call"))


def test_another_account_and_what_is_no_document(ann, pushes):
    leave(ann)
    pushes.send("message", user="somebody", conversation="c", number=1, body="Secret")
    pushes.shows(("other-somebody", "Switchboard", "Something new for another account"))
    pushes.send_text("{")
    pushes.shows(("other-somebody", "Switchboard", "Something new for another account"), ("", "Switchboard", ""))


def test_the_words_are_those_of_the_language(ann, pushes):
    ann.driver.execute_script("globalThis.switchboard.preferences.set('language', 'es')")
    ann.browser.wait("the words", lambda: pushes.run(READER)["texts"]["accept"] == "Aceptar")
    assert pushes.run(READER)["lang"] == "es"
    ann.driver.execute_script("globalThis.switchboard.preferences.set('language', '')")


def test_signing_out_makes_the_worker_forget(ann, pushes):
    ann.go("settings")
    ann.click("[data-action=sign-out]")
    ann.find("#sign-in-form")
    assert pushes.run(READER) is None
    leave(ann)
    pushes.send("message", conversation="c", number=1, body="Secret")
    pushes.shows((f"other-{pushes.user}", "Switchboard", ""))


@pytest.mark.parametrize("kind", ["audio", "video"])
def test_answering_in_a_page_that_is_opened(ann, ben, pushes, kind):
    ben.call(ann, kind)
    ann.rings()
    call = ann.find("#incoming").get_attribute("data-call")
    leave(ann)
    # What a click opens without a tab.
    ann.driver.get(f"{ann.url}/#/answer/{call}")
    together([ann, ben], lambda person: person.phase("active"))
    assert ann.driver.execute_script("return location.hash") == ""
    ben.hang_up()
    ann.phase("ended")


def test_answering_in_a_tab_that_is_open(ann, ben, pushes):
    pushes.person.driver.execute_script("Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })")
    ben.call(ann, "audio")
    ann.rings()
    call = ann.find("#incoming").get_attribute("data-call")
    pushes.send("ring", call=call, video=False, body="Call", expiresAt=9_999_999_999_999)
    pushes.shows((f"ring-{call}", "Ana", "Call"))
    pushes.click(f"ring-{call}", "answer")
    together([ann, ben], lambda person: person.phase("active"))
    ben.hang_up()
    ann.phase("ended")


def test_declining_without_opening_anything(ann, ben, pushes):
    ben.call(ann, "audio")
    ann.rings()
    call = ann.find("#incoming").get_attribute("data-call")
    leave(ann)
    pushes.send("ring", call=call, video=False, body="Call", expiresAt=9_999_999_999_999)
    pushes.shows((f"ring-{call}", "Ana", "Call"))
    # Without a tab of the client it rings on for Ben.
    pushes.click(f"ring-{call}", "decline")
    pushes.shows()
    ben.phase("calling", "ringing")
    ann.driver.get(ann.url)
    ann.rings()
    pushes.run(f"switchboard.openNotification({{ close() {{}}, data: {{ call: '{call}' }} }}, 'decline')")
    ann.gone("#incoming")
    ben.phase("ended")


def test_a_call_that_is_over_is_not_answered(ann, ben, pushes):
    ben.call(ann, "audio")
    ann.rings()
    call = ann.find("#incoming").get_attribute("data-call")
    ben.hang_up()
    ann.gone("#incoming")
    leave(ann)
    ann.driver.get(f"{ann.url}/#/answer/{call}")
    ann.says(".toast", "This call isn’t ringing any more")
    assert not ann.all("#call")

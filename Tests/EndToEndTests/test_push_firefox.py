"""Firefox without a tab of the client is told of messages and calls: by a push service that speaks Autopush's protocol,
and decrypted, shown and clicked in the browser itself."""

import contextlib
import pathlib

import pytest
from switchboard_tests import autopush
from switchboard_tests.browsers.browser import Browser
from switchboard_tests.browsers.chats import API
from switchboard_tests.browsers.firefox import firefox
from switchboard_tests.browsers.notifications import Notifications
from switchboard_tests.browsers.pages import PASSWORD, Person, together
from switchboard_tests.browsers.server import Server
from switchboard_tests.server import HTTP
from switchboard_tests.waiting import eventually, wait_until

FIREFOX = pathlib.Path("/usr/bin/firefox-esr")
HASH = "return location.hash"


@pytest.fixture(scope="module")
def service():
    if not FIREFOX.exists():
        pytest.skip("firefox-esr is not installed")
    with autopush.serving() as service:
        yield service


@pytest.fixture(scope="module")
def own(request, tmp_path_factory):
    """A server whose push services may be on the loopback."""
    if request.config.getoption("--url"):
        pytest.skip("needs a server of its own")
    one = Server(request.config.getoption("--binary"), tmp_path_factory.mktemp("server"))
    one.config.write_text(f"{one.config.read_text()}push:\n  allow: [127.0.0.0/8]\n")
    one.start()
    yield one
    one.stop()


@pytest.fixture(scope="module")
def fox(service, tmp_path_factory):
    with firefox(tmp_path_factory.mktemp("firefox"), service.preferences) as browser:
        yield browser


@pytest.fixture(scope="module")
def notifications(fox, own):
    made = Notifications(fox)
    # Without a question a call is answered at once.
    made.allow(own.url, "microphone", "camera")
    return made


@pytest.fixture(scope="module")
def fay(fox, own, notifications):
    """Fay, who has turned notifications on."""
    person = Person(fox, own.url, "Fay Fox").sign_up()
    person.go("settings")
    person.click("#notification-settings [data-action=turn-on-notifications]")
    notifications.consent()
    is_registered(person)
    return person


@pytest.fixture
def one(fay, notifications):
    """Her requests. Her page is the only tab."""
    fay.browser.leave()
    fay.driver.get(fay.url)
    fay.is_in()
    yield API(fay)
    fay.browser.leave()
    notifications.close_all()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    browser = Browser("ben", tmp_path_factory.mktemp("ben"))
    yield browser
    browser.quit()


def is_registered(person):
    person.find("#push-state[data-state=on]")


@contextlib.contextmanager
def is_renewed(api):
    """Waits until the registration is another one than before."""
    path = "/v1/me/push"
    before = api.ask("GET", path)["registrations"]
    yield
    wait_until(lambda: api.ask("GET", path)["registrations"] != before, "another registration")
    assert len(api.ask("GET", path)["registrations"]) == 1


def conversation(own, one, name):
    """Somebody new, and the conversation with them, in which all is read."""
    other = API.of_new_user(own.url, name)
    chat = other.create("direct", [one])
    one.ask("POST", f"/v1/conversations/{chat}/marks", {"read": 1})
    return other, chat


def test_a_message_opens_its_conversation(fay, one, own, notifications):
    other, chat = conversation(own, one, "Cem Can")
    fay.browser.leave()
    other.say(chat, "See you at 8")
    number = other.say(chat, "And bring the map 🗺")
    last, _ = notifications.shows("Cem Can", "And bring the map 🗺", "See you at 8")
    notifications.click(last)
    fay.browser.switch_to_new_tab()
    fay.says("#messages .text", "And bring the map 🗺")
    assert fay.driver.execute_script(HASH) == f"#/c/{chat}/{number}"
    # Both were read.
    notifications.shows("Cem Can")


# A name each: what the first call leaves is not the second's.
@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [("audio", "Ben Brook", "Incoming call"), ("video", "Vic Vega", "Incoming video call")],
    ids=["audio", "video"],
)
def test_a_call_rings_and_is_answered(fay, one, own, chromium, notifications, kind, name, text):
    caller = Person(chromium, own.url, name).sign_up()
    fay.browser.leave()
    caller.call(fay, kind)
    [ring] = notifications.shows(name, text)
    assert ring.stays and not ring.silent and ring.actions == ["answer", "decline"]
    notifications.click(ring, "answer")
    fay.browser.switch_to_new_tab()
    together([fay, caller], Person.is_connected)
    caller.receives_audio()
    if kind == "video":
        caller.has_video()
    caller.hang_up()
    fay.phase("ended")
    notifications.shows(name)
    chromium.driver.get("about:blank")


def test_a_call_that_is_declined_elsewhere_stops_ringing(fay, one, own, notifications):
    caller = API.of_new_user(own.url, "Dora Dean")
    fay.browser.leave()
    with caller.calling(one):
        [ring] = notifications.shows("Dora Dean", "Incoming call")
        call = eventually(lambda: one.ask("GET", "/v1/calls")["calls"])[0]["id"]
        one.ask("POST", f"/v1/calls/{call}/decline")
        [ended] = notifications.shows("Dora Dean", "Declined on another device")
    assert ended.silent and not ended.stays and ring.name == ended.name


def test_a_call_that_nobody_answers_is_missed(fay, one, own, notifications):
    caller = API.of_new_user(own.url, "Eva Ernst")
    fay.browser.leave()
    with caller.calling(one, "video"):
        notifications.shows("Eva Ernst", "Incoming video call")
    [missed] = notifications.shows("Eva Ernst", "Missed video call")
    assert not missed.stays
    notifications.click(missed)
    fay.browser.switch_to_new_tab()
    fay.find("main[data-page=history]")


def test_another_key_of_the_server_needs_another_subscription(fay, one, own, service, notifications):
    before = service.channels[-1]
    with is_renewed(one):
        own.stop()
        (own.directory / "data/vapid-key.pem").unlink()
        own.start()
        fay.driver.refresh()
    key = HTTP.get(f"{own.url}/v1/server").json()["push"]["web"]["publicKey"]
    assert service.channels[-1].server_key == key != before.server_key
    other, chat = conversation(own, one, "Gus Gray")
    fay.browser.leave()
    other.say(chat, "Still there?")
    notifications.shows("Gus Gray", "Still there?")


def test_a_subscription_that_the_service_has_lost_is_made_anew(fay, one, own, service, notifications):
    """The worker learns of it, and has the page register another one."""
    before = service.channels[-1]
    with is_renewed(one):
        service.forget_browsers()
    assert service.channels[-1] is not before
    other, chat = conversation(own, one, "Hal Hood")
    fay.browser.leave()
    other.say(chat, "Still there?")
    notifications.shows("Hal Hood", "Still there?")


def test_signing_out_ends_it(fay, one, own, service, notifications):
    other, chat = conversation(own, one, "Ira Ives")
    fay.go("settings")
    fay.click("[data-action=sign-out]")
    fay.find("#sign-in-form")
    wait_until(lambda: service.channels[-1].response is autopush.GONE, "the end of the subscription")
    sent = len(service.channels[-1].pushes)
    form = {"email": fay.email, "password": PASSWORD}
    token = HTTP.post(f"{own.url}/v1/sessions", json=form).json()["accessToken"]
    headers = {"Authorization": f"Bearer {token}"}
    assert HTTP.get(f"{own.url}/v1/me/push", headers=headers).json()["registrations"] == []
    other.say(chat, "Hello?")
    fay.sign_in()
    fay.is_in()
    wait_until(lambda: service.channels[-1].response is not autopush.GONE, "a new subscription")
    assert len(service.channels[-2].pushes) == sent


def test_another_account_in_the_browser_has_only_its_own_notifications(fay, one, own, service, notifications):
    other, chat = conversation(own, one, "Jon Jay")
    fay.go("settings")
    fay.click("[data-action=sign-out]")
    fay.find("#sign-in-form")
    gia = Person(fay.browser, own.url, "Gia Grey").sign_up()
    gia.go("settings")
    is_registered(gia)
    friend, theirs = conversation(own, API(gia), "Kim Kerr")
    fay.browser.leave()
    other.say(chat, "For Fay")
    friend.say(theirs, "For Gia")
    notifications.shows("Kim Kerr", "For Gia")
    notifications.shows("Jon Jay")
    fay.driver.get(fay.url)
    gia.is_in()
    gia.go("settings")
    gia.click("[data-action=sign-out]")
    fay.sign_in()
    fay.is_in()


def test_a_browser_that_was_off_collects_what_came(own, service, tmp_path):
    with firefox(tmp_path, service.preferences) as browser:
        notifications = Notifications(browser)
        person = Person(browser, own.url, "Nia Noon").sign_up()
        person.go("settings")
        person.click("#notification-settings [data-action=turn-on-notifications]")
        notifications.consent()
        is_registered(person)
        other, chat = conversation(own, API(person), "Otto Orr")
    other.say(chat, "While you were away")
    wait_until(lambda: service.channels[-1].pushes, "the push")
    with firefox(tmp_path, service.preferences) as browser:
        [shown] = Notifications(browser).shows("Otto Orr", "While you were away")
        assert not shown.silent

"""The operator's page in a browser: an operator signs in and does what the page offers, on a desk and a phone."""

import json
import subprocess
import urllib.request
import uuid

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from switchboard_tests import apns_service
from switchboard_tests.browsers import axe
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.pages import VISIBLE, WITH_TEXT
from switchboard_tests.fcm_service import UNAVAILABLE, failure, serving
from switchboard_tests.push_service import ALLOWED, PushService
from switchboard_tests.server import HTTP, Server, merged
from switchboard_tests.server_keys import create
from switchboard_tests.waiting import TIMEOUT
from switchboard_tests.webhook_receivers import Receiver

TABS = ["overview", "users", "reports", "calls", "keys", "webhooks", "pushes", "audit", "configuration"]


def post(url, body, headers=None):
    everything = {"Content-Type": "application/json"} | (headers or {})
    request = urllib.request.Request(url, json.dumps(body).encode(), everything, method="POST")
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        return json.loads(response.read())


def report(url, ann, ben):
    """Ben asks Ann for money, who reports it."""
    def sent(who, path, body):
        body = {"clientID": str(uuid.uuid4())} | body
        return post(f"{url}/v1/{path}", body, {"Authorization": f"Bearer {who['accessToken']}"})

    made = sent(ben, "conversations", {"kind": "direct", "members": [ann["user"]["id"]]})["conversation"]["id"]
    sent(ben, f"conversations/{made}/members/me/accept", {})
    sent(ben, f"conversations/{made}/messages", {"text": "Hello Ann"})
    worst = sent(ben, f"conversations/{made}/messages", {"text": "Send money now, or I tell everybody."})["message"]
    sent(ann, "reports", {
        "user": ben["user"]["id"], "reason": "abuse", "text": "He does not stop.", "conversation": made,
        "number": worst["number"],
    })


class Page:
    """The operator's page in a browser."""

    def __init__(self, browser, server):
        self.browser, self.driver, self.server = browser, browser.driver, server
        self.url = f"http://127.0.0.1:{server.admin_port}/admin"

    def all(self, selector):
        return self.driver.execute_script(f"{VISIBLE} return visible(arguments[0]);", selector)

    def find(self, selector, text=""):
        return self.browser.wait(
            f"{selector} {text}", lambda: self.driver.execute_script(WITH_TEXT, selector, text)
        )

    def click(self, selector, text="", button=None):
        """Clicks an element, or the button of it with this text, until nothing lies over it."""
        def clicked():
            # A list that is read anew replaces its buttons.
            element = self.driver.execute_script(WITH_TEXT, selector, text)
            if element and button:
                element = element.find_element(By.XPATH, f".//button[.='{button}']")
            if element:
                self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
                element.click()
            return bool(element)

        self.browser.wait(f"{selector} {text} to take a click", clicked)

    def answer(self, text):
        """Presses a button of the question."""
        self.click("dialog button", text)
        self.browser.wait("the question to close", lambda: not self.all("dialog"))

    def open(self, tab):
        self.click("nav.tabs a", tab)
        self.find("nav.tabs a[aria-current=page]", tab)

    def sign_in(self, key):
        self.browser.open(self.url)
        self.find("#key").send_keys(key, Keys.ENTER)

    def check(self, what):
        # A button that is busy is pale for a moment.
        self.browser.wait("nothing to be busy", lambda: not self.all("[aria-busy=true]"))
        axe.check(self.driver, what)


def new_key(server, *scopes):
    command = [str(server.binary), "key", "create", "--name", "Olga", "--config", str(server.config)]
    command += ["--scope", ",".join(scopes)]
    return subprocess.run(command, cwd=server.directory, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def page(browsers, server):
    if server is None:
        pytest.skip("needs a server of its own")
    one = browsers[0]
    one.keep_one_tab()
    yield Page(one, server)
    one.set_dark(False)
    one.resize(DESK)
    one.driver.get("about:blank")


@pytest.fixture
def receiver():
    one = Receiver().start()
    yield one
    one.stop()


def account(url, name):
    email = f"{uuid.uuid4().hex[:12]}@example.org"
    device = {"name": "Phone", "platform": "test"}
    body = {"email": email, "password": "a long password", "displayName": name, "device": device}
    return post(f"{url}/v1/accounts", body) | {"email": email}


def call(url, caller, callee):
    body = {"clientID": str(uuid.uuid4()), "kind": "video", "callees": [callee["user"]["id"]]}
    endpoint = f"{uuid.uuid4()} {uuid.uuid4().hex}"
    bearer = f"Bearer {caller['accessToken']}"
    post(f"{url}/v1/calls", body, {"Authorization": bearer, "Switchboard-Endpoint": endpoint})


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_an_operator_works(page, url, server, receiver, size):
    mark = uuid.uuid4().hex[:8]
    ann, ben, _ = (account(url, f"{name}{mark} Example") for name in ("Ann", "Ben", "Cem"))
    page.browser.resize(size)
    page.sign_in("sbk_wrong")
    page.find(".form-error", "characters")
    page.find("#key").clear()
    page.find("#key").send_keys(new_key(server, "operator"), Keys.ENTER)
    page.find("h1", "Overview")
    page.find(".who", "Olga")
    page.browser.wait("a second sample", lambda: "/s" in page.find("figure", "Requests handled").text)

    call(url, ann, ben)
    page.open("Calls")
    # Other tests of this server may have left calls behind.
    page.click("tr", f"Ann{mark}", button="End")
    page.answer("End the call")
    text = lambda: page.driver.execute_script("return document.querySelector('main').innerText")
    page.browser.wait("the call to be gone", lambda: mark not in text())

    page.open("Users")
    page.find("#query").send_keys(f"cem{mark}", Keys.ENTER)
    page.browser.wait("one user", lambda: len(page.all("tbody tr")) == 1)
    page.click("tbody a", "Cem")
    page.find("h2", "Sessions (1)")
    page.click("button", "Sign out everywhere")
    page.answer("Sign out")
    page.find("h2", "Sessions (0)")
    page.click("button", "Disable")
    page.answer("Cancel")
    page.click("button", "Disable")
    page.answer("Disable")
    page.find(".heading .pill-label", "Disabled")
    page.click("button", "Enable")
    page.find(".heading .pill-label", "Active")
    page.click("button", "Delete")
    page.answer("Delete")
    page.find(".heading .pill-label", "Deleted")

    page.open("Keys")
    page.click("summary", "New key")
    page.find("#key-name").send_keys(f"Shop {mark}")
    page.click("#scope-users")
    page.click("button", "Create the key")
    made = page.find("#made-key").text
    assert made.startswith("sbk_") and len(made) == 71
    headers = {"Authorization": f"Bearer {made}"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/server/users", headers=headers)) as response:
        assert response.status == 200
    page.click("button", "Done")
    page.browser.wait("the key to be gone", lambda: made not in page.driver.page_source)
    page.click("tbody tr", f"Shop {mark}", button="Revoke")
    page.answer("Revoke")
    page.browser.wait("the key to be revoked", lambda: "Revoked" in page.find("tbody tr", f"Shop {mark}").text)

    page.open("Webhooks")
    page.click("summary", "New webhook")
    page.find("#webhook-name").send_keys(f"Hook {mark}")
    page.find("#webhook-url").send_keys("http://10.0.0.1/")
    page.click("button", "Add the webhook")
    page.find(".form-error", "http")
    page.find("#webhook-url").clear()
    page.find("#webhook-url").send_keys(receiver.url)
    page.click("[id='event-user.created']")
    page.click("button", "Add the webhook")
    secret = page.find("#made-secret").text
    page.click("button", "Done")
    page.browser.wait("the secret to be gone", lambda: secret not in page.driver.page_source)
    page.click("tbody a", f"Hook {mark}")
    page.find("h2", "Latest deliveries")
    page.click("button", "Send a test")
    page.find("tbody tr", "webhook.test")
    page.find("tbody .pill-label", "Delivered")
    [message] = receiver.of("webhook.test")
    message.verify(secret)
    account(url, f"Dan{mark} Example")
    page.browser.wait("an event", lambda: len(receiver.of("user.created")) == 1)
    page.click("button", "Replay")
    page.answer("Replay")
    # Other tests' events come too.
    page.browser.wait("the event again", lambda: receiver.ids.count(receiver.of("user.created")[0].id) == 2)
    page.click("button", "New secret")
    page.answer("New secret")
    renewed = page.find("#made-secret").text
    page.click("button", "Send a test")
    page.browser.wait("the second test", lambda: len(receiver.of("webhook.test")) == 2)
    receiver.of("webhook.test")[1].verify(renewed)
    page.click("button", "Remove")
    page.answer("Remove")
    page.find("h1", "Webhooks")
    page.browser.wait("the webhook to be gone", lambda: f"Hook {mark}" not in text())

    page.open("Audit")
    for action in (
        "admin.calls.end", "admin.users.disable", "admin.keys.create", "admin.keys.revoke", "admin.webhooks.add",
        "admin.webhooks.remove",
    ):
        page.find("tbody tr", action)

    page.open("Configuration")
    page.find("#filter").send_keys("admin.port")
    page.browser.wait("one setting", lambda: len(page.all(".setting")) == 1)
    assert str(server.admin_port) in page.find(".setting").text

    page.open("Overview")
    page.click("button", "Drain")
    page.answer("Drain")
    page.find(".facts .pill-label", "Draining")
    page.click("button", "Stop draining")
    page.find(".facts .pill-label", "Ready")

    page.driver.refresh()
    page.find("h1", "Overview")
    page.click("button", "Sign out")
    page.find("#key")
    assert page.driver.execute_script("return sessionStorage.length") == 0
    assert page.driver.get_cookies() == []


@pytest.fixture(scope="module")
def waking(tmp_path_factory):
    """A server that pushes by an FCM of the tests, which is yielded too, and an APNs that cannot be reached."""
    directory = tmp_path_factory.mktemp("waking")
    with serving(directory) as fcm, apns_service.serving(tmp_path_factory.mktemp("apns")) as apns:
        away = apns.settings["push"]["apns"] | {"url": "https://127.0.0.1:9", "sandboxURL": "https://127.0.0.1:9/s"}
        one = Server(directory / "server", merged(merged(fcm.settings, {"push": {"apns": away}}), ALLOWED))
        one.start()
        yield one, fcm
        one.stop()


@pytest.fixture
def waking_page(browsers, waking):
    server, fcm = waking
    one = browsers[0]
    one.keep_one_tab()
    yield Page(one, server), fcm
    one.resize(DESK)
    one.driver.get("about:blank")


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_the_services_that_wake_devices(waking_page, size, pictures):
    page, fcm = waking_page
    url, label = page.server.url, f"operator-{'phone' if size == PHONE else 'desk'}"
    ann, ben = account(url, "Ann Abel"), account(url, "Ben Brook")
    bearer = {"Authorization": f"Bearer {ben['accessToken']}"}
    phone, keys = fcm.device(), PushService().subscribe()
    web = keys.registration() | {"endpoint": "https://127.0.0.1:9/of-a-browser"}
    for registration in (phone.registration(), web):
        response = HTTP.request("PUT", f"{url}/v1/me/device/push", json=registration, headers=bearer)
        assert response.status_code == 200, response.text
    phone.response = UNAVAILABLE
    call(url, ann, ben)

    page.browser.resize(size)
    page.sign_in(create(page.server, "operator", name="Olga").text)
    page.find("h1", "Overview")
    page.open("Pushes")
    page.find(".push-service h3", "APNs, calls")

    def failing():
        page.click("button", "Refresh")
        page.browser.wait("nothing to be busy", lambda: not page.all("[aria-busy=true]"))
        return [one for one in page.all(".push-service") if "503" in one.text and "Android" in one.text]

    page.browser.wait("the failure", failing)
    page.click(".push-service button", "Check")
    page.find(".push-service .hint", "would take pushes.")
    # Also for the push that is tried again meanwhile.
    fcm.script = [failure(403, "PERMISSION_DENIED", "Permission denied")] * 1_000
    page.click(".push-service button", "Check")
    page.find(".push-service .form-error", "403")
    fcm.script.clear()
    page.click(".push-service:last-child button", "Check")
    page.find(".push-service .form-error", "Apple’s push service would take no pushes. It cannot be reached")
    page.check("pushes")
    page.driver.execute_script("scrollTo(0, 0)")
    pictures(page.browser, f"{label}-pushes")
    page.driver.execute_script("scrollTo(0, 99999)")
    pictures(page.browser, f"{label}-pushes-below")

    page.open("Users")
    page.find("#query").send_keys(ben["user"]["id"], Keys.ENTER)
    page.browser.wait("one user", lambda: len(page.all("tbody tr")) == 1)
    page.click("tbody a", "Ben")
    page.find("h2", "Pushes (2)")
    page.check("a user whose devices are pushed to")
    page.driver.execute_script("arguments[0].scrollIntoView()", page.find("h2", "Pushes (2)"))
    pictures(page.browser, f"{label}-user-pushes")
    page.click("[aria-label=Pushes] tbody tr", "FCM", button="Remove")
    page.answer("Cancel")
    page.click("[aria-label=Pushes] tbody tr", "FCM", button="Remove")
    page.find("dialog", "until its app is opened again")
    page.check("the question")
    pictures(page.browser, f"{label}-user-pushes-question")
    page.answer("Remove")
    page.find("h2", "Pushes (1)")
    listed = HTTP.get(f"{url}/v1/me/push", headers=bearer).json()["registrations"]
    assert [one["kind"] for one in listed] == ["web"]
    page.open("Audit")
    page.find("tbody tr", "admin.users.push.remove")


def test_a_revoked_key_ends_the_page(page, server):
    key = new_key(server, "operator")
    page.sign_in(key)
    page.find("h1", "Overview")
    server.command("key", "revoke", key.split("_")[1])
    page.find(".form-error", "revoked")
    page.find("#key")


def test_the_keyboard_is_enough(page, server):
    page.sign_in(new_key(server, "operator"))
    page.find("h1", "Overview")
    assert page.driver.switch_to.active_element.get_attribute("id") == "main"
    page.driver.refresh()
    page.find("h1", "Overview")
    page.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert page.driver.switch_to.active_element.text == "Skip to the content"
    for _ in range(3):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
    assert page.driver.switch_to.active_element.text == "Users"
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.find("h1", "Users")
    assert page.driver.switch_to.active_element.get_attribute("id") == "main"


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_the_page_is_accessible(page, url, server, size, is_dark, pictures):
    mark = uuid.uuid4().hex[:6]
    ann, ben = account(url, f"Ann{mark} Abel"), account(url, f"Ben{mark} Brook")
    call(url, ann, ben)
    report(url, ann, ben)
    new_key(server, "users", "tokens", "calls:read", "calls:write")
    server.command(
        "webhook", "add", "--url", "http://127.0.0.1:9/hooks/of/our/shop", "--name", "Shop", "--event", "call.ended")
    page.browser.resize(size)
    # A notice that fades in is pale, too.
    page.browser.set_dark(is_dark, prefers_reduced_motion="reduce")
    page.browser.open(page.url)
    page.find("#key")
    label = f"operator-{'phone' if size == PHONE else 'desk'}-{'dark' if is_dark else 'light'}"
    page.check("sign-in")
    pictures(page.browser, f"{label}-sign-in")
    page.find("#key").send_keys(new_key(server, "operator"), Keys.ENTER)
    page.find("h1", "Overview")
    for tab in TABS:
        page.open(tab.title())
        page.find({
            "overview": ".facts", "users": "tbody a", "reports": "tbody summary", "calls": "tbody a",
            "keys": "tbody tr", "webhooks": "tbody a", "pushes": ".push-service .facts",
            "audit": "tbody tr", "configuration": ".setting",
        }[tab])
        if tab in ("keys", "webhooks"):
            page.click("summary", f"New {tab[:-1]}")
        if tab == "reports":
            page.click("tbody summary")
            page.find(".evidence blockquote", "money")
        page.check(tab)
        pictures(page.browser, f"{label}-{tab}")
        if tab == "reports":
            count = len(page.all("tbody tr"))
            page.click("tbody button", "Acted on")
            page.browser.wait("it to be resolved", lambda count=count: len(page.all("tbody tr")) == count - 1)
    page.open("Webhooks")
    page.click("tbody a", "Shop")
    page.click("button", "Send a test")
    page.find("tbody tr", "webhook.test")
    page.click("button", "New secret")
    page.answer("New secret")
    page.find("#made-secret")
    page.check("a webhook")
    pictures(page.browser, f"{label}-webhook")
    page.open("Users")
    page.find("#query").send_keys(f"ann{mark}", Keys.ENTER)
    page.browser.wait("one user", lambda: len(page.all("tbody tr")) == 1)
    page.click("tbody a", "Ann")
    page.find("h2", "Sessions (1)")
    page.check("a user")
    pictures(page.browser, f"{label}-user")
    page.click("button", "Disable")
    page.find("dialog")
    page.check("a question")
    pictures(page.browser, f"{label}-question")
    page.answer("Cancel")
    server.command("account", "disable", "--email", ann["email"])

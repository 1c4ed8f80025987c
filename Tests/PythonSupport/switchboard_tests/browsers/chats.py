"""What a person does and sees in conversations, and conversations that are made over REST, which is fast."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx
from selenium.webdriver.common.keys import Keys

from switchboard_tests.audio_files import encode, voice
from switchboard_tests.browsers import axe
from switchboard_tests.browsers.browser import DESK, PHONE, Browser
from switchboard_tests.browsers.pages import PASSWORD, Person
from switchboard_tests.server import HTTP, TLS
from switchboard_tests.waiting import TIMEOUT

OPEN_ROW_MENU = "const button = document.querySelector(arguments[0]); button?.click(); return Boolean(button);"


class API:
    """Requests with the tokens that a person's page has."""

    def __init__(self, person: Person) -> None:
        self._begin(person.url, person.name, person.credentials)

    @classmethod
    def of_new_user(cls, url: str, name: str) -> API:
        """Somebody without a page."""
        made = cls.__new__(cls)
        form = {"email": f"{uuid.uuid4().hex}@example.org", "password": PASSWORD, "displayName": name}
        signed_up = HTTP.post(f"{url}/v1/accounts", json=form)
        signed_up.raise_for_status()
        made._begin(url, name, signed_up.json())
        return made

    def _begin(self, url: str, name: str, credentials: dict[str, Any]) -> None:
        self.user: str = credentials["user"]["id"]
        self.name = name
        self._token: str = credentials["accessToken"]
        headers = {"Authorization": f"Bearer {self._token}"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT, verify=TLS)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        response = self._client.request(method, path, json=body)
        response.raise_for_status()
        return response.json() if response.content else {}

    def upload(self, path: str, file: bytes, headers: dict[str, str]) -> dict[str, Any]:
        response = self._client.post(path, content=file, headers=headers)
        response.raise_for_status()
        return response.json()

    @contextlib.contextmanager
    def calling(self, other: API, kind: str = "audio") -> Iterator[None]:
        """Calls somebody, from a client without media that stays connected until then."""
        endpoint, secret = str(uuid.uuid4()), uuid.uuid4().hex
        headers = {"Switchboard-Endpoint": f"{endpoint} {secret}"}
        hello = {"token": self._token, "endpoint": endpoint, "secret": secret}
        with self._client.stream("POST", "/v1/realtime/sse", json=hello) as session:
            session.raise_for_status()
            body = {"clientID": str(uuid.uuid4()), "callees": [other.user], "kind": kind}
            response = self._client.post("/v1/calls", json=body, headers=headers)
            response.raise_for_status()
            yield
            call = response.json()["call"]["id"]
            self._client.post(f"/v1/calls/{call}/end", json={}, headers=headers).raise_for_status()

    def create(self, kind: str, others: Sequence[API] = (), **more: Any) -> str:
        """A conversation; all of the others accept it."""
        body = {"clientID": str(uuid.uuid4()), "kind": kind, "members": [one.user for one in others], **more}
        conversation = self.ask("POST", "/v1/conversations", body)["conversation"]["id"]
        if kind == "direct":
            # A request exists for the other one with its first message.
            self.say(conversation, "Hello")
        for one in others:
            one.ask("POST", f"/v1/conversations/{conversation}/members/me/accept")
        return conversation

    def say(self, conversation: str, *texts: str, **more: Any) -> int:
        """Sends messages; the number of the last."""
        number = 0
        for text in texts:
            body = {"clientID": str(uuid.uuid4()), "text": text, **more}
            sent = self.ask("POST", f"/v1/conversations/{conversation}/messages", body)
            number = sent.get("message", {}).get("number", 0)
        return number


    def send_voice(self, conversation: str) -> int:
        """A voice message of three seconds that sounds like speech; its number."""
        path, headers = f"/v1/voice-files?clientID={uuid.uuid4()}", {"Content-Type": "audio/ogg"}
        made = self.upload(path, encode(voice(3)), headers)["file"]
        body = {"clientID": str(uuid.uuid4()), "kind": "voice", "file": made["id"]}
        return self.ask("POST", f"/v1/conversations/{conversation}/messages", body)["message"]["number"]


def write(person: Person, text: str) -> None:
    person.find("#write").send_keys(text, Keys.ENTER)


def texts(person: Person) -> list[str]:
    return person.texts("#messages .text")


def shows(person: Person, *want: str) -> None:
    """Waits until the thread has these messages, all of them stored."""
    person.browser.wait(
        f"the messages {want}",
        lambda: texts(person) == list(want) and not person.all("#messages [data-outgoing]"),
    )


def menu(person: Person, number: int, action: str) -> None:
    person.click(f"#message-{number} [data-action=message-menu]")
    person.click(f"#message-menu [data-action={action}]")


def reach(person: Person, number: int) -> None:
    """Goes to a message by the keyboard, so that keys act on it."""
    person.driver.execute_script("document.activeElement.blur(); document.getElementById('messages').focus()")

    def focused() -> str:
        return str(person.driver.execute_script("return document.activeElement.id"))

    while focused() != f"message-{number}":
        above = focused()
        person.press(Keys.ARROW_UP)
        assert focused() != above, f"message {number} is not above {above}"


def react(person: Person, number: int, emoji: str) -> None:
    person.click(f"#message-{number} [data-action=message-menu]")
    person.click(f'#message-menu [data-react="{emoji}"]')


def row(person: Person, text: str) -> None:
    person.says("#inbox .row", text)


def row_menu(person: Person, conversation: str, action: str) -> None:
    """Does something of the menu of a row, as soon as the row is there and offers it."""
    item = f"#row-menu [data-action={action}]"

    def is_offered() -> bool:
        if not person.driver.execute_script(OPEN_ROW_MENU, f"#row-{conversation} [data-action=row-menu]"):
            return False
        person.find("#row-menu")
        if not person.all(item):
            person.press(Keys.ESCAPE)
            person.gone("#row-menu")
        return bool(person.all(item))

    person.browser.wait(f"the row to offer {action}", is_offered)
    person.click(item)


def open_chat(person: Person, conversation: str, number: int | None = None) -> None:
    address = f"#/c/{conversation}" + (f"/{number}" if number else "")
    person.driver.execute_script("location.hash = arguments[0]", address)
    person.find("#messages")


def open_first(person: Person) -> None:
    person.click("#inbox .row a")
    person.find("#messages")


def accessible(person: Person, what: str) -> None:
    axe.check(person.driver, what)


def fits_both(person: Person, pictures: Callable[[Browser, str], None], name: str) -> None:
    """At a desk and on a phone, light and dark: nothing is wider than the window, and axe-core finds nothing."""
    for size, dark, suffix in ((DESK, False, ""), (PHONE, True, "-phone")):
        person.browser.resize(size)
        person.browser.set_dark(dark, prefers_reduced_motion="reduce")
        pictures(person.browser, name + suffix)
        accessible(person, name + suffix)
    person.browser.resize(DESK)
    person.browser.set_dark(False)


def start(ann: Person, ben: Person) -> None:
    """Ann starts a conversation with Ben."""
    ann.go("chats")
    ann.click("[data-action=new-chat]")
    ann.pick([ben])
    ann.click("#picker [data-choice=start]")
    ann.find("#write")

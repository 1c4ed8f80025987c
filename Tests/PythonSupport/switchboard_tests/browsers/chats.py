"""What a person does and sees in conversations, and conversations that are made over REST, which is fast."""

from __future__ import annotations

import contextlib
import pathlib
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import axe_core_python
import httpx
from selenium.webdriver.common.keys import Keys

from switchboard_tests.browsers.pages import PASSWORD, Person
from switchboard_tests.server import HTTP, TLS
from switchboard_tests.waiting import TIMEOUT

AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()


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


def write(person: Person, text: str) -> None:
    person.find("#write").send_keys(text, Keys.ENTER)


def texts(person: Person) -> list[str]:
    return [one.text for one in person.all("#messages .text")]


def shows(person: Person, *want: str) -> None:
    """Waits until the thread has these messages, all of them stored."""
    person.browser.wait(
        f"the messages {want}",
        lambda: texts(person) == list(want) and not person.all("#messages [data-outgoing]"),
    )


def menu(person: Person, number: int, action: str) -> None:
    person.click(f"#message-{number} [data-action=message-menu]")
    person.click(f"#message-menu [data-action={action}]")


def react(person: Person, number: int, emoji: str) -> None:
    person.click(f"#message-{number} [data-action=message-menu]")
    person.click(f'#message-menu [data-react="{emoji}"]')


def row(person: Person, text: str) -> None:
    person.says("#inbox .row", text)


def row_menu(person: Person, conversation: str, action: str) -> None:
    person.driver.execute_script(
        "document.querySelector(arguments[0]).click()", f"#row-{conversation} [data-action=row-menu]"
    )
    person.click(f"#row-menu [data-action={action}]")


def open_chat(person: Person, conversation: str, number: int | None = None) -> None:
    address = f"#/c/{conversation}" + (f"/{number}" if number else "")
    person.driver.execute_script("location.hash = arguments[0]", address)
    person.find("#messages")


def open_first(person: Person) -> None:
    person.click("#inbox .row a")
    person.find("#messages")


def accessible(person: Person, what: str) -> None:
    person.driver.execute_script(AXE)
    violations = person.driver.execute_async_script(
        "axe.run(document).then(({ violations }) => arguments[0](violations))"
    )
    found = [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in violations]
    assert found == [], what
    width, room = person.driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert width <= room, f"{what} is wider than the window"


def start(ann: Person, ben: Person) -> None:
    """Ann starts a conversation with Ben."""
    ann.go("chats")
    ann.click("[data-action=new-chat]")
    ann.pick([ben])
    ann.click("#picker [data-choice=start]")
    ann.find("#write")

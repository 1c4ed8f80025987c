"""What the requests of schemathesis name: conversations with messages of each kind, users, links, calls, runs of the
assistant. `openapi_hooks` makes it when it is needed first, for each operation by itself, so that none depends on what
another one has done.
"""

from __future__ import annotations

import functools
import json
import os
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from switchboard_tests.audio_files import encode, tone
from switchboard_tests.server import ROOT

HTTP = httpx.Client(base_url=os.environ["DEV_SWITCHBOARD_URL"], timeout=60)
KEY = {"Authorization": f"Bearer {os.environ['DEV_SWITCHBOARD_KEY']}"}
LATER = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
THUMB = "👍"
# The generator of P-256 is a point on it, as good as any.
GENERATOR = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
PUSH_REGISTRATION = {
    "kind": "web", "endpoint": "https://push.example.com/a", "keys": {"p256dh": GENERATOR, "auth": "A" * 22},
}
AUDIO = encode(tone(0.1))
PHOTO = (ROOT / "Tests/ContainersTests/Fixtures/images/photo.jpg").read_bytes()
OFFER = "\r\n".join([
    "v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=group:BUNDLE 0", "m=audio 9 UDP/TLS/RTP/SAVPF 111",
    "c=IN IP4 0.0.0.0", "a=mid:0", "a=sendonly", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2", "a=ice-ufrag:peer",
    "a=ice-pwd:abcdabcdabcdabcdabcdabcd", "a=setup:actpass", "a=fingerprint:sha-256 " + ":".join(["AB"] * 32), "",
])


def new_id() -> str:
    return str(uuid.uuid4())


def made(response: httpx.Response) -> dict[str, Any]:
    """What was made by a request that has to succeed."""
    assert response.status_code < 300, f"{response.request.method} {response.url}: {response.text}"
    return response.json() if response.content else {}


class Person:
    def __init__(self, user: str, headers: dict[str, str]) -> None:
        self.id = user
        self.headers = headers

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        headers = self.headers | options.pop("headers", {})
        return made(HTTP.request(method, path, json=body, headers=headers, **options))

    def voice_file(self) -> str:
        """One that is not sent. Twenty of them may wait."""
        file = self.ask(
            "POST", "/v1/voice-files", params={"clientID": new_id()}, content=AUDIO,
            headers={"Content-Type": "audio/ogg"},
        )
        return file["file"]["id"]


ME, FRIEND = (Person(**json.loads(os.environ[name])) for name in ("DEV_SWITCHBOARD_ME", "DEV_SWITCHBOARD_FRIEND"))


def server(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """By the server key."""
    return made(HTTP.request(method, f"/v1/server/{path}", json=body, headers=KEY))


def restore() -> None:
    """What the first conversations of an operation need, whatever operations before have ended."""
    ME.ask("PATCH", "/v1/me", {"intelligence": "full", "messageRequests": "ask", "languages": ["es"]})
    for one, other in ((ME, FRIEND), (FRIEND, ME)):
        one.ask("DELETE", f"/v1/blocks/{other.id}")
    if FRIEND.id not in [one["user"]["id"] for one in ME.ask("GET", "/v1/friends")["friends"]]:
        ME.ask("POST", "/v1/friends", {"clientID": new_id(), "user": FRIEND.id})
        FRIEND.ask("POST", f"/v1/friends/{ME.id}/accept")


def unknown_user() -> Person:
    """A new user, who is nobody's friend."""
    external = f"ext:{uuid.uuid4().hex}"
    user = server("PUT", f"users/{external}", {"displayName": "Somebody"})["user"]["id"]
    device = {"id": new_id(), "name": "Phone", "platform": "test"}
    token = server("POST", f"users/{external}/tokens", {"device": device})["accessToken"]
    return Person(user, {"Authorization": f"Bearer {token}", "Switchboard-Endpoint": f"{new_id()} {uuid.uuid4().hex}"})


class Conversation:
    """One in which `writer` and `other` write, and what is in it."""

    def __init__(self, id: str, writer: Person, other: Person) -> None:
        self.id = id
        self.path = f"/v1/conversations/{id}"
        self.writer = writer
        self.other = other

    def send(self, person: Person, **body: Any) -> dict[str, Any]:
        return person.ask("POST", f"{self.path}/messages", {"clientID": new_id()} | body)

    def new_message(self) -> dict[str, Any]:
        return self.send(self.writer, text="Hello, have you seen https://example.org?")["message"]

    @functools.cached_property
    def own_message(self) -> dict[str, Any]:
        return self.send(self.writer, text="Shall we meet on Friday at noon?")["message"]

    @functools.cached_property
    def text(self) -> int:
        self.writer.ask("PUT", f"{self.path}/messages/{self.own_message['number']}/reactions/{THUMB}")
        return self.own_message["number"]

    @functools.cached_property
    def client(self) -> str:
        """The same message, by the id that its client gave it."""
        return f"client:{self.own_message['clientID']}"

    @functools.cached_property
    def others_text(self) -> int:
        return self.send(self.other, text="Yes, of course.")["message"]["number"]

    @functools.cached_property
    def voice(self) -> int:
        return self.send(self.other, kind="voice", file=self.other.voice_file())["message"]["number"]

    @functools.cached_property
    def notice(self) -> int:
        self.writer.ask("PATCH", self.path, {"name": "Renamed"})
        page = self.writer.ask("GET", f"{self.path}/messages", params={"limit": 100})
        return next(one["number"] for one in page["messages"] if one["kind"] == "notice")

    @functools.cached_property
    def deleted(self) -> int:
        number = self.new_message()["number"]
        self.writer.ask("DELETE", f"{self.path}/messages/{number}", params={"for": "all"})
        return number

    def scheduled(self) -> str:
        """The client id of a new one."""
        client_id = new_id()
        self.send(self.writer, clientID=client_id, text="Later", sendAt=LATER)
        return client_id

    def link(self) -> dict[str, Any]:
        """A new one, with its token."""
        return self.writer.ask("POST", f"{self.path}/links", {})


class Request(Conversation):
    """One that the writer has asked to accept, and which has one message."""

    def __init__(self, id: str, writer: Person, other: Person) -> None:
        super().__init__(id, writer, other)
        self.text = self.others_text = self.voice = self.notice = self.deleted = 1


class Direct(Conversation):
    @functools.cached_property
    def notice(self) -> int:
        """Here are none."""
        return self.others_text


def group(owner: Person, *members: Person) -> str:
    body = {"clientID": new_id(), "kind": "group", "members": [one.id for one in members], "name": "Team"}
    return owner.ask("POST", "/v1/conversations", body)["conversation"]["id"]


def owned() -> Conversation:
    return Conversation(group(ME, FRIEND), ME, FRIEND)


def joined() -> Conversation:
    """A group of somebody else."""
    return Direct(group(FRIEND, ME), ME, FRIEND)


def direct() -> Conversation:
    other = unknown_user()
    body = {"clientID": new_id(), "kind": "direct", "members": [ME.id, other.id]}
    return Direct(server("POST", "conversations", body)["conversation"]["id"], ME, other)


def request() -> Conversation:
    """Of somebody whom the user does not know."""
    asker = unknown_user()
    body = {"clientID": new_id(), "kind": "direct", "members": [ME.id]}
    asked = Request(asker.ask("POST", "/v1/conversations", body)["conversation"]["id"], asker, asker)
    asked.send(asker, text="May I?")
    return asked


def invitation() -> Conversation:
    """To a group of somebody whom the user does not know."""
    asker = unknown_user()
    return Request(group(asker, ME), asker, asker)


def call(choice: int, mode: str | None = None) -> str:
    """An outgoing or incoming ringing call, or an active one."""
    caller, callee = (FRIEND, ME) if choice % 2 else (ME, FRIEND)
    media: dict[str, Any] = {"mode": mode} if mode else {"offer": {"sdp": "v=0"}}
    body = {"clientID": new_id(), "callees": [callee.id], "kind": "audio", "other": "end"} | media
    found: str = caller.ask("POST", "/v1/calls", body)["call"]["id"]
    if choice >= 2:
        callee.ask("POST", f"/v1/calls/{found}/accept", {"clientID": new_id(), "other": "end"})
    return found


def leg(of: str, kind: str) -> tuple[str, str]:
    """The id and the ETag of a new leg of WHIP or WHEP."""
    headers = ME.headers | {"Content-Type": "application/sdp"}
    response = HTTP.post(f"/v1/calls/{of}/{kind}", content=OFFER, headers=headers)
    assert response.status_code == 201, response.text
    return response.headers["Location"].rpartition("/")[2], response.headers["ETag"]


def voice_audio() -> str:
    """A link to the audio of a voice message in the user's notes."""
    notes = ME.ask("POST", "/v1/conversations", {"clientID": new_id(), "kind": "self"})["conversation"]["id"]
    number = Conversation(notes, ME, ME).voice
    return ME.ask("GET", f"/v1/conversations/{notes}/messages/{number}/audio")["audio"]["url"]


def voice_recording() -> str:
    """A voice recording in progress; it replaces the previous one."""
    return ME.ask("POST", "/v1/voice-recordings", {"offer": {"sdp": OFFER}})["recording"]


def run() -> dict[str, Any]:
    """A run of the assistant, which may be over."""
    return ME.ask("POST", "/v1/assistant", {"clientID": new_id(), "question": "When do we meet?"})["run"]


PASSWORD = "a long password of the tests"


def signed_up() -> Person:
    """Somebody with a password."""
    body = {"email": f"{uuid.uuid4().hex}@example.org", "password": PASSWORD, "displayName": "Somebody"}
    account = made(HTTP.post("/v1/accounts", json=body))
    return Person(account["user"]["id"], {"Authorization": f"Bearer {account['accessToken']}"})


def photo() -> str:
    """The user's own."""
    headers = {"Content-Type": "image/jpeg"}
    address = ME.ask("PUT", "/v1/me/photo", content=PHOTO, headers=headers)["photoURL"]
    return address.rpartition("/")[2]


def asking_friend() -> Person:
    """Somebody who has asked the user to become friends."""
    asker = unknown_user()
    asker.ask("POST", "/v1/friends", {"clientID": new_id(), "user": ME.id})
    return asker


MAKERS: dict[str, Callable[[], Conversation]] = {
    "owned": owned, "joined": joined, "direct": direct, "request": request, "invitation": invitation,
}

"""Values that schemathesis cannot guess. Most ids that it generates are replaced by those of what exists, which
`openapi_state` makes, so that operations are tested with ids that exist and with ids that do not. What is invalid stays
invalid. test_openapi loads it by SCHEMATHESIS_HOOKS, and reads what the operations responded.
"""

from __future__ import annotations

import collections
import functools
import os
import re
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

import httpx
import openapi_state as state
import schemathesis
from openapi_state import FRIEND, ME, Conversation
from schemathesis.core.parameters import ParameterLocation

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
NUMBER = re.compile(r"[1-9]\d{0,17}|client:" + UUID.pattern)
USER = re.compile(UUID.pattern + r"|ext:[!-~]{1,128}")
TOKEN = re.compile(r"(?s).{1,128}")
T = TypeVar("T")

# The conversations of an operation's requests, in turns. None: the generated one, which does not exist.
CONVERSATIONS = ("owned", "owned", "direct", "owned", "request", "owned", "joined", None)
CONVERSATIONS_OF: dict[str, tuple[str | None, ...]] = {
    "members.accept": ("invitation", "request", None), "members.decline": ("invitation", "request", None),
    "members.leave": ("joined", "joined", "owned", "request", None),
}
# And the messages, in turns that meet all of the conversations.
MESSAGES = ("text", "client", "voice", "others_text", "notice", "text", "deleted")
MESSAGES_OF = {
    **dict.fromkeys(("messages.edit", "messages.delete", "messages.setLanguage"), (
        "new", "new", "new", "client", "notice", "deleted",
    )),
    **dict.fromkeys(
        ("messages.audio", "messages.listen", "messages.transcript", "messages.transcribe", "messages.transcriptFile"),
        ("voice", "voice", "voice", "text", "deleted"),
    ),
}
# These end what they are given, so that after a successful one there are others.
ENDS_CONVERSATION = {
    "members.accept", "members.decline", "members.leave", "members.remove", "conversations.handOver",
    "conversations.clear", "conversations.delete", "server.members.remove",
}
ENDS_USER = {"server.users.delete", "server.users.disable", "server.users.signOut"}
SIGNS_OUT = {"sessions.revoke", "devices.revoke", "me.password", "me.delete"}
# Through the gateway, which has the media.
MEDIA = re.compile(r"(whip|whep)\.|calls\.(leg|slots|record|stopRecording|caption|stopCaptions)$")

counts: collections.Counter[tuple[str, bool]] = collections.Counter()
# The operation of the last request.
last = [""]
responses = open(os.environ["DEV_SWITCHBOARD_RESPONSES"], "a")  # noqa: SIM115


# The conversations of each operation, by their kind.
conversations: dict[tuple[str, str], Conversation] = {}
# What else each operation has, by name, until a request of it changes it.
unchanged: dict[tuple[str, str], Any] = {}


def forget(found: dict[tuple[str, str], Any], operation: str) -> None:
    for key in [key for key in found if key[0] == operation]:
        del found[key]


class Values:
    """What a request of an operation is given: `turn` counts them, and most was made for an earlier one."""

    def __init__(self, operation: str, path: str, turn: int) -> None:
        self.operation = operation
        self.path = path
        self.turn = turn
        # Of those of all operations.
        self.request = sum(counts.values())
        # Of the message to be edited, and of the leg.
        self.text_version: int | None = None
        self.etag: str | None = None

    def keep(self, name: str, make: Callable[[], T]) -> T:
        """What the operation has, or what is made now."""
        if (self.operation, name) not in unchanged:
            unchanged[self.operation, name] = make()
        return unchanged[self.operation, name]

    def conversation_of(self, kind: str) -> Conversation:
        if (self.operation, kind) not in conversations:
            conversations[self.operation, kind] = state.MAKERS[kind]()
        return conversations[self.operation, kind]

    @functools.cached_property
    def conversation(self) -> Conversation | None:
        kinds = CONVERSATIONS_OF.get(self.operation, CONVERSATIONS)
        kind = kinds[self.turn % len(kinds)]
        return None if kind is None else self.conversation_of(kind)

    @property
    def own(self) -> Conversation:
        """A conversation that there is."""
        return self.conversation or self.conversation_of("owned")

    @functools.cached_property
    def number(self) -> int | str | None:
        if self.conversation is None:
            return None
        kinds = MESSAGES_OF.get(self.operation, MESSAGES)
        kind = kinds[self.turn % len(kinds)]
        if kind != "new" or isinstance(self.conversation, state.Request):
            return getattr(self.conversation, "text" if kind == "new" else kind)
        message = self.keep(f"message of {self.conversation.id}", self.conversation.new_message)
        self.text_version = message["textVersion"]
        return message["number"]

    @functools.cached_property
    def user(self) -> str | None:
        if self.turn % 4 == 3 and self.operation not in ENDS_USER:
            return None
        if self.operation in ("friends.accept", "friends.decline"):
            return self.keep("user", state.asking_friend).id
        if self.operation == "friends.request" or self.operation.startswith(("server.users.", "server.tokens.")):
            return self.keep("user", state.unknown_user).id
        return FRIEND.id if self.conversation is None else self.conversation.other.id

    @functools.cached_property
    def call(self) -> str | None:
        return None if self.turn % 3 == 2 else self.keep("call", self.new_call)

    def new_call(self) -> str:
        choice = self.turn // 3 % 4
        if not MEDIA.match(self.operation):
            return state.call(choice)
        call = state.call(2 + choice % 2, "gateway")
        if self.operation == "calls.slots":
            ME.ask("POST", f"/v1/calls/{call}/leg", {"offer": {"sdp": state.OFFER}})
        return call

    def scheduled(self) -> str | None:
        """Of the user, who alone can have scheduled something that is found."""
        found = self.conversation
        return self.keep(f"scheduled in {found.id}", found.scheduled) if found and found.writer is ME else None

    def link(self) -> str | None:
        found = self.conversation
        if found is None or type(found) is not Conversation:
            return None
        return self.keep(f"link of {found.id}", found.link)["link"]["id"]

    @functools.cached_property
    def person(self) -> state.Person:
        """Who makes the request."""
        if self.operation not in SIGNS_OUT:
            return ME
        return self.keep("person", state.signed_up if self.operation == "me.password" else state.unknown_user)

    def sign_in(self, name: str) -> str | None:
        """The session or device of who makes the request."""
        if self.turn % 4 == 3:
            return None
        return self.person.ask("GET", f"/v1/{name}s")[f"{name}s"][0]["id"]

    def token(self) -> str | None:
        if self.turn % 4 == 3:
            return None
        return self.keep("token", lambda: Conversation(state.group(FRIEND), FRIEND, FRIEND).link()["token"])

    def in_path(self, name: str) -> Any:
        """Another value of a parameter that is valid; None keeps it."""
        match name:
            case "conversation":
                return self.conversation and self.conversation.id
            case "emoji":
                return state.THUMB if self.turn % 4 != 3 else None
            case "clientID":
                return self.scheduled()
            case "file" if "/voice-files/" in self.path:
                return self.keep(name, ME.voice_file) if self.turn % 2 == 0 else None
            case "recording" if "/voice-recordings/" in self.path:
                return self.keep(name, state.voice_recording) if self.turn % 2 == 0 else None
            case "run" | "thread":
                return self.keep("run", state.run)["id" if name == "run" else "thread"] if self.turn % 4 != 3 else None
            case "leg":
                if self.call is None:
                    return None
                call, kind = self.call, self.path.split("/")[4]
                found, self.etag = self.keep("leg", lambda: state.leg(call, kind))
                return found
            case "number" | "user" | "call":
                return getattr(self, name)
            case "link" | "token":
                return getattr(self, name)()
            case "session" | "device":
                return self.sign_in(name)
            case "photo":
                return self.keep(name, state.photo) if self.turn % 2 == 0 else None
        return None

    def in_query(self, name: str) -> Any:
        match name:
            case "before" | "after" | "around" | "thread" | "upTo":
                return self.own.text
            case "conversation":
                return self.own.id if self.turn % 4 != 3 else None
            case "author" | "user":
                return ME.id if self.turn % 2 else FRIEND.id
            case "call":
                return self.call
        return None

    def in_body(self, name: str) -> Any:
        match name:
            case "clientID":
                return str(uuid.uuid5(uuid.UUID(ME.id), f"{self.operation} {self.request}")) if self.turn % 4 else None
            case "user" | "caller" | "author" | "call":
                return ME.id if name in ("caller", "author") else getattr(self, name)
            case "conversation":
                return self.own.id if self.turn % 4 != 3 else None
            case "file":
                return self.keep(name, ME.voice_file)
            case "number":
                return self.own.others_text
            case "thread" if self.operation.startswith("assistant."):
                return self.keep("run", state.run)["thread"]
            case "replyTo" | "thread" | "readUpTo" | "read" | "delivered" | "from" | "to":
                return self.own.text
            case "afterClientID":
                return self.own.client.removeprefix("client:")
        return None


VALID = {
    "number": NUMBER, "user": USER,
    **dict.fromkeys(("emoji", "token", "leg", "photo", "session"), TOKEN),
    **dict.fromkeys(("before", "after", "around", "upTo", "replyTo", "readUpTo"), NUMBER),
    **dict.fromkeys(("read", "delivered", "from", "to"), NUMBER),
}


def is_valid(name: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return False
    patterns = [UUID, NUMBER] if name == "thread" else [VALID.get(name, UUID)]
    return any(pattern.fullmatch(str(value)) for pattern in patterns)


def replace(values: dict[str, Any], find: Any) -> None:
    for name, value in list(values.items()):
        if is_valid(name, value):
            found = find(name)
            if found is not None:
                values[name] = found if isinstance(value, int) else str(found)


def keep_one(values: dict[str, Any], names: tuple[str, ...], turn: int) -> None:
    """Of those that exclude each other."""
    there = [name for name in names if name in values]
    for index, name in enumerate(there):
        if index != turn % len(there):
            del values[name]


def edit_query(query: dict[str, Any], values: Values, positive: bool) -> None:
    replace(query, values.in_query)
    if not positive:
        return
    if values.operation == "server.events.list":
        keep_one(query, ("after", "since"), values.turn)
        if "after" in query:
            query["after"] = state.server("GET", "events")["next"]
        if query.get("wait"):
            # So long a request without an event takes.
            query["wait"] = "0" if values.turn % 8 else "1"
    if values.operation == "messages.list":
        keep_one(query, ("before", "after", "around", "from"), values.turn)
    if values.turn % 4 != 3:
        query.pop("cursor", None)


def edit_body(body: dict[str, Any], values: Values, positive: bool) -> None:
    replace(body, values.in_body)
    operation, turn = values.operation, values.turn
    for name in ("callees", "users", "members"):
        if isinstance(body.get(name), list) and turn % 4 != 3:
            is_new = operation == "server.calls.create" or (operation.endswith("members.add") and turn % 2)
            body[name] = [values.keep(name, state.unknown_user).id if is_new else FRIEND.id]
    if positive and isinstance(body.get("numbers"), list):
        body["numbers"] = [values.own.text, values.own.others_text]
    if set(body) == {"offer"}:
        body["offer"] = {"sdp": state.OFFER}
    if not positive or turn % 8 == 7:
        return
    # What has to be as it is stored, and what goes with nothing else.
    body.pop("version", None)
    if operation == "me.password":
        body["currentPassword"] = state.PASSWORD
    if values.text_version is not None and operation == "messages.edit":
        body["textVersion"] = values.text_version
    if operation == "messages.send":
        keep_one(body, ("replyTo", "thread", "forward", "draft", "readUpTo", "sendAt", "afterClientID", "file"), turn)
        kept_names = ("clientID", "file") if "file" in body else ("clientID", "text", *body)
        more: dict[str, Any] = {"kind": "voice"} if "file" in body else {"text": "Hello"}
        if "forward" in body:
            more = {"forward": {"conversation": values.own.id, "number": values.own.text}}
        if "sendAt" in body:
            more["sendAt"] = state.LATER
        without = {"kind", "text"} - set(more)
        edited = {name: body[name] for name in kept_names if name in body and name not in without} | more
        body.clear()
        body.update(edited)
    elif operation == "push.register":
        body.clear()
        body.update(state.PUSH_REGISTRATION)
    elif operation == "calls.slots":
        # The leg has no video.
        if positive and turn % 2 == 0:
            body["slots"] = {}
    elif operation == "calls.create":
        keep_one(body, ("callees", "conversation"), turn)
    elif operation == "summaries.create":
        keep_one(body, ("call", "thread", "from"), turn + 1)
        if "call" in body:
            for name in set(body) - {"call"}:
                del body[name]


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = case.operation.definition.raw["operationId"]
    path = case.operation.path
    is_own = case.method.upper() == case.operation.method.upper()
    # The first valid request has what is most likely to be successful, however many others came before it.
    is_valid = is_own and not any(case.meta.is_negative_at(location) for location in ParameterLocation)
    turn = counts[operation, is_valid]
    counts[operation, is_valid] += 1
    values = Values(operation, path, turn)
    # The requests of the stateful phase are given what was made by those before them.
    if is_own and case.meta.phase.name.value != "stateful":
        edit(case, values)
    if operation in SIGNS_OUT and not case.meta.is_negative_at(ParameterLocation.HEADER):
        case.headers.update(values.person.headers)


def edit(case: Any, values: Values) -> None:
    if values.operation != last[0]:
        last[0] = values.operation
        state.restore()
    if values.path == "/v1/media/{file}":
        if values.turn % 2 == 0:
            url = httpx.URL(values.keep("audio", state.voice_audio))
            case.path_parameters["file"] = url.path.rpartition("/")[2]
            case.query = dict(url.params)
        return
    replace(case.path_parameters, values.in_path)
    if values.operation == "push.unregister":
        # Of the session alone.
        case.query.pop("device", None)
    edit_query(case.query, values, not case.meta.is_negative_at(ParameterLocation.QUERY))
    if isinstance(case.body, dict):
        edit_body(case.body, values, not case.meta.is_negative_at(ParameterLocation.BODY))
    if values.etag:
        case.headers["If-Match"] = values.etag


@schemathesis.hook
def after_call(context, case, response):
    if case.method.upper() == case.operation.method.upper():
        operation = case.operation.definition.raw["operationId"]
        responses.write(f"{operation} {response.status_code}\n")
        responses.flush()
        if case.method.upper() in ("GET", "HEAD"):
            return
        # A call may be over because of a later one.
        if response.status_code < 300 or response.status_code == 409:
            forget(unchanged, operation)
        if response.status_code < 300 and operation in ENDS_CONVERSATION:
            forget(conversations, operation)


def as_bytes(value: object) -> bytes:
    """A body that is not JSON: schemathesis wraps the bytes of the format `binary`."""
    data = getattr(value, "data", value)
    return data if isinstance(data, bytes) else str(data).encode()


serialized: collections.Counter[str] = collections.Counter()


def every_other(media_type: str, valid: bytes) -> None:
    """Every other body of the type is a valid one."""

    def serialize(context: Any, value: object) -> bytes:
        serialized[media_type] += 1
        return valid if serialized[media_type] % 2 else as_bytes(value)

    schemathesis.serializer(media_type)(serialize)


for name, valid in (
    ("audio/ogg", state.AUDIO), ("audio/webm", state.AUDIO), ("application/sdp", state.OFFER.encode()),
    ("application/trickle-ice-sdpfrag", b"a=ice-ufrag:abcd\r\na=ice-pwd:" + b"p" * 24 + b"\r\n"),
):
    every_other(name, valid)

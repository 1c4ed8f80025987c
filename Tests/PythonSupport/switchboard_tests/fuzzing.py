"""Frames for fuzzing realtime sessions: the requests and streams that `/asyncapi.json` lists, with real and generated
parameters. Real ones are names in brackets, such as `<group>`, until a frame is sent: what exists then may be newer
than the strategy.
"""

from __future__ import annotations

import functools
import operator
import re
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from hypothesis import strategies as st

from switchboard_tests import conversations
from switchboard_tests.endpoint import client_id
from switchboard_tests.server import HTTP, Server
from switchboard_tests.transports import web_socket

T = TypeVar("T")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
CONVERSATIONS = (*["<group>"] * 6, "<joined>", "<direct>", "<request>")
NUMBERS = (*["<text>"] * 4, "<other>", "<notice>", "<deleted>")
# Of parameters with these names.
REAL: dict[str, tuple[Any, ...]] = {
    "conversation": CONVERSATIONS, "user": ("<me>", "<friend>", "<asker>"), "author": ("<me>", "<friend>"),
    "members": (["<friend>"], ["<asker>"]), "callees": (["<friend>"],), "users": (["<friend>"],),
    "number": (*NUMBERS, "<client>"), "numbers": (["<text>", "<other>"],), "link": ("<link>",), "token": ("<token>",),
    "clientID": ("<new>", "<scheduled>"), "emoji": ("👍",), "sendAt": ("<later>",), "language": ("en", "es"),
    "question": ("When do we meet?",), "expiresAt": ("<later>",), "role": ("admin", "member"),
    "textVersion": ("<version>",), "text": ("Hello",), "endpoint": ("<new>",), "terms": ([],), "for": ("me", "all"),
    **dict.fromkeys(("before", "after", "around", "from", "to", "upTo", "replyTo", "thread", "read"), NUMBERS),
}


def mostly(usual: st.SearchStrategy[T], other: st.SearchStrategy[Any], times: int = 7) -> st.SearchStrategy[T]:
    """The usual so many times as often. `one_of` would choose among the alternatives of both, and each once."""
    return st.sampled_from([usual] * times + [other]).flatmap(lambda chosen: chosen)


counts = st.one_of(st.just(0), st.integers(0, 12), st.integers(-2, 1 << 63))
positions = mostly(
    st.one_of(
        st.tuples(st.just("<epoch>"), counts),
        # With the messages that a client holds, from the first to the last.
        st.tuples(st.just("<epoch>"), counts, counts, counts),
        st.tuples(st.text(max_size=8), st.integers(-2, 1 << 63)),
    ),
    json_values,
    4,
)


class Known:
    """What `user` has in conversations with `friend` and with somebody who asks to write. `renew` makes other ones,
    since the frames end them."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.user, self.friend = conversations.befriend(*server.users(2))
        self.direct = conversations.direct(self.user, self.friend)
        self.values: dict[str, Any] = {}

    def renew(self) -> None:
        # The last one may have blocked the friend, or be one no more.
        self.user.request("DELETE", f"/v1/blocks/{self.friend.id}")
        asker, user, friend = self.server.user(), self.user, self.friend
        if user.post("/v1/friends", {"clientID": client_id(), "user": friend.id}).status_code == 201:
            friend.post(f"/v1/friends/{user.id}/accept")
        group = conversations.group(user, [friend], "Team")
        path = f"/v1/conversations/{group}"
        message = conversations.send(user, group, "Shall we meet on Friday?").json()["message"]
        deleted = conversations.sent(user, group, "A mistake")
        user.request("DELETE", f"{path}/messages/{deleted}?for=all")
        user.request("PATCH", path, {"name": "Renamed"})
        later = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        scheduled = client_id()
        conversations.send(user, group, "Later", clientID=scheduled, sendAt=later)
        link = user.post(f"{path}/links").json()
        asked = conversations.direct(asker, user)
        conversations.send(asker, asked, "May I?")
        joined = conversations.group(friend, [user])
        with web_socket(self.server, user) as exchange:
            assert exchange is not None
            listening = exchange(2, {"listen": {"stream": f"conversation:{group}"}})
            assert listening is not None
        self.values = {
            "group": group, "joined": joined, "direct": self.direct, "request": asked,
            "me": user.id, "friend": friend.id, "asker": asker.id, "link": link["link"]["id"],
            "token": friend.post(f"/v1/conversations/{joined}/links").json()["token"],
            "text": message["number"], "deleted": deleted,
            "version": message["textVersion"], "other": conversations.sent(friend, group, "Yes"),
            "notice": deleted + 1, "client": f"client:{message['clientID']}", "scheduled": scheduled, "later": later,
            "epoch": listening["result"]["position"][0],
        }

    def filled(self, value: Any) -> Any:
        """The value with what exists now instead of its name."""
        if isinstance(value, str):
            if value == "<new>":
                return client_id()
            name = re.fullmatch(r"<(\w+)>", value)
            if name and name[1] in self.values:
                return self.values[name[1]]
            return re.sub(r"<(\w+)>", lambda found: str(self.values.get(found[1], found[0])), value)
        if isinstance(value, list | tuple):
            return [self.filled(one) for one in value]
        if isinstance(value, dict):
            return {self.filled(key): self.filled(one) for key, one in value.items()}
        return value


@functools.cache
def document(url: str) -> dict[str, Any]:
    return HTTP.get(f"{url}/asyncapi.json").json()


class Frames:
    """The strategies, from the document of a server."""

    def __init__(self, url: str) -> None:
        self.schemas = document(url)["components"]["schemas"]
        self.parameters = {
            request["name"]: self.parameters_of(request["frame"]) for request in document(url)["x-requests"]
        }
        self.of_conversations = sorted(
            name for name, (listed, _) in self.parameters.items() if "conversation" in listed
        )
        # Those that are resumed by what has changed since.
        self.keyed = {
            stream["name"].partition(":")[0] for stream in document(url)["x-streams"] if stream["kind"] == "keyed"
        }
        self.streams = sorted(stream["name"] for stream in document(url)["x-streams"])
        self.streams_of_conversations = [
            name for name in self.streams if re.search(r"\{conversation\}", name) or name == "inbox:{user}"
        ]

    def resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        return self.schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    def parameters_of(self, frame: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
        """Those of a request, and which are required."""
        listed: dict[str, Any] = {}
        required: set[str] = set()
        params = self.resolved(frame)["properties"]["params"]
        for part in map(self.resolved, params.get("allOf", [params])):
            listed |= part.get("properties", {})
            required |= set(part.get("required", []))
        return listed, required

    def value(self, name: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        schema = self.resolved(schema)
        if "enum" in schema:
            valid: st.SearchStrategy[Any] = st.sampled_from(schema["enum"])
        elif schema.get("type") == "boolean":
            valid = st.booleans()
        elif schema.get("type") == "integer":
            valid = st.integers(-2, 1 << 63) | st.integers(1, 40)
        elif schema.get("format") == "uuid":
            valid = st.uuids().map(str)
        elif schema.get("type") == "string":
            valid = st.text(max_size=40)
        else:
            valid = json_values
        generated = mostly(valid, json_values)
        return mostly(st.sampled_from(REAL[name]), generated, 6) if name in REAL else generated

    def request(self, name: str) -> st.SearchStrategy[dict[str, Any]]:
        listed, required = self.parameters[name]
        values = {key: self.value(key, schema) for key, schema in listed.items()}
        optional = sorted(set(values) - required - {"text", "textVersion"})
        chosen = st.lists(st.sampled_from(optional), max_size=2, unique=True) if optional else st.just([])
        params = chosen.flatmap(
            lambda more: st.fixed_dictionaries({key: values[key] for key in values if key not in {*optional} - {*more}})
        )
        return mostly(params, json_values, 15).map(lambda found: {"request": name, "params": found})

    @functools.cached_property
    def requests(self) -> st.SearchStrategy[list[dict[str, Any]]]:
        """Different ones, most of them of conversations."""
        every = sorted({*self.parameters} - {*self.of_conversations})
        names = st.builds(
            operator.add, st.lists(st.sampled_from(self.of_conversations), unique=True, min_size=4, max_size=7),
            st.lists(st.sampled_from(every), unique=True, max_size=2),
        )  # fmt: skip
        request = functools.cache(self.request)
        return names.flatmap(lambda chosen: st.tuples(*map(request, chosen)).map(list))

    def stream(self, template: str) -> st.SearchStrategy[str]:
        names = re.findall(r"\{(\w+)\}", template)
        values = [
            mostly(st.sampled_from(REAL.get(name, ("<me>",))), st.uuids().map(str) | st.text(max_size=20), 4)
            for name in names
        ]
        return st.tuples(*values).map(lambda found: re.sub(r"\{\w+\}", "{}", template).format(*found))

    @functools.cached_property
    def names_of_streams(self) -> st.SearchStrategy[str]:
        templates = mostly(st.sampled_from(self.streams_of_conversations), st.sampled_from(self.streams), 2)
        return templates.flatmap(functools.cache(self.stream))

    @functools.cached_property
    def resumed(self) -> st.SearchStrategy[dict[str, Any]]:
        """A position in one stream of each kind that conversations have."""
        near = mostly(st.tuples(st.just("<epoch>"), st.integers(0, 3)), positions, 2)
        return st.tuples(*(st.tuples(self.stream(name), near) for name in self.streams_of_conversations)).map(dict)

"""A group whose members are and were in it in every way, and people who were never in it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import httpx

from switchboard_tests.access_tokens import expiring
from switchboard_tests.conversations import befriend, create, group, send
from switchboard_tests.endpoint import client_id
from switchboard_tests.recordings import signed_up
from switchboard_tests.server import HTTP, Server, User, refused

# The numbers of what was written; between them are notices of what was done.
NOTICE, ONE, TWO, THREE = 1, 3, 5, 8
ROLES = {
    "owner": "made the group and wrote ONE",
    "admin": "is an administrator",
    "member": "is in it and wrote TWO, which is deleted",
    "blocked": "is in it, and has blocked the owner",
    "joined later": "joined after TWO",
    "cleared": "is in it, and has cleared it for themselves after TWO",
    "returned": "left after ONE and returned after TWO",
    "former": "left after TWO",
    "invited": "was invited and has not accepted",
    "declined": "was invited and has declined",
    "outsider": "was never in it",
    "friend": "was never in it, and is a friend of the owner",
    "requested": "was never in it, and has a request of the owner to write to them",
    "anonymous": "has no token",
    "expired": "is in it; the access token has expired",
    "revoked": "is in it; the session was revoked",
    "disabled": "is in it; the account is disabled",
    "deleted": "was in it; the account is deleted",
}
SIGNED_OUT = {"anonymous", "expired", "revoked", "disabled", "deleted"}
INSIDE = {"owner", "admin", "member", "blocked", "joined later", "cleared", "returned"}
# The messages that each sees; THREE was written after all had joined.
ALL = [ONE, TWO, THREE]
SEES = {
    "owner": ALL, "admin": ALL, "member": ALL, "blocked": ALL, "joined later": [THREE],
    "cleared": [THREE], "returned": [ONE, THREE], "former": [ONE, TWO], "invited": [], "declined": None,
    "outsider": None, "friend": None, "requested": None,
}
LIMITS = {"friendRequestsPerHour": 10_000, "conversationsPerHour": 10_000}


def statuses(base: int, **others: int) -> dict[str, int]:
    """What each role gets: `base`, if nothing else is said; 404 who was never in it.

    Who has cleared it gets what who joined later does: both are members, and clearing moves the beginning of what they
    see behind TWO, for ever. Neither friendship with the owner nor a request of theirs is a membership.
    """
    named = {name.replace("_", " "): status for name, status in others.items()}
    unseen = dict.fromkeys(("outsider", "friend", "requested", "declined"), 404)
    found = {role: (unseen | named).get(role, base) for role in SEES}
    return found | {"cleared": found["joined later"]}


@dataclass
class Harness:
    server: Server
    here: str
    people: dict[str, User | None]
    # The method and the path of each operation.
    routes: dict[str, tuple[str, str]] = field(default_factory=dict)
    # The last call of the conversation.
    call: str = ""

    def filled(self, values: dict[str, Any]) -> dict[str, Any]:
        def fill(value: Any) -> Any:
            if isinstance(value, list):
                return [fill(one) for one in value]
            if not isinstance(value, str) or not value.startswith("{"):
                return value
            if value == "{new}":
                return client_id()
            who = self.people[value.strip("{}")]
            assert who is not None
            return who.id

        return {"conversation": self.here} | {name: fill(value) for name, value in values.items()}

    def ask(self, role: str, operation: str, values: dict[str, Any]) -> httpx.Response:
        """Over REST."""
        who = self.people[role]
        return self.request(who.headers if who else {}, operation, values)

    def request(self, headers: dict[str, str], operation: str, values: dict[str, Any]) -> httpx.Response:
        method, path = self.routes[operation]
        values = self.filled(values)
        for name in list(values):
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", str(values.pop(name)))
        in_query = method in ("GET", "DELETE")
        return HTTP.request(
            method, self.server.url + path, headers=headers,
            params=values if in_query else None, json=None if in_query else values,
        )


def sign_out(server: Server, people: dict[str, User | None]) -> None:
    """Takes their access from all who are to have none."""
    expired, revoked = people["expired"], people["revoked"]
    assert expired is not None and revoked is not None
    # It is refused for its time alone: with a later one it is good.
    assert expiring(expired, 600).get("/v1/me").status_code == 200
    people["expired"] = expired = expiring(expired, -600)
    assert "has expired" in refused(expired.get("/v1/me"), 401, "unauthenticated")["detail"]
    assert revoked.request("DELETE", "/v1/sessions/current").status_code == 204
    server.command("account", "disable", "--email", "disabled@example.org")
    server.command("account", "delete", "deleted@example.org", "--yes")


def group_of_roles(server: Server, roles: Collection[str] = ROLES.keys()) -> Harness:
    """The group and everybody's relation to it, of `roles`: all, or all but those that are signed out."""
    people: dict[str, User | None] = {role: server.user() for role in roles if role not in SIGNED_OUT}
    if set(roles) >= SIGNED_OUT:
        people |= {"anonymous": None, "expired": server.user(), "revoked": server.user()}
        people |= {role: signed_up(server, role) for role in ("disabled", "deleted")}
    named = {role: who for role, who in people.items() if who is not None}
    owner = named["owner"]
    unrelated = {"invited", "declined", "outsider", "requested"}
    for role, who in named.items():
        if role != "owner" and role not in unrelated:
            befriend(owner, who)
    early = [
        "admin", "member", "blocked", "cleared", "returned", "former", "expired", "revoked", "disabled", "deleted",
    ]
    here = group(owner, [named[role] for role in early if role in named], name="Team")
    path = f"/v1/conversations/{here}"
    assert owner.request("PATCH", f"{path}/members/{named['admin'].id}", {"role": "admin"}).status_code == 200
    settings = {"settings": {"add": "admins", "rename": "admins"}}
    assert owner.request("PATCH", path, settings).status_code == 200
    assert send(owner, here, "one").status_code == 201
    # What was noted on a message before it was cleared is gone with it.
    assert named["cleared"].request("PUT", f"{path}/messages/{ONE}/star").status_code == 200
    assert named["returned"].request("DELETE", f"{path}/members/me").status_code == 204
    assert send(named["member"], here, "two").status_code == 201
    assert owner.request("DELETE", f"{path}/messages/{TWO}?for=all").status_code == 200
    assert named["cleared"].post(f"{path}/clear").status_code == 204
    assert named["former"].request("DELETE", f"{path}/members/me").status_code == 204
    later = [named[role].id for role in ("joined later", "returned", "invited", "declined")]
    assert owner.post(f"{path}/members", {"members": later}).status_code == 200
    assert named["declined"].post(f"{path}/members/me/decline").status_code == 204
    assert send(owner, here, "three").status_code == 201
    assert named["blocked"].request("PUT", f"/v1/blocks/{owner.id}").status_code in (200, 204)
    asked = create(owner, "direct", [named["requested"]]).json()["conversation"]["id"]
    assert send(owner, asked, "may I?").status_code == 201
    if people.keys() >= SIGNED_OUT:
        sign_out(server, people)
    harness = Harness(server, here, people)
    document = HTTP.get(f"{server.url}/openapi.json").json()
    for address, methods in document["paths"].items():
        for method, operation in methods.items():
            if method in ("get", "post", "put", "patch", "delete"):
                harness.routes[operation["operationId"]] = (method.upper(), address)
    return harness

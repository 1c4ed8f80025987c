"""Features that the operator has disabled, over REST and WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from switchboard_tests import server_keys
from switchboard_tests.conversations import befriend, create, direct, group, members_of, send, texts
from switchboard_tests.endpoint import Endpoint, RequestError, client_id
from switchboard_tests.server import HTTP, Server, User, change, tool

FEATURES = ["friends", "userSearch", "messageSearch", "groups", "inviteLinks"]


def features(server: Server) -> dict[str, bool]:
    return HTTP.get(f"{server.url}/v1/server").json()["features"]


def requests(one: User, other: User, here: str) -> list[tuple[str, str, str, str, dict[str, Any]]]:
    """Each request of a feature: the feature, its realtime name, method, path and members."""
    return [
        ("friends", "friends.request", "POST", "/v1/friends", {"clientID": client_id(), "user": other.id}),
        ("friends", "friends.accept", "POST", "/v1/friends/{user}/accept", {"user": other.id}),
        ("userSearch", "users.search", "GET", "/v1/users", {"query": "word"}),
        ("messageSearch", "messages.search", "GET", "/v1/search", {"query": "word"}),
        ("groups", "conversations.create", "POST", "/v1/conversations", {"clientID": client_id(), "kind": "group"}),
        ("inviteLinks", "me.makeLink", "POST", "/v1/me/link", {}),
        ("inviteLinks", "links.create", "POST", "/v1/conversations/{conversation}/links", {"conversation": here}),
        ("inviteLinks", "links.get", "GET", "/v1/links/{token}", {"token": "x" * 43}),
        ("inviteLinks", "links.join", "POST", "/v1/links/{token}", {"token": "x" * 43}),
    ]


def over_http(user: User, method: str, path: str, members: dict[str, Any]) -> dict[str, Any]:
    """The response to a request whose members are in the path, the query or the body."""
    rest = {name: value for name, value in members.items() if "{" + name + "}" not in path}
    full = path.format(**members)
    response = user.get(full, params=rest) if method == "GET" else user.request(method, full, rest)
    return response.json()


def over_realtime(user: User, name: str, members: dict[str, Any]) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        endpoint = Endpoint(user.server.realtime_url, user.id, user.token)
        await endpoint.open()
        try:
            return await endpoint.ask(name, **members)
        except RequestError as error:
            return error.problem
        finally:
            await endpoint.close()

    return asyncio.run(run())


@pytest.fixture(scope="module")
def reloaded(make_server) -> Callable[[str | None], Server]:
    """One server, with one feature disabled by a reload, or none."""
    server = make_server({"limits": {"searchesPerMinute": 10_000, "friendRequestsPerHour": 1000}})

    def reload(disabled: str | None) -> Server:
        change(server, "features", to={name: name != disabled for name in FEATURES})
        assert tool(server, "reload").returncode == 0
        return server

    return reload


@pytest.mark.parametrize("disabled", [None, *FEATURES])
def test_requests_of_a_disabled_feature_are_refused_and_others_are_not(reloaded, disabled: str | None):
    server = reloaded(None)
    one, other = server.users(2)
    here = group(one)
    reloaded(disabled)
    assert features(server) == {name: name != disabled for name in FEATURES}
    for feature, name, method, path, members in requests(one, other, here):
        for answer in over_http(one, method, path, members), over_realtime(one, name, members):
            if feature == disabled:
                assert (answer["type"], answer["status"], answer["feature"]) == ("feature_disabled", 403, feature)
            else:
                assert answer.get("type") != "feature_disabled", (name, answer)


def test_a_bad_body_is_still_named(reloaded):
    server = reloaded("groups")
    refused = server.user().post("/v1/conversations", {"clientID": client_id(), "kind": "crowd"})
    assert refused.status_code == 400 and refused.json()["field"] == "kind"


def test_what_exists_stays(make_server):
    server = make_server()
    one, other, third = server.users(3)
    befriend(one, other)
    assert third.post("/v1/friends", {"clientID": client_id(), "user": one.id}).status_code == 201
    here = group(one, [other], name="Team")
    link = one.post(f"/v1/conversations/{here}/links", {}).json()
    assert one.post("/v1/me/link").status_code == 201
    server.stop()
    change(server, "features", to=dict.fromkeys(FEATURES, False))
    server.start()
    assert features(server) == dict.fromkeys(FEATURES, False)

    # Friends.
    known = one.get("/v1/friends").json()["friends"]
    assert {friend["user"]["id"]: friend["state"] for friend in known} == {other.id: "friend", third.id: "received"}
    assert one.post(f"/v1/friends/{third.id}/decline").status_code == 204
    assert one.request("DELETE", f"/v1/friends/{other.id}").status_code == 204
    # Groups, with new members, and conversations of two.
    assert one.post(f"/v1/conversations/{here}/members", {"members": [third.id]}).status_code == 200
    assert third.post(f"/v1/conversations/{here}/members/me/accept").status_code == 200
    assert send(one, here, "hello").status_code == 201
    assert texts(third, here) == ["hello"] and third.id in members_of(one, here)
    assert send(one, direct(one, third), "hello").status_code == 201
    assert create(one, "self").status_code == 201
    # A profile by its id.
    assert one.get(f"/v1/users/{third.id}").status_code == 200
    # Links can be listed and removed.
    assert [found["id"] for found in one.get(f"/v1/conversations/{here}/links").json()["links"]] == [link["link"]["id"]]
    assert server.user().post(f"/v1/links/{link['token']}").json()["type"] == "feature_disabled"

    # All of it works again.
    change(server, "features")
    assert "features.groups (false before, true now)" in tool(server, "reload").stdout
    late = server.user()
    assert late.post(f"/v1/links/{link['token']}").status_code == 201
    found = late.get(f"/v1/conversations/{here}/links").json()["links"]
    assert found == []
    assert one.request("DELETE", f"/v1/conversations/{here}/links/{link['link']['id']}").status_code == 204
    assert one.request("DELETE", "/v1/me/link").status_code == 204


def test_server_keys_are_not_bound(make_server):
    server = make_server({"features": dict.fromkeys(FEATURES, False)})
    key = server_keys.create(server, "conversations:write")
    body = {"clientID": client_id(), "kind": "group", "members": [server.user().id], "name": "Support"}
    assert key.post("/v1/server/conversations", body).status_code == 201


def test_messages_that_were_sent_meanwhile_are_found_later(make_server):
    server = make_server({"features": {"messageSearch": False}})
    one = server.user()
    notes = create(one, "self").json()["conversation"]["id"]
    assert send(one, notes, "lighthouse").status_code == 201
    assert one.get("/v1/search", params={"query": "lighthouse"}).json()["type"] == "feature_disabled"
    change(server, "features", "messageSearch", to=True)
    assert tool(server, "reload").returncode == 0
    page = one.get("/v1/search", params={"query": "lighthouse"}).json()
    assert [result["message"]["text"] for result in page["results"]] == ["lighthouse"]

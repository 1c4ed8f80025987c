"""Server keys: what an app's own back end does with them, how they are refused, and the audit log."""

from __future__ import annotations

import base64
import concurrent.futures
import contextlib
import json
import re
import sqlite3
import uuid

import httpx
import pytest
from switchboard_tests import server_keys
from switchboard_tests.endpoint import client_id
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import HTTP, User, refused, tool
from switchboard_tests.server_keys import SCOPES, ServerKey, audit, create, listed
from switchboard_tests.waiting import TIMEOUT, wait_until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

FORMAT = re.compile(r"sbk_[0-9A-Za-z]{16}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}")


@pytest.fixture(scope="module")
def key(server) -> ServerKey:
    return create(server)


def problem(response: httpx.Response, status: int, words: str) -> None:
    document = response.json()
    assert response.status_code == status and words in document["detail"], document


def claims(token: str) -> dict:
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


# Users and their tokens.


def test_a_user_is_put_by_the_apps_own_id(key):
    path = "/v1/server/users/ext:shop|42"
    made = key.request("PUT", path, {"displayName": "Ada", "languages": ["en", "pt-br"]})
    assert made.status_code == 201, made.text
    user = made.json()["user"]
    assert (user["ext"], user["displayName"], user["languages"]) == ("shop|42", "Ada", ["en", "pt-BR"])
    again = key.request("PUT", path, {"displayName": "Ada L.", "callWaiting": True})
    assert again.status_code == 200 and again.json()["user"]["id"] == user["id"], again.text
    for name in (user["id"], "ext:shop|42", "ext:shop%7C42"):
        found = key.get(f"/v1/server/users/{name}").json()["user"]
        assert (found["id"], found["displayName"], found["callWaiting"]) == (user["id"], "Ada L.", True), name
    refused(key.get("/v1/server/users/ext:nobody"), 404, "not_found", "user")
    refused(key.get("/v1/server/users/42"), 400, "invalid_request", "user")
    refused(key.request("PUT", f"/v1/server/users/{user['id']}", {"displayName": "X"}), 400, "invalid_request", "user")
    refused(key.request("PUT", path, {"displayName": ""}), 400, "invalid_request", "displayName")
    refused(key.request("PUT", path, {}), 400, "invalid_request", "displayName")


def test_an_identity_of_an_issuer_belongs_to_one_user(key):
    body = {"displayName": "Ada", "identities": [{"issuer": "https://issuer.example", "subject": uuid.uuid4().hex}]}
    assert key.request("PUT", "/v1/server/users/ext:first", body).status_code == 201
    assert key.request("PUT", "/v1/server/users/ext:first", body).status_code == 200
    refused(key.request("PUT", "/v1/server/users/ext:second", body), 409, "conflict", "identities[0]")
    refused(key.get("/v1/server/users/ext:second"), 404, "not_found", "user")


def test_an_identity_for_a_user_who_is_there_is_like_a_token(server, key):
    def body() -> dict:
        identity = {"issuer": "https://issuer.example", "subject": uuid.uuid4().hex}
        return {"displayName": "Ada", "identities": [identity]}

    without = create(server, "users")
    known = body()
    assert without.request("PUT", "/v1/server/users/ext:own", known).status_code == 201
    assert without.request("PUT", "/v1/server/users/ext:own", known).status_code == 200
    refused(without.request("PUT", "/v1/server/users/ext:own", body()), 403, "forbidden", "identities[0]")
    assert key.request("PUT", "/v1/server/users/ext:own", body()).status_code == 200


def test_users_are_listed_in_pages(key):
    wanted = {key.put_user(f"page-{number}")["id"] for number in range(5)}
    seen: list[str] = []
    cursor = ""
    while True:
        page = key.get(f"/v1/server/users?limit=2{cursor}").json()
        seen += [user["id"] for user in page["users"]]
        assert len(page["users"]) <= 2
        if "nextCursor" not in page:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert wanted <= set(seen) and len(seen) == len(set(seen))


def test_a_token_opens_one_session_for_each_device(server, key):
    user, device = key.put_user("tokens"), str(uuid.uuid4())
    first = key.token("ext:tokens", device)
    assert first["user"] == user["id"] and first["expiresIn"] == 900 and "refreshToken" not in first
    assert claims(first["accessToken"])["act"] == {"sub": f"key:{key.id}"}
    signed_in = User(server, user["id"], first["accessToken"])
    assert signed_in.get("/v1/me").json()["id"] == user["id"]

    second = key.token(user["id"], device, refresh=True)
    assert second["session"] == first["session"]
    assert key.token(user["id"])["session"] != first["session"], "another device"
    pair = HTTP.post(f"{server.url}/v1/sessions/refresh", json={"refreshToken": second["refreshToken"]})
    assert pair.status_code == 200 and claims(pair.json()["accessToken"])["act"] == {"sub": f"key:{key.id}"}
    third = key.token(user["id"], device, refresh=True)
    stale = HTTP.post(f"{server.url}/v1/sessions/refresh", json={"refreshToken": pair.json()["refreshToken"]})
    assert stale.status_code == 401, "a new refresh token replaces the old one"
    renewed = HTTP.post(f"{server.url}/v1/sessions/refresh", json={"refreshToken": third["refreshToken"]})
    assert renewed.status_code == 200
    assert len(signed_in.get("/v1/sessions").json()["sessions"]) == 2
    body = {"device": {"name": "Phone", "platform": "test"}}
    refused(key.post(f"/v1/server/users/{user['id']}/tokens", body), 400, "invalid_request", "device.id")


def test_signing_out_and_disabling_end_what_is_open(server, key):
    user = key.user("leaving")
    with connect(server.realtime_url) as socket:
        socket.send(json.dumps({
            "id": 1, "hello": {"token": user.token, "endpoint": user.endpoint, "secret": user.secret},
        }))
        assert "result" in json.loads(socket.recv(timeout=TIMEOUT))
        assert key.post("/v1/server/users/ext:leaving/sign-out").json() == {"ended": 1}
        frames = []
        with contextlib.suppress(ConnectionClosed):
            for text in socket:
                frames.append(json.loads(text))
    assert any("bye" in frame for frame in frames), frames
    assert user.get("/v1/me").status_code == 401
    back = key.user("leaving")
    assert back.get("/v1/me").status_code == 200
    assert key.post("/v1/server/users/ext:leaving/disable").json()["user"]["disabled"] is True
    assert back.get("/v1/me").status_code in (401, 403)
    device = {"id": str(uuid.uuid4()), "name": "Phone", "platform": "test"}
    problem(key.post("/v1/server/users/ext:leaving/tokens", {"device": device}), 403, "disabled")
    assert key.post("/v1/server/users/ext:leaving/enable").json()["user"]["disabled"] is False
    assert key.user("leaving").get("/v1/me").status_code == 200


# Calls.


def body_of_call(caller: str, *callees: str, **options: object) -> dict:
    return {"clientID": client_id(), "caller": caller, "callees": list(callees), "kind": "audio", **options}


def states(call: dict) -> dict[str, str]:
    return {one["user"]: one["state"] for one in call["participants"]}


def test_a_call_rings_everybody_and_ends(server, key):
    ann, ben = key.user("ann"), key.user("ben")
    body = body_of_call("ext:ann", ben.id)
    made = key.post("/v1/server/calls", body)
    assert made.status_code == 201, made.text
    call = made.json()["call"]
    assert call["mode"] == "gateway" and call["caller"] == ann.id and call["status"] == "ringing"
    assert states(call) == {ann.id: "invited", ben.id: "invited"}
    again = key.post("/v1/server/calls", body)
    assert again.status_code == 200 and again.json()["duplicate"] and again.json()["call"]["id"] == call["id"]
    refused(key.post("/v1/server/calls", body_of_call("ext:ann", "ext:ben")), 409, "conflict", "callees[0]")
    for user, status in ((ben, "ringing"), (ann, "active")):
        accepted = user.post(f"/v1/calls/{call['id']}/accept")
        assert accepted.status_code == 200 and accepted.json()["call"]["status"] == status, accepted.text
    assert key.get(f"/v1/server/calls/{call['id']}").json()["call"]["status"] == "active"
    assert call["id"] in [one["id"] for one in key.get("/v1/server/calls?user=ext:ben").json()["calls"]]
    assert key.get("/v1/server/calls?limit=1").json()["calls"][0]["id"] == call["id"]
    assert key.get(f"/v1/server/calls/{call['id']}/recordings").json() == {"recordings": []}
    ended = key.post(f"/v1/server/calls/{call['id']}/end").json()["call"]
    assert (ended["status"], ended["endReason"]) == ("ended", "hung_up")
    assert key.post(f"/v1/server/calls/{call['id']}/end").status_code == 200, "ending it again changes nothing"
    assert ben.get(f"/v1/calls/{call['id']}").json()["call"]["status"] == "ended"


def test_calls_are_checked_by_name(key):
    key.put_user("one")
    key.put_user("two")
    unknown = str(uuid.uuid4())
    refused(key.post("/v1/server/calls", body_of_call("ext:nobody", "ext:one")), 404, "not_found", "caller")
    refused(key.post("/v1/server/calls", body_of_call("ext:one", "ext:two", unknown)), 404, "not_found", "callees[1]")
    refused(key.post("/v1/server/calls", body_of_call("ext:one", "two")), 400, "invalid_request", "callees[0]")
    refused(key.post("/v1/server/calls", body_of_call("ext:one")), 400, "invalid_request", "callees")
    long = body_of_call("ext:one", "ext:two", ringSeconds=1000)
    refused(key.post("/v1/server/calls", long), 400, "invalid_request", "ringSeconds")
    for path in ("", "/recordings"):
        assert key.get(f"/v1/server/calls/{unknown}{path}").status_code == 404
    assert key.post(f"/v1/server/calls/{unknown}/end").status_code == 404


def test_blocks_hold(key):
    cleo, dan = key.user("cleo"), key.user("dan")
    assert dan.request("PUT", f"/v1/blocks/{cleo.id}").status_code == 204
    made = key.post("/v1/server/calls", body_of_call(cleo.id, dan.id)).json()["call"]
    assert cleo.get(f"/v1/calls/{made['id']}").status_code == 200
    assert dan.get(f"/v1/calls/{made['id']}").status_code == 404
    assert dan.post(f"/v1/calls/{made['id']}/accept").status_code == 404
    key.post(f"/v1/server/calls/{made['id']}/end")
    refused(key.post("/v1/server/calls", body_of_call(dan.id, cleo.id)), 409, "conflict", "callees[0]")


# Scopes, and everything else that refuses a key.

OPERATIONS = {
    "users": [("GET", ""), ("PUT", "ext:scopes"), ("GET", "ext:scopes"), ("POST", "ext:scopes/enable"),
              ("POST", "ext:scopes/disable"), ("POST", "ext:scopes/sign-out"), ("DELETE", "ext:nobody")],
    "tokens": [("POST", "ext:scopes/tokens")],
    "calls:read": [("GET", "calls"), ("GET", f"calls/{uuid.uuid4()}")],
    "calls:write": [("POST", "calls"), ("POST", f"calls/{uuid.uuid4()}/end")],
    "conversations:read": [("GET", f"conversations/{uuid.uuid4()}{rest}") for rest in ("", "/members", "/messages")],
    "conversations:write": [("POST", "conversations"), ("POST", f"conversations/{uuid.uuid4()}/members"),
                            ("PATCH", f"conversations/{uuid.uuid4()}"),
                            ("POST", f"conversations/{uuid.uuid4()}/messages"),
                            ("DELETE", f"conversations/{uuid.uuid4()}/members/ext:nobody")],
    "recordings": [("GET", f"calls/{uuid.uuid4()}/recordings")],
    "events": [("GET", "events")],
}


def path_of(operation: str) -> str:
    is_whole = operation.startswith(("calls", "conversations", "events"))
    return "/v1/server/" + (operation if is_whole else f"users/{operation}".rstrip("/"))


@pytest.mark.parametrize("scope", SCOPES)
def test_a_key_does_what_its_scope_allows_and_nothing_else(server, scope):
    key = create(server, scope)
    for needed, operations in OPERATIONS.items():
        for method, operation in operations:
            response = key.request(method, path_of(operation), {} if method != "GET" else None)
            if scope == needed:
                assert response.status_code not in (401, 403), (method, operation, response.text)
            else:
                document = refused(response, 403, "forbidden", "Authorization")
                assert f"lacks the scope {needed}" in document["detail"]


def test_the_document_has_every_route_of_keys(server):
    document = HTTP.get(server.url + "/openapi.json").json()
    assert document["components"]["securitySchemes"]["serverKey"]["scheme"] == "bearer"
    secured = {
        (method.upper(), path)
        for path, methods in document["paths"].items() for method, operation in methods.items()
        if operation["security"] == [{"serverKey": []}]
    }
    assert len(secured) == sum(len(operations) for operations in OPERATIONS.values())
    assert all(path.startswith("/v1/server/") for _, path in secured)


def test_every_refusal_says_what_is_wrong(server):
    path = "/v1/server/users"
    key = create(server, "users")
    typo = key.text[:-1] + ("0" if key.text[-1] != "0" else "1")
    other = create(server, "users")
    server.command("key", "revoke", other.id)
    elsewhere = create(server, "users", addresses=["203.0.113.0/24"])
    short = create(server, "users", expires="1s")
    wait_until(lambda: short.get(path).status_code == 401, "the key to expire")
    user = server.user()

    problem(HTTP.get(server.url + path), 401, "Send a server key")
    problem(user.get(path), 401, "Send a server key")
    problem(ServerKey(server, key.text + "x").get(path), 401, "71 characters")
    problem(ServerKey(server, key.text.upper()).get(path), 401, "Send a server key")
    problem(ServerKey(server, "sbk_" + "!" * 67).get(path), 401, "not a server key")
    problem(ServerKey(server, typo).get(path), 401, "checksum")
    problem(other.get(path), 401, "was revoked")
    problem(short.get(path), 401, "has expired")
    problem(elsewhere.get(path), 403, "may not be used from your address")
    problem(key.request("GET", path, headers={"Origin": "https://evil.example"}), 403, "browser")
    problem(key.request("GET", path, headers={"Origin": "null"}), 403, "browser")
    assert key.request("GET", path, headers={"Origin": server.url}).status_code == 200
    problem(key.get("/v1/me"), 401, "under /v1/server only")
    problem(key.post("/v1/calls", {}), 401, "under /v1/server only")
    with connect(server.realtime_url) as socket:
        socket.send(json.dumps({"id": 1, "hello": {"token": key.text}}))
        answer = json.loads(socket.recv(timeout=TIMEOUT))
        assert "result" not in answer and "under /v1/server only" in json.dumps(answer), answer
    with HTTP.stream("POST", server.url + "/v1/realtime/sse", json={"token": key.text}) as response:
        assert b"under /v1/server only" in response.read()

    reasons = {entry["outcome"] for entry in audit(server)}
    assert reasons >= {
        "no_key", "malformed_key", "revoked_key", "expired_key", "wrong_address", "foreign_origin", "misplaced_key",
    }
    named = {entry["outcome"]: entry["actor"] for entry in audit(server) if entry["actor"].startswith("key:")}
    assert named["wrong_address"] == f"key:{elsewhere.id}" and named["foreign_origin"] == f"key:{key.id}"


def test_an_unknown_key_is_refused_like_one_with_another_secret(server, make_server):
    elsewhere = make_server()
    foreign = create(elsewhere, "users")
    elsewhere.stop()
    problem(ServerKey(server, foreign.text).get("/v1/server/users"), 401, "unknown here")
    known = {entry["outcome"]: entry for entry in audit(server)}["unknown_key"]
    assert known["actor"] == "unknown" and known["address"] == "127.0.0.1"


def test_ten_thousand_wrong_keys_are_a_handful_of_rows(make_server):
    server = make_server({"limits": {"requestsPerMinute": 60}})
    key = create(server, "users", "tokens")
    before = len(audit(server))
    wrong = key.text[:30] + ("a" if key.text[30] != "a" else "b") + key.text[31:]

    def attempt(count: int) -> set[int]:
        with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {wrong}"}) as client:
            return {client.get("/v1/server/users").status_code for _ in range(count)}

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        statuses = set().union(*pool.map(attempt, [1250] * 8))
    assert statuses == {401, 429}, "the address has used up its requests"
    # The right key comes before the limit of the address.
    assert key.get("/v1/server/users").status_code == 200
    # The command counts too: it writes what was refused since the last minute.
    entries = audit(server)[before:]
    counted = [entry for entry in entries if entry["outcome"] == "malformed_key"]
    assert sum(entry["count"] for entry in counted) == 10_000
    assert len(entries) < 10, entries
    with sqlite3.connect(f"file:{server.data / 'switchboard.sqlite'}?mode=ro", uri=True) as database:
        assert database.execute("SELECT count(*) FROM audit").fetchone()[0] == before + len(entries)
    wait_until(lambda: "malformed_key" in server.log.read_text(), "the log leaves the machine")
    server.stop()


def test_a_key_has_a_rate_of_its_own(make_server):
    server = make_server({"limits": {"keyRequestsPerMinute": 5}})
    busy, other = create(server, "users"), create(server, "users")
    statuses = [busy.get("/v1/server/users").status_code for _ in range(8)]
    assert statuses[:5] == [200] * 5 and statuses[-1] == 429, statuses
    assert other.get("/v1/server/users").status_code == 200
    limited = [entry for entry in audit(server) if entry["outcome"] == "rate_limited"]
    assert [entry["actor"] for entry in limited] == [f"key:{busy.id}"]
    server.stop()


# The commands.


def test_keys_are_managed_beside_a_running_server(server):
    key = create(server, "users", "calls:read", expires="90d", addresses=["127.0.0.0/8"], name="Shop")
    assert FORMAT.fullmatch(key.text)
    assert key.get("/v1/server/users").status_code == 200
    row = listed(server)[key.id]
    assert row[1:5] == ["Shop", "active", "calls:read,users", "127.0.0.0/8"] and row[7] != "unused"
    new = ServerKey(server, server.command("key", "rotate", key.id).strip())
    assert new.id == key.id and new.text != key.text
    assert key.get("/v1/server/users").status_code == new.get("/v1/server/users").status_code == 200
    assert key.id in server.command("key", "revoke", key.id)
    assert key.get("/v1/server/users").status_code == new.get("/v1/server/users").status_code == 401
    assert listed(server)[key.id][2] == "revoked"
    actions = [entry["action"] for entry in audit(server) if entry.get("subject") == key.id]
    assert actions == ["key.create", "key.rotate", "key.revoke"]
    for arguments, words in (
        (("create", "--name", "x", "--scope", "everything"), "The scopes are users, tokens, calls:read"),
        (("create", "--name", "x", "--scope", "users", "--expires", "soon"), "A lifetime is a number"),
        (("create", "--name", "x", "--scope", "users", "--address", "10.0.0.0/33"), "is not a range of addresses"),
        (("create", "--name", "x", "--scope", "users", "--address", "2001:db8::1"), "at most 64 bits"),
        (("rotate", key.id), "was revoked"),
        (("revoke", "nobody"), "16 letters and digits"),
        (("revoke", "0" * 16), "There is no such key"),
    ):
        done = tool(server, "key", *arguments)
        assert done.returncode == 1 and words in done.stderr, (arguments, done)


def test_keys_are_made_without_a_server_and_survive_a_restart(make_server):
    server = make_server(started=False)
    server.directory.mkdir(parents=True, exist_ok=True)
    server.config.write_text(json.dumps(server.settings))
    server.command("migrate", "--new")
    key = create(server, "users")
    server.start()
    assert key.put_user("early")["ext"] == "early"
    server.kill()
    server.start()
    assert key.get("/v1/server/users/ext:early").status_code == 200
    server.stop()
    server.command("key", "revoke", key.id)
    server.start()
    assert key.get("/v1/server/users").status_code == 401
    server.stop()


def test_every_write_is_in_the_audit_log(make_server):
    server = make_server()
    key = create(server)
    user = key.user("audited")
    key.put_user("other")
    call = key.post("/v1/server/calls", body_of_call("ext:audited", "ext:other")).json()["call"]["id"]
    key.post(f"/v1/server/calls/{call}/end")
    for verb in ("sign-out", "disable", "enable"):
        assert key.post(f"/v1/server/users/ext:audited/{verb}").status_code == 200
    key.get("/v1/server/users")
    entries = [entry for entry in audit(server) if entry["actor"] == f"key:{key.id}"]
    assert [(entry["action"], entry["subject"]) for entry in entries if entry["subject"] in (user.id, call)] == [
        ("server.users.put", user.id), ("server.tokens.create", user.id), ("server.calls.create", call),
        ("server.calls.end", call), ("server.users.signOut", user.id), ("server.users.disable", user.id),
        ("server.users.enable", user.id),
    ]
    assert all(entry["outcome"] == "done" and entry["address"] == "127.0.0.1" for entry in entries)
    log = server.log.read_text()
    assert all(entry["action"] in log for entry in entries)
    assert len(server.command("audit").splitlines()) == len(audit(server))
    assert server.command("audit", "--since", "2099-01-01T00:00:00Z") == ""
    assert "--since is a time" in tool(server, "audit", "--since", "yesterday").stderr
    server.stop()


def test_an_entry_names_its_request(server):
    """The id that the response of a write or of a refusal had; a command has none."""
    key = create(server, "users")
    done = key.request("PUT", "/v1/server/users/ext:traced", {"displayName": "Ann"})
    refused = key.get("/v1/server/calls")
    assert (done.status_code, refused.status_code) == (201, 403)
    with RawSocket(server.port) as client:
        client.send({"id": 1, "hello": {"token": key.text}})
        misplaced = client.response(1)["error"]["request"]
    entries = {entry.get("request"): entry for entry in audit(server)}
    assert entries[misplaced]["action"] == "hello"
    assert entries[done.headers["Switchboard-Request"]]["action"] == "server.users.put"
    assert entries[refused.headers["Switchboard-Request"]]["action"] == "server.calls.list"
    assert not any("request" in entry for entry in entries.values() if entry["action"] == "key.create")
    assert done.headers["Switchboard-Request"] in server.command("audit")


def test_no_secret_is_legible_anywhere(make_server, tmp_path):
    server = make_server({"log": {"level": "trace"}})
    key = create(server)
    tokens = key.token(key.put_user("secret")["id"], refresh=True)
    rotated = ServerKey(server, server.command("key", "rotate", key.id).strip())
    assert rotated.get("/v1/server/users").status_code == 200
    # Wrong in every way, so that refusals are logged.
    for path in ("/v1/me", "/v1/server/users"):
        rotated.request("GET", path, headers={"Origin": "https://evil.example"})
    ServerKey(server, rotated.text[:-1] + "!").get("/v1/server/users")
    server.command("backup", str(tmp_path / "backup"))
    printed = server.command("audit") + server.command("audit", "--json") + server.command("key", "list")
    server.stop()
    files = [path for root in (server.data, tmp_path / "backup") for path in root.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"switchboard.sqlite"}
    secrets = [key.text, rotated.text, key.text.split("_")[2], rotated.text.split("_")[2]]
    secrets += [tokens["accessToken"], tokens["refreshToken"], *tokens["refreshToken"].split(".")[2:]]
    for content in [printed.encode(), server.log.read_bytes(), *(path.read_bytes() for path in files)]:
        assert not [secret for secret in secrets if secret.encode() in content]
    # The search finds what is there.
    assert any(key.id.encode() in path.read_bytes() for path in files if path.name == "switchboard.sqlite")


def test_keys_are_revoked_by_a_restore(make_server, tmp_path):
    server, other = make_server(), make_server(started=False)
    key = create(server, "users")
    key.put_user("kept")
    server.command("backup", str(tmp_path / "backup"))
    server.stop()
    other.directory.mkdir(parents=True, exist_ok=True)
    other.config.write_text(json.dumps(other.settings))
    other.command("restore", str(tmp_path / "backup"))
    other.start()
    problem(ServerKey(other, key.text).get("/v1/server/users"), 401, "was revoked")
    assert listed(other)[key.id][2] == "revoked"
    assert server_keys.create(other, "users").get("/v1/server/users/ext:kept").status_code == 200
    other.stop()

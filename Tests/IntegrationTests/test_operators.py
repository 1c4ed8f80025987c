"""The operator's port: who is let in, what operators do, and that it says nothing secret."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import sqlite3
import ssl
import subprocess
import uuid

import httpx
import jsonschema_rs
import pytest
from switchboard_tests import server_keys
from switchboard_tests.endpoint import client_id
from switchboard_tests.operators import Operator, sign_in
from switchboard_tests.server import BINARY, HTTP, Server, refused
from switchboard_tests.server_keys import SCOPES, audit, create
from switchboard_tests.waiting import TIMEOUT, wait_until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

READS = [
    "/admin/v1/sessions/current", "/admin/v1/server", "/admin/v1/settings", "/admin/v1/audit", "/admin/v1/users",
    "/admin/v1/users/{user}", "/admin/v1/calls", "/admin/v1/keys", "/admin/v1/reports",
    "/admin/v1/webhooks",
    "/admin/v1/webhooks/{webhook}/deliveries", "/admin/v1/push", "/admin/figures",
]
WRITES = [
    ("DELETE", "/admin/v1/sessions/current"), ("PUT", "/admin/v1/drain"), ("POST", "/admin/v1/users/{user}/disable"),
    ("POST", "/admin/v1/users/{user}/enable"), ("POST", "/admin/v1/users/{user}/sign-out"),
    ("DELETE", "/admin/v1/users/{user}"), ("DELETE", "/admin/v1/users/{user}/devices/{device}/push/{kind}"),
    ("POST", "/admin/v1/push/{service}/check"),
    ("POST", "/admin/v1/reports/{report}/resolve"),
    ("POST", "/admin/v1/calls/{call}/end"), ("POST", "/admin/v1/keys"), ("POST", "/admin/v1/keys/{key}/rotate"),
    ("POST", "/admin/v1/keys/{key}/revoke"), ("POST", "/admin/v1/webhooks"), ("DELETE", "/admin/v1/webhooks/{webhook}"),
    *(("POST", f"/admin/v1/webhooks/{{webhook}}/{verb}") for verb in ("rotate", "enable", "test", "replay")),
]
EVERYTHING = [("GET", path) for path in READS] + WRITES


def filled(path: str) -> str:
    names = {name: uuid.uuid4() for name in ("user", "report", "call", "webhook", "device")}
    return path.format(**names, key="0123456789abcdef", kind="web", service="fcm")


@pytest.fixture(scope="module")
def operator(server) -> Operator:
    return Operator(server)


def signed_up(server: Server, name: str) -> dict:
    """A user with a password, signed in."""
    body = {
        "email": f"{uuid.uuid4().hex}@example.org", "password": "a long password", "displayName": name,
        "device": {"name": "Phone", "platform": "test"},
    }
    response = HTTP.post(server.url + "/v1/accounts", json=body)
    assert response.status_code == 201, response.text
    return response.json() | {"email": body["email"]}


# Signing in.


def test_every_request_needs_a_session(server, operator):
    for method, path in EVERYTHING:
        for headers in ({}, {"Authorization": "Bearer sbo_wrong"}, {"Authorization": f"Bearer {operator.key.text}"}):
            response = HTTP.request(method, server.admin_url + filled(path), headers=headers)
            assert response.status_code == 401, (method, path, headers, response.text)
    user = server.user()
    for method, path in EVERYTHING:
        response = HTTP.request(method, server.admin_url + filled(path), headers=user.headers)
        assert response.status_code == 401, (method, path)


def test_only_a_key_with_the_scope_signs_in(make_server):
    server = make_server()
    operator = Operator(server)
    others = [scope for scope in SCOPES if scope != "operator"]
    refused(sign_in(server, create(server, *others).text), 403, "forbidden", "Authorization")
    refused(sign_in(server, operator.key.text[:-1] + "!"), 401, "unauthenticated", "Authorization")
    refused(sign_in(server, "abc"), 401, "unauthenticated", "Authorization")
    refused(HTTP.post(server.admin_url + "/admin/v1/sessions"), 401, "unauthenticated", "Authorization")
    elsewhere = create(server, "operator", addresses=["192.0.2.0/24"])
    refused(sign_in(server, elsewhere.text), 403, "forbidden")
    # The operator's key is for this port alone, and the token for nothing else.
    refused(operator.key.get("/v1/server/users"), 403, "forbidden", "Authorization")
    bearer = {"Authorization": f"Bearer {operator.token}"}
    assert HTTP.get(server.url + "/v1/me", headers=bearer).status_code == 401
    assert HTTP.get(server.url + "/v1/server/users", headers=bearer).status_code == 401
    assert HTTP.get(server.url + "/admin/v1/server", headers=bearer).status_code == 404


def test_a_session_ends_with_its_key(server):
    brief = create(server, "operator", expires="3s")
    one = Operator(server, brief)
    assert one.get("/admin/v1/server").status_code == 200
    wait_until(lambda: one.get("/admin/v1/server").status_code == 401, "the key to expire")
    refused(sign_in(server, brief.text), 401, "unauthenticated", "Authorization")

    other = Operator(server)
    server.command("key", "revoke", other.key.id)
    refused(other.get("/admin/v1/server"), 401, "unauthenticated", "Authorization")
    refused(sign_in(server, other.key.text), 401, "unauthenticated", "Authorization")


def test_signing_out_ends_this_session_alone(server, operator):
    one, other = Operator(server, operator.key), Operator(server, operator.key)
    assert one.get("/admin/v1/sessions/current").json()["key"]["name"] == "Olga Operator"
    assert one.request("DELETE", "/admin/v1/sessions/current").status_code == 204
    assert one.request("DELETE", "/admin/v1/sessions/current").status_code == 401
    assert other.get("/admin/v1/sessions/current").status_code == 200


def test_sessions_of_a_key_are_bounded(server):
    key = create(server, "operator")
    sessions = [Operator(server, key) for _ in range(20)]
    open_ones = [one.get("/admin/v1/server").status_code == 200 for one in sessions]
    assert open_ones == [False] * 4 + [True] * 16, "the oldest are closed"


def test_no_session_outlives_the_process(make_server):
    server = make_server()
    operator = Operator(server)
    server.restart()
    assert operator.get("/admin/v1/server").status_code == 401
    operator.renew()
    assert operator.get("/admin/v1/server").status_code == 200


def test_ten_wrong_keys_a_minute(make_server):
    server = make_server()
    operator = Operator(server)
    wrong = operator.key.text.replace(operator.key.id, "0" * 16)
    statuses = [sign_in(server, wrong).status_code for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2, statuses
    limited = sign_in(server, operator.key.text)
    refused(limited, 429, "rate_limited")
    assert 1 <= int(limited.headers["Retry-After"]) <= 60
    assert operator.get("/admin/v1/server").status_code == 200, "who is signed in stays"
    with httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.2")) as elsewhere:
        headers = {"Authorization": f"Bearer {operator.key.text}"}
        assert elsewhere.post(server.admin_url + "/admin/v1/sessions", headers=headers).status_code == 201
    wait_until(
        lambda: {
            entry["outcome"]: entry["count"] for entry in audit(server) if entry["action"] == "admin.sessions.create"
        }.items() >= {"malformed_key": 10, "rate_limited": 3}.items(),
        "a row for each kind of refusal",
    )


def test_right_keys_do_not_fill_the_limit(server):
    key = create(server, "operator")
    assert {sign_in(server, key.text).status_code for _ in range(30)} == {201}


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1:{port}", True), ("localhost:{port}", True), ("LocalHost", True), ("[::1]:{port}", True),
        ("127.8.8.8", True), ("ops.example.com", True), ("OPS.example.com.:444", True),
        ("evil.example", False), ("evil.example:{port}", False), ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False), ("192.0.2.1", False), ("", False), ("0.0.0.0:{port}", False),
        ("x@127.0.0.1", False),
    ],
)
def test_the_host_must_be_known(hosted, host, known):
    server, operator = hosted
    headers = {"Host": host.format(port=server.admin_port), "Authorization": f"Bearer {operator.token}"}
    for path in ("/admin", "/admin/admin.js", "/admin/v1/server", "/admin/figures", "//admin/v1/server"):
        response = HTTP.get(server.admin_url + path, headers=headers)
        if known:
            assert response.status_code in (200, 404), (path, response.text)
        else:
            problem = refused(response, 403, "forbidden", "Host")
            assert "admin.hosts" in problem["detail"]
    signed = HTTP.post(
        server.admin_url + "/admin/v1/sessions", headers=headers | {"Authorization": f"Bearer {operator.key.text}"}
    )
    assert signed.status_code == (201 if known else 403)
    for path in ("/metrics", "/livez", "/readyz"):
        assert HTTP.get(server.admin_url + path, headers=headers).status_code == 200


@pytest.fixture(scope="module")
def hosted(make_server):
    server = make_server({"admin": {"hosts": ["ops.example.com"]}})
    yield server, Operator(server)
    server.stop()


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
def test_pages_of_other_origins_are_refused(server, operator, origin):
    headers = {"Origin": origin}
    refused(sign_in(server, operator.key.text, **headers), 403, "forbidden", "Origin")
    for path in ("/admin/v1/server", "/admin/figures"):
        refused(operator.request("GET", path, headers=headers), 403, "forbidden", "Origin")
    refused(operator.request("PUT", "/admin/v1/drain", {"on": True}, headers), 403, "forbidden", "Origin")
    own = {"Origin": server.admin_url}
    assert operator.request("GET", "/admin/v1/server", headers=own).status_code == 200


def start(settings: dict, tmp_path) -> subprocess.CompletedProcess[str]:
    server = Server(tmp_path, settings)
    server.config.write_text(json.dumps(server.settings))
    return subprocess.run(
        [str(BINARY), "serve", "--config", str(server.config)], capture_output=True, text=True, timeout=30,
        cwd=tmp_path,
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "ops.example.com"])
def test_off_loopback_only_tls(tmp_path, host):
    ended = start({"admin": {"host": host}}, tmp_path)
    assert ended.returncode != 0
    for word in ("admin.host", "admin.certificate", "admin.privateKey", "127.0.0.1"):
        assert word in ended.stderr, ended.stderr


def test_a_name_in_hosts_has_no_port(tmp_path):
    ended = start({"admin": {"hosts": ["ops.example.com:444"]}}, tmp_path)
    assert ended.returncode != 0 and "admin.hosts" in ended.stderr


def test_https_off_loopback(make_server, certificate):
    server = make_server(
        {"admin": {"host": "0.0.0.0", "hosts": ["ops.example.com"], **certificate}}, started=False
    )
    server.start()
    key = create(server, "operator")
    trusted = ssl.create_default_context(cafile=certificate["certificate"])
    with httpx.Client(verify=trusted, base_url=f"https://127.0.0.1:{server.admin_port}") as client:
        headers = {"Authorization": f"Bearer {key.text}"}
        assert client.post("/admin/v1/sessions", headers=headers).status_code == 201
        # A wildcard is nobody's name.
        assert client.get("/admin", headers={"Host": "0.0.0.0"}).status_code == 403
        assert client.get("/metrics").status_code == 200
    with pytest.raises(httpx.TransportError):
        HTTP.get(server.admin_url + "/admin")
    server.stop()


# What operators do.


def test_users_are_found(server, operator):
    mark = uuid.uuid4().hex[:8]
    user = signed_up(server, f"Zoë{mark} Zander")
    key = create(server, "users")
    ext = key.put_user(f"shop-{mark}", f"Yann{mark} Young")
    find = lambda query: [one["id"] for one in operator.read(f"/admin/v1/users?query={query}")["users"]]
    id = user["user"]["id"]
    assert find(f"zoe{mark}") == find(f"ZAN Zoë{mark}") == find(user["email"]) == find(id) == [id]
    assert find(user["email"].upper()) == [id]
    assert find(f"ext:shop-{mark}") == find(f"yann{mark}") == [ext["id"]]
    assert find("nobody-at-all") == find("nobody@example.org") == find(str(uuid.uuid4())) == find("ext:nobody") == []
    operator.post(f"/admin/v1/users/{id}/disable")
    assert find(f"zoe{mark}") == [id], "disabled users too"
    refused(operator.get("/admin/v1/users?query=%21%21"), 400, "invalid_request", "query")
    refused(operator.get("/admin/v1/users?query=" + "a" * 601), 400, "invalid_request", "query")
    refused(operator.get("/admin/v1/users?limit=0"), 400, "invalid_request", "limit")
    refused(operator.get("/admin/v1/users?cursor=x"), 400, "invalid_request", "cursor")


@pytest.mark.parametrize("query", ["", "query=pagination&"])
def test_users_come_in_pages(server, operator, query):
    key = create(server, "users")
    wanted = {key.put_user(f"pages-{number}", f"Pagination {number}")["id"] for number in range(5)}
    seen: list[str] = []
    cursor = ""
    while True:
        page = operator.read(f"/admin/v1/users?{query}limit=2{cursor}")
        seen += [one["id"] for one in page["users"]]
        if "nextCursor" not in page:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert wanted <= set(seen) and len(seen) == len(set(seen))


def test_a_user_is_shown_with_devices_and_sessions(server, operator):
    user = signed_up(server, "Dora Detail")
    shown = operator.read(f"/admin/v1/users/{user['user']['id']}")
    assert shown["user"]["displayName"] == "Dora Detail" and shown["user"]["disabled"] is False
    assert [one["name"] for one in shown["devices"]] == ["Phone"]
    assert [one["device"] for one in shown["sessions"]] == [shown["devices"][0]["id"]]
    key = create(server, "users", "tokens")
    key.user("detail")
    minted = operator.read("/admin/v1/users/ext:detail")["sessions"]
    assert [one["openedBy"] for one in minted] == [f"key:{key.id}"]
    refused(operator.get(f"/admin/v1/users/{uuid.uuid4()}"), 404, "not_found", "user")
    refused(operator.get("/admin/v1/users/42"), 400, "invalid_request", "user")


def test_users_are_disabled_enabled_and_signed_out_twice(server, operator):
    user = signed_up(server, "Ed Ended")
    path = f"/admin/v1/users/{user['user']['id']}"
    bearer = {"Authorization": f"Bearer {user['accessToken']}"}
    with connect(server.realtime_url) as socket:
        socket.send(json.dumps({"id": 1, "hello": {"token": user["accessToken"]}}))
        assert "result" in json.loads(socket.recv(timeout=TIMEOUT))
        assert operator.post(path + "/sign-out").json() == {"ended": 1}
        with contextlib.suppress(ConnectionClosed):
            assert any("bye" in json.loads(text) for text in socket)
    assert HTTP.get(server.url + "/v1/me", headers=bearer).status_code == 401
    assert operator.post(path + "/sign-out").json() == {"ended": 0}
    first, second = (operator.post(path + "/disable") for _ in range(2))
    assert first.status_code == second.status_code == 200 and first.json() == second.json()
    assert first.json()["user"]["disabled"] is True
    attempt = {"email": user["email"], "password": "a long password", "device": {"name": "Phone", "platform": "test"}}
    assert HTTP.post(server.url + "/v1/sessions", json=attempt).status_code == 403
    first, second = (operator.post(path + "/enable") for _ in range(2))
    assert first.json() == second.json() and first.json()["user"]["disabled"] is False
    assert HTTP.post(server.url + "/v1/sessions", json=attempt).status_code == 201
    for verb in ("disable", "enable", "sign-out"):
        refused(operator.post(f"/admin/v1/users/{uuid.uuid4()}/{verb}"), 404, "not_found", "user")


def test_a_user_is_deleted_twice(server, operator):
    user = signed_up(server, "Fay Forgotten")
    path = f"/admin/v1/users/{user['user']['id']}"
    bearer = {"Authorization": f"Bearer {user['accessToken']}"}
    assert [operator.request("DELETE", path).status_code for _ in range(2)] == [204, 204]
    assert HTTP.get(server.url + "/v1/me", headers=bearer).status_code == 401
    shown = operator.read(path)["user"]
    assert shown["deleted"] is True and shown["displayName"] == "Deleted user" and "email" not in shown
    refused(operator.post(path + "/enable"), 409, "conflict")
    refused(operator.request("DELETE", f"/admin/v1/users/{uuid.uuid4()}"), 404, "not_found", "user")


def test_calls_are_listed_and_ended_twice(server, operator):
    calls = []
    for _ in range(3):
        ann, ben = server.users(2)
        body = {"clientID": client_id(), "kind": "audio", "callees": [ben.id]}
        made = ann.post("/v1/calls", body)
        assert made.status_code == 201, made.text
        calls.append((ann, made.json()["call"]["id"]))
    ids = [id for _, id in reversed(calls)]
    live = lambda: [one["id"] for one in operator.read("/admin/v1/calls")["calls"]]
    assert live() == ids
    page = operator.read("/admin/v1/calls?limit=2")
    assert [one["id"] for one in page["calls"]] == ids[:2]
    rest = operator.read(f"/admin/v1/calls?limit=2&cursor={page['nextCursor']}")
    assert [one["id"] for one in rest["calls"]] == ids[2:] and "nextCursor" not in rest
    for ann, id in calls:
        ends = [operator.post(f"/admin/v1/calls/{id}/end") for _ in range(2)]
        assert [one.status_code for one in ends] == [200, 200]
        ended = [one.json()["call"] for one in ends]
        assert ended[0] == ended[1] and ended[0]["status"] == "ended" and ended[0]["endReason"] == "cancelled"
        assert ann.get(f"/v1/calls/{id}").json()["call"]["status"] == "ended"
    assert live() == []
    refused(operator.post(f"/admin/v1/calls/{uuid.uuid4()}/end"), 404, "not_found")
    refused(operator.post("/admin/v1/calls/1/end"), 400, "invalid_request", "call")


def test_draining_twice(make_server):
    server = make_server()
    operator = Operator(server)
    for on, status in ((True, 503), (True, 503), (False, 200), (False, 200)):
        response = operator.request("PUT", "/admin/v1/drain", {"on": on})
        assert response.status_code == 200, response.text
        state = response.json()
        assert (state["draining"], state["ready"], state.get("obstacle")) == (on, not on, "draining" if on else None)
        assert HTTP.get(server.url + "/readyz").status_code == status
    refused(operator.request("PUT", "/admin/v1/drain", {"on": 1}), 400, "invalid_request", "on")
    refused(operator.request("PUT", "/admin/v1/drain", {}), 400, "invalid_request", "on")
    state = operator.read("/admin/v1/server")
    assert state["roles"] == ["api", "relay", "gateway"] and state["version"] and state["uptime"] >= 0


def test_a_key_is_created_once(server, operator):
    body = {"clientID": str(uuid.uuid4()), "name": "Shop", "scopes": ["users"], "expires": "90d"}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: operator.post("/admin/v1/keys", body), range(4)))
    assert sorted(one.status_code for one in made) == [200, 200, 200, 201]
    assert len({one.json()["text"] for one in made}) == 1
    text = made[0].json()["text"]
    key = server_keys.ServerKey(server, text)
    assert key.get("/v1/server/users").status_code == 200
    listed = [one for one in operator.read("/admin/v1/keys")["keys"] if one["id"] == key.id]
    assert [(one["name"], one["state"], one["scopes"]) for one in listed] == [("Shop", "active", ["users"])]
    refused(operator.post("/admin/v1/keys", body | {"name": "Other"}), 409, "client_id_reused", "clientID")
    # Another operator's request is another one.
    theirs = Operator(server).post("/admin/v1/keys", body)
    assert theirs.status_code == 201 and theirs.json()["text"] != text
    for changes, field in (
        ({"name": ""}, "name"), ({"scopes": []}, "scope"), ({"scopes": ["all"]}, "scope"),
        ({"expires": "soon"}, "expires"), ({"addresses": ["x"]}, "address"), ({"clientID": "1"}, "clientID"),
    ):
        wrong = {"clientID": str(uuid.uuid4()), "name": "Shop", "scopes": ["users"]} | changes
        refused(operator.post("/admin/v1/keys", wrong), 400, "invalid_request", field)


def test_a_key_is_rotated_once_and_revoked_twice(server, operator):
    text = operator.create_key("users").json()["text"]
    old = server_keys.ServerKey(server, text)
    path = f"/admin/v1/keys/{old.id}"
    body = {"clientID": str(uuid.uuid4())}
    rotated = [operator.post(path + "/rotate", body) for _ in range(3)]
    assert [one.status_code for one in rotated] == [200, 200, 200]
    assert len({one.json()["text"] for one in rotated}) == 1 and rotated[0].json()["text"] != text
    assert rotated[0].json()["key"]["previousUntil"]
    new = server_keys.ServerKey(server, rotated[0].json()["text"])
    assert new.get("/v1/server/users").status_code == old.get("/v1/server/users").status_code == 200
    operator.post(path + "/rotate", {"clientID": str(uuid.uuid4())})
    assert (new.get("/v1/server/users").status_code, old.get("/v1/server/users").status_code) == (200, 401)
    refused(operator.post(path + "/rotate", body), 409, "client_id_reused", "clientID")
    first, second = (operator.post(path + "/revoke") for _ in range(2))
    assert first.json() == second.json() and first.json()["key"]["state"] == "revoked"
    assert new.get("/v1/server/users").status_code == 401
    refused(operator.post(path + "/rotate", {"clientID": str(uuid.uuid4())}), 409, "conflict", "id")
    refused(operator.post("/admin/v1/keys/0123456789abcdef/revoke"), 404, "not_found", "id")
    refused(operator.post("/admin/v1/keys/x/revoke"), 400, "invalid_request", "id")


def test_an_operator_revokes_their_own_key(server):
    one = Operator(server)
    assert one.post(f"/admin/v1/keys/{one.key.id}/revoke").status_code == 200
    assert one.get("/admin/v1/server").status_code == 401


def test_every_write_is_in_the_audit_log_with_the_operator(server):
    one = Operator(server)
    user = server.user()
    path = f"/admin/v1/users/{user.id}"
    for verb in ("disable", "enable", "sign-out"):
        one.post(f"{path}/{verb}")
    key = one.create_key("events").json()["key"]["id"]
    one.post(f"/admin/v1/keys/{key}/rotate", {"clientID": str(uuid.uuid4())})
    one.post(f"/admin/v1/keys/{key}/revoke")
    one.request("PUT", "/admin/v1/drain", {"on": False})
    one.request("DELETE", path)
    entries = one.read("/admin/v1/audit?limit=200")["entries"]
    own = [(entry["action"], entry.get("subject")) for entry in reversed(entries)
           if entry["actor"] == f"key:{one.key.id}" and entry["outcome"] == "done"]
    assert own == [
        ("admin.sessions.create", one.key.id), ("admin.users.disable", user.id), ("admin.users.enable", user.id),
        ("admin.users.signOut", user.id), ("admin.keys.create", key), ("admin.keys.rotate", key),
        ("admin.keys.revoke", key), ("admin.drain.stop", None),
        ("admin.users.delete", user.id),
    ]
    assert all(entry["request"] and entry["address"] == "127.0.0.1" for entry in entries
               if entry["actor"] == f"key:{one.key.id}")


def test_the_audit_log_is_browsed(server, operator):
    for _ in range(5):
        operator.post(f"/admin/v1/users/{server.user().id}/enable")
    whole = operator.read("/admin/v1/audit?limit=200")["entries"]
    seen: list[dict] = []
    cursor = ""
    while len(seen) < 8:
        page = operator.read(f"/admin/v1/audit?limit=3{cursor}")
        seen += page["entries"]
        cursor = f"&cursor={page['nextCursor']}"
    times = [one["at"] for one in seen]
    assert seen == whole[: len(seen)] and times == sorted(times, reverse=True)
    for cursor in ("x", "-1", "9" * 19, ""):
        refused(operator.get(f"/admin/v1/audit?cursor={cursor}"), 400, "invalid_request", "cursor")


def test_settings_are_shown_without_secrets(make_server):
    secrets = {"relay": {"users": {"alice": "wonderland-secret"}, "secrets": ["another secret of the relay"],
                         "oauthKeys": {"one": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0MTI="}},
               "transcription": {"provider": "openai", "url": "http://127.0.0.1:9", "apiKey": "sk-very-secret"}}
    server = make_server(secrets)
    operator = Operator(server)
    text = operator.get("/admin/v1/settings").text
    for secret in ("wonderland-secret", "another secret", "c2VjcmV0", "sk-very-secret"):
        assert secret not in text
    shown = {one["key"]: one for one in json.loads(text)["settings"]}
    assert len(shown) > 60
    assert shown["relay.users"]["value"] == "{alice: …}" and shown["relay.users"]["isSecret"]
    assert shown["relay.secrets"]["value"] == "1 set" and shown["transcription.apiKey"]["value"] == "set"
    port = shown["http.port"]
    assert (port["value"], port["defaultValue"], port["isDefault"]) == (str(server.port), "8080", False)
    assert "switchboard.yaml:" in port["source"]
    assert shown["http.forwardedHeader"]["isDefault"] and "source" not in shown["http.forwardedHeader"]
    server.settings["log"]["level"] = "debug"
    server.config.write_text(json.dumps(server.settings))
    server.command("reload")
    live = {one["key"]: one for one in operator.read("/admin/v1/settings")["settings"]}
    assert live["log.level"]["value"] == '"debug"', "as in force after a reload"
    server.stop()


def test_nothing_secret_is_stored_or_shown(make_server):
    server = make_server({"log": {"level": "trace"}})
    operator = Operator(server)
    made = operator.create_key("users", "operator")
    rotated = operator.post(f"/admin/v1/keys/{made.json()['key']['id']}/rotate", {"clientID": str(uuid.uuid4())})
    hook = {"clientID": str(uuid.uuid4()), "url": "https://nowhere.invalid/hook"}
    webhook = operator.post("/admin/v1/webhooks", hook).json()
    renewed = operator.post(
        f"/admin/v1/webhooks/{webhook['webhook']['id']}/rotate", {"clientID": str(uuid.uuid4())}).json()
    secrets = [operator.token, operator.key.text, made.json()["text"], rotated.json()["text"]]
    secrets += [webhook["secret"], renewed["secret"]]
    sign_in(server, secrets[2])
    for path in READS:
        text = operator.get(path.format(user=server.user().id, webhook=webhook["webhook"]["id"])).text
        for secret in secrets:
            assert secret not in text, path
    server.stop()
    log = server.log.read_text()
    with contextlib.closing(sqlite3.connect(server.data / "switchboard.sqlite")) as database:
        dump = "\n".join(database.iterdump())
    for secret in secrets:
        # What follows the prefix, and in a key its id too; it may have the character itself.
        hidden = 2 if secret.startswith("sbk_") else 1
        for kept in (secret, secret.split("_", hidden)[hidden]):
            assert kept not in log and kept not in dump


def test_a_relay_alone_has_no_calls(make_server):
    server = make_server(role="relay", started=False)
    server.url = server.admin_url
    server.start()
    operator = Operator(server)
    assert operator.read("/admin/v1/server")["roles"] == ["relay"]
    assert operator.get("/admin/v1/calls").status_code == 404
    assert operator.read("/admin/v1/users")["users"] == []
    server.stop()


# The document.


def test_responses_are_as_the_document_says(server, operator):
    document = HTTP.get(server.admin_url + "/admin/openapi.json").json()
    listed = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert listed == {(m, p) for m, p in EVERYTHING} | {("POST", "/admin/v1/sessions")}
    user = server.user()
    ann, ben = server.users(2)
    ann.post("/v1/calls", {"clientID": client_id(), "kind": "audio", "callees": [ben.id]})
    hook = {"clientID": str(uuid.uuid4()), "url": "https://nowhere.invalid/hook"}
    webhook = operator.post("/admin/v1/webhooks", hook).json()["webhook"]["id"]
    operator.post(f"/admin/v1/webhooks/{webhook}/test")
    for path in READS:
        body = operator.read(path.format(user=user.id, webhook=webhook))
        content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema_rs.Draft202012Validator(content | {"components": document["components"]}).validate(body)
    for method in ("PUT", "PATCH", "QUERY"):
        assert operator.request(method, "/admin/v1/users").status_code == 405

"""The scopes of relay credentials: they are valid for nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib

import pytest
from switchboard_tests import stun
from switchboard_tests.endpoint import Endpoint, RequestError, client_id
from switchboard_tests.operators import server_stats
from switchboard_tests.relay_clients import OPEN
from switchboard_tests.server import Server, change, tool
from switchboard_tests.waiting import eventually

ASK = stun.attribute(stun.TRANSPORT, bytes([17, 0, 0, 0]))


@pytest.fixture(scope="module")
def server(make_server) -> Server:
    return make_server({"relay": OPEN})


@pytest.fixture
def clients():
    made: list[stun.Client] = []

    def make(server: Server, credential: tuple[str, str]) -> stun.Client:
        made.append(stun.Client("127.0.0.1", server.relay_port, *credential))
        return made[-1]

    yield make
    for one in made:
        one.close()


def ice_servers(person, **query: str) -> dict:
    given = person.get("/v1/ice-servers", params=query)
    assert given.status_code == 200, given.text
    return given.json()


def credential(person, **query: str) -> tuple[str, str]:
    return next(
        (one["username"], one["credential"]) for one in ice_servers(person, **query)["iceServers"] if "username" in one
    )


def error_of(person, **query: str) -> tuple[int, str]:
    given = person.get("/v1/ice-servers", params=query)
    return given.status_code, given.json()["type"]


def call(caller, *callees, **more) -> str:
    offer = {} if more else {"offer": {"sdp": "v=0"}}
    body = {"clientID": client_id(), "callees": [one.id for one in callees], "kind": "audio", **offer, **more}
    created = caller.post("/v1/calls", body)
    assert created.status_code == 201, created.text
    return created.json()["call"]["id"]


def allocates(client: stun.Client) -> int:
    return client.request(stun.ALLOCATE, ASK)[0]


def test_participants_and_callees_get_credentials_for_a_call(server, clients):
    ann, ben, cleo = server.users(3)
    one = call(ann, ben)
    for person in (ann, ben):
        given = ice_servers(person, call=one)
        assert given["scope"] == "call" and given["lifetime"] == 600
    assert error_of(cleo, call=one) == (404, "not_found")
    assert error_of(ann, call=one, scope="test") == (400, "invalid_request")
    held = credential(ben, call=one)
    relayed = clients(server, credential(ben, call=one))
    relayed.allocate()
    assert ben.post(f"/v1/calls/{one}/decline").status_code == 200
    for person in (ann, ben):
        assert error_of(person, call=one) == (409, "call_ended")
    eventually(lambda: relayed.request(stun.REFRESH)[0] == 437)
    assert allocates(clients(server, held)) == 403


def test_allocations_of_a_user_end_when_the_user_leaves_the_call(make_server, clients):
    """A group call continues for the others, and a user who rejoins gets new credentials."""
    server = make_server({"relay": OPEN})
    ann, ben, cleo = server.users(3)
    one = call(ann, ben, cleo, mode="gateway")
    for person in (ben, cleo):
        accepted = person.post(f"/v1/calls/{one}/accept", {"clientID": client_id()})
        assert accepted.status_code == 200, accepted.text
    mine, theirs = clients(server, credential(ben, call=one)), clients(server, credential(cleo, call=one))
    held = credential(ben, call=one)
    for client in (mine, theirs):
        client.allocate()
    assert ben.post(f"/v1/calls/{one}/leave").status_code == 200
    assert error_of(ben, call=one) == (409, "conflict")
    eventually(lambda: mine.request(stun.REFRESH)[0] == 437)
    assert allocates(clients(server, held)) == 403
    assert theirs.request(stun.REFRESH)[0] == 0
    # At once, and in the same second.
    assert ben.post(f"/v1/calls/{one}/accept", {"clientID": client_id()}).status_code == 200
    clients(server, credential(ben, call=one)).allocate()
    assert theirs.request(stun.REFRESH)[0] == 0


def test_without_a_call_the_relay_can_be_tried(server, clients):
    ann = server.user()
    for query in ({}, {"scope": "test"}):
        given = ice_servers(ann, **query)
        assert given["scope"] == "test" and given["lifetime"] == 60
    *served, refused = (clients(server, credential(ann)) for _ in range(9))
    for client in served:
        error, attributes = client.request(
            stun.ALLOCATE, ASK + stun.attribute(stun.LIFETIME, (3600).to_bytes(4, "big"))
        )
        assert error == 0 and int.from_bytes(attributes[stun.LIFETIME], "big") <= 60
    assert allocates(refused) == 486
    # A test does not use up the quota of calls.
    one = call(ann, server.user())
    clients(server, credential(ann, call=one)).allocate()
    assert error_of(ann, scope="everything") == (400, "invalid_request")


def test_realtime_requests_name_a_scope_too(server):
    ann = server.user()

    async def main() -> None:
        end = Endpoint(server.realtime_url, ann.id, ann.token)
        await end.open()
        for params, scope in (({}, "test"), ({"scope": "gateway"}, "gateway"), ({"scope": "test"}, "test")):
            assert (await end.ask("iceServers.get", **params))["scope"] == scope
        with pytest.raises(RequestError) as refused:
            await end.ask("iceServers.get", scope="everything")
        assert refused.value.type == "invalid_request" and refused.value.problem["field"] == "scope"
        await end.close()

    asyncio.run(main())


def test_a_test_relays_64_kilobytes_a_second(server, clients, echo_port):
    ann = server.user()
    client = clients(server, credential(ann))
    client.allocate()
    assert client.bind(0x4000, "127.0.0.1", echo_port) == 0
    before = rejected(server, "user_bandwidth")
    for _ in range(400):
        client.send_channel(0x4000, bytes(1000))
    eventually(lambda: rejected(server, "user_bandwidth") > before + 200)


def test_voice_messages_reach_only_the_gateway(make_server, clients):
    server = make_server({"relay": OPEN})
    ports = datagram_ports(server) - {server.relay_port}
    assert ports
    ann, ben = server.users(2)
    given = ice_servers(ann, scope="gateway")
    assert given["scope"] == "gateway" and given["lifetime"] > 60
    client = clients(server, credential(ann, scope="gateway"))
    relayed = client.allocate()
    other = clients(server, credential(ben))
    assert client.permit("127.0.0.1", server.port) == 403
    assert client.permit(*other.allocate()) == 403
    assert client.permit(*relayed) == 403
    assert client.permit("8.8.8.8", 3480) == 403
    for port in ports:
        assert client.permit("127.0.0.1", port) == 0


def test_apps_with_signalling_of_their_own(make_server, clients):
    """The operator can set that, also with a reload."""
    server = make_server({"relay": {**OPEN, "credentials": "open"}})
    ann = server.user()
    assert ice_servers(ann)["scope"] == "open" and ice_servers(ann)["lifetime"] == 600
    assert ice_servers(ann, scope="test")["scope"] == "test"
    made = [clients(server, credential(ann)) for _ in range(5)]
    for client in made:
        client.allocate()
    change(server, "relay", "credentials", to="scoped")
    assert "relay.credentials" in tool(server, "reload").stdout
    assert ice_servers(ann)["scope"] == "test"
    assert all(client.request(stun.REFRESH)[0] == 0 for client in made)


def test_a_user_has_so_many_bytes_for_all_allocations(make_server, clients, echo_port):
    server = make_server({"relay": {**OPEN, "limits": {"userBytesPerSecond": 100_000}}})
    ann = server.user()
    one = call(ann, server.user())
    made = [clients(server, credential(ann, call=one)) for _ in range(4)]
    for client in made:
        client.allocate()
        assert client.bind(0x4000, "127.0.0.1", echo_port) == 0
    for _ in range(100):
        for client in made:
            client.send_channel(0x4000, bytes(1000))
    # 400 kB are sent, of which at most 200 kB pass at once; received bytes count too.
    eventually(lambda: rejected(server, "user_bandwidth") > 200)
    static = stun.Client("127.0.0.1", server.relay_port, "alice", "wonderland")
    static.allocate()
    assert static.bind(0x4000, "127.0.0.1", echo_port) == 0
    before = rejected(server, "user_bandwidth")
    for _ in range(400):
        static.send_channel(0x4000, bytes(1000))
    assert static.request(stun.REFRESH)[0] == 0
    assert rejected(server, "user_bandwidth") == before
    static.close()


def test_a_relay_that_shares_only_the_secret_enforces_the_scope(server, make_server, clients):
    """A process without the API: the user name has the credential's scope."""
    other = make_server({"relay": OPEN}, started=False, role="relay")
    # It only serves the admin port.
    other.url = other.admin_url
    other.start()
    ann = server.user()
    *served, refused = (clients(other, credential(ann)) for _ in range(9))
    for client in served:
        error, attributes = client.request(
            stun.ALLOCATE, ASK + stun.attribute(stun.LIFETIME, (3600).to_bytes(4, "big"))
        )
        assert error == 0 and int.from_bytes(attributes[stun.LIFETIME], "big") <= 60
    assert allocates(refused) == 486
    confined = clients(other, credential(ann, scope="gateway"))
    confined.allocate()
    assert confined.permit("127.0.0.1", 9) == 403
    # A user name that differs from the signed one is invalid.
    name, password = credential(ann)
    client = clients(other, (name.replace("test@", "open@"), password))
    assert allocates(client) == 401


def rejected(server: Server, reason: str) -> int:
    return server_stats(server)["reasons"][reason]


def datagram_ports(server: Server) -> set[int]:
    """The UDP ports that the server's process is bound to."""
    inodes = set()
    for descriptor in pathlib.Path(f"/proc/{server.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(os.readlink(descriptor))
    rows = [line.split() for line in pathlib.Path(f"/proc/{server.pid}/net/udp").read_text().splitlines()[1:]]
    return {int(row[1].split(":")[1], 16) for row in rows if f"socket:[{row[9]}]" in inodes}



"""A client that has nothing but `/asyncapi.json`, `/docs` and two general libraries resumes after its socket was cut.

Addresses, names, timeouts and what to do at a close code come from the documents, and the comments quote them; of the
tests' own modules only the network between client and server is used.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import uuid
from typing import Any

import httpx
import pytest
import websockets
from switchboard_tests.tcp_proxy import Proxy
from websockets.asyncio.client import ClientConnection

TIMEOUT = 60


class Client:
    """A user's client, as the guide "Listen and resume" describes it."""

    def __init__(self, address: str, name: str) -> None:
        self.address = address
        http = httpx.Client(base_url=f"http://{address}", timeout=TIMEOUT)
        self.document = http.get("/asyncapi.json").json()
        self.codes = {entry["code"]: entry for entry in self.document["x-closeCodes"]}
        self.limits = {entry["name"]: entry["value"] for entry in self.document["x-limits"]}
        # "An endpoint is one client: an id and a secret of its own making."
        self.endpoint = {"endpoint": str(uuid.uuid4()), "secret": secrets.token_urlsafe(24)}
        account = {"email": f"{uuid.uuid4()}@example.org", "password": "correct horse battery", "displayName": name}
        signed_in = http.post("/v1/accounts", json=account).raise_for_status().json()
        self.id, self.token = signed_in["user"]["id"], signed_in["accessToken"]
        self.http = http
        http.headers["Authorization"] = f"Bearer {self.token}"
        self.positions: dict[str, list[Any]] = {}
        self.applied: list[tuple[str, int, str, Any]] = []
        self.snapshots: list[str] = []
        self.resets: list[str] = []
        self.resumed: list[dict[str, str]] = []
        self.byes: list[int] = []
        self.last_id = 0
        self.waiting: dict[int, asyncio.Future[Any]] = {}
        self.socket: ClientConnection | None = None
        self.news = asyncio.Condition()

    async def run(self) -> None:
        """Keeps a session, until a close code says that the client must not reconnect."""
        while True:
            bye = None
            try:
                bye = await self.session()
            except (OSError, TimeoutError, websockets.ConnectionClosed, websockets.InvalidHandshake) as error:
                received = getattr(error, "rcvd", None)
                bye = {"code": received.code} if received else None
            self.socket = None
            for future in self.waiting.values():
                future.cancel()
            self.waiting.clear()
            delay = 200
            if bye is not None:
                self.byes.append(bye["code"])
                if "retryAfter" not in self.codes[bye["code"]]:
                    return
                # "Milliseconds to wait before reconnecting."
                delay = bye.get("retryAfter", self.codes[bye["code"]]["retryAfter"]["minimum"])
            await asyncio.sleep(delay / 1000)

    async def session(self) -> dict[str, Any] | None:
        """From a hello to the end of the connection, or to the server's `bye`, "the last frame"."""
        host = self.document["servers"]["websocket"]["host"].format(host=self.address)
        path = self.document["channels"]["realtime"]["address"]
        async with websockets.connect(f"ws://{host}{path}", compression=None, ping_interval=None) as socket:
            self.last_id += 1
            hello = {"token": self.token, **self.endpoint, "resume": self.positions}
            await socket.send(json.dumps({"id": self.last_id, "hello": hello}))
            silence = self.limits["silence"] / 1000
            while True:
                frame = json.loads(await asyncio.wait_for(socket.recv(), silence))
                if "bye" in frame:
                    return frame["bye"]
                if "heartbeat" in frame:
                    # "Respond with a heartbeat."
                    await socket.send('{"heartbeat":{}}')
                elif frame.get("id") == self.last_id and self.socket is None:
                    self.resumed.append(frame["result"]["resumed"])
                    self.socket = socket
                    user = f"user:{self.id}"
                    if user not in self.positions:
                        await socket.send(json.dumps({"id": self.last_id + 1, "listen": {"stream": user}}))
                        self.last_id += 1
                elif frame.get("id") in self.waiting:
                    self.waiting.pop(frame["id"]).set_result(frame)
                elif "stream" in frame:
                    self.apply(frame)
                async with self.news:
                    self.news.notify_all()

    def apply(self, frame: dict[str, Any]) -> None:
        """A log's frame. "Changes at or before your position may come a second time; ignore them." """
        stream = frame["stream"]
        if "reset" in frame:
            self.resets.append(frame["reset"]["reason"])
            self.positions.pop(stream, None)
        elif "snapshot" in frame:
            self.snapshots.append(stream)
            if "epoch" in frame:
                self.positions[stream] = [frame["epoch"], frame["seq"]]
        for change in frame.get("changes", []):
            position = self.positions[stream]
            if change["seq"] > position[1]:
                # "`seq` grows by one from change to change."
                assert change["seq"] == position[1] + 1, (position, change)
                position[1] = change["seq"]
                self.applied.append((stream, change["seq"], change["type"], change["data"]))

    async def until(self, what: str, condition: Any) -> Any:
        async def wait() -> Any:
            async with self.news:
                while not (value := condition()):
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self.news.wait(), 0.2)
                return value

        try:
            return await asyncio.wait_for(wait(), TIMEOUT)
        except TimeoutError:
            pytest.fail(f"waited for {what}; got {self.applied} {self.snapshots} {self.byes}")

    async def request(self, name: str, **parameters: Any) -> dict[str, Any]:
        """A request with a `clientID`, which is repeated on the next connection if its response was lost."""
        assert name in {request["name"] for request in self.document["x-requests"]}
        while True:
            socket = await self.until("a session", lambda: self.socket)
            self.last_id += 1
            future = self.waiting[self.last_id] = asyncio.get_running_loop().create_future()
            try:
                await socket.send(json.dumps({"id": self.last_id, "request": name, "params": parameters}))
                return await asyncio.wait_for(future, TIMEOUT)
            except (websockets.ConnectionClosed, asyncio.CancelledError):
                continue

    def rename(self, name: str) -> None:
        """Elsewhere: over REST, which needs no socket."""
        self.http.patch("/v1/me", json={"displayName": name}).raise_for_status()

    @property
    def names(self) -> list[str]:
        return [data["displayName"] for _, _, kind, data in self.applied if kind == "profile"]


def test_it_resumes_after_its_socket_was_cut(server):
    async def run() -> None:
        proxy = Proxy(server.port)
        client = Client(f"127.0.0.1:{server.port}", "Ann")
        caller = Client(f"127.0.0.1:{server.port}", "Ben")
        client.address = f"127.0.0.1:{proxy.port}"
        keeping = asyncio.create_task(client.run())
        user = f"user:{client.id}"
        await client.until("the snapshot", lambda: client.snapshots == [user])
        for number in range(3):
            client.rename(f"Before the cut {number}")
        await client.until("its changes", lambda: len(client.names) == 3)

        proxy.cut()
        await client.until("the loss of the socket", lambda: client.socket is None)
        for number in range(20):
            client.rename(f"During the cut {number}")
        # A call rings meanwhile: it has a stream of its own, which comes by itself.
        call = {"clientID": str(uuid.uuid4()), "callees": [client.id], "kind": "audio", "offer": {"sdp": "v=0"}}
        headers = {"Switchboard-Endpoint": " ".join(caller.endpoint.values())}
        made = caller.http.post("/v1/calls", json=call, headers=headers).raise_for_status().json()["call"]["id"]
        proxy.restore()
        await client.until("what was missed", lambda: len(client.names) == 23)
        assert client.names == [f"Before the cut {n}" for n in range(3)] + [f"During the cut {n}" for n in range(20)]
        assert client.resumed[-1] == {user: "ok"} and client.resets == [] and client.snapshots.count(user) == 1
        rung = [data for stream, _, kind, data in client.applied if kind == "call" and stream == user]
        assert [one["id"] for one in rung] == [made]

        # A write whose response was lost is repeated, and done once.
        accept = {"call": made, "clientID": str(uuid.uuid4())}
        first = await client.request("calls.accept", **accept)
        proxy.cut()
        await client.until("the loss of the socket", lambda: client.socket is None)
        proxy.restore()
        again = await client.request("calls.accept", **accept)
        assert first["result"]["call"]["id"] == again["result"]["call"]["id"] == made
        assert again["result"]["duplicate"] is True
        assert client.resets == [] and client.snapshots.count(user) == 1

        # Another session of its endpoint takes over, and the client stays away, as the close code says.
        newer = Client(f"127.0.0.1:{server.port}", "Ann")
        newer.id, newer.token, newer.endpoint = client.id, client.token, client.endpoint
        newer.positions = {stream: list(position) for stream, position in client.positions.items()}
        taking_over = asyncio.create_task(newer.run())
        await asyncio.wait_for(keeping, TIMEOUT)
        assert client.codes[client.byes[-1]]["reason"] == "replaced"
        # The old session's `bye` may be here before the new one's result.
        await newer.until("a session of its own", lambda: newer.resumed)
        assert newer.resumed[0][user] == "ok" and newer.snapshots == []
        taking_over.cancel()
        proxy.close()

    asyncio.run(run())


def test_it_comes_back_when_the_server_says_so(make_server):
    async def run(server: Any) -> None:
        client = Client(f"127.0.0.1:{server.port}", "Ann")
        keeping = asyncio.create_task(client.run())
        user = f"user:{client.id}"
        await client.until("the snapshot", lambda: client.snapshots == [user])
        await asyncio.to_thread(server.restart)
        await asyncio.to_thread(client.rename, "After the restart")
        await client.until("the change", lambda: client.names == ["After the restart"])
        assert client.codes[client.byes[0]]["reason"] == "shutting_down"
        assert client.resumed == [{}, {user: "ok"}] and client.resets == [] and client.snapshots == [user]
        keeping.cancel()

    server = make_server()
    asyncio.run(run(server))
    server.stop()

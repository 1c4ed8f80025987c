"""The attacks of a hostile client, by its kind: they run concurrently in one process, for so many seconds.

    hostile_clients.py KIND < target.json

Each is bounded in its connections and its rate, and attacks only the given ports of loopback. At the end it prints its
actions.
"""

from __future__ import annotations

import asyncio
import base64
import collections
import contextlib
import json
import os
import pathlib
import re
import resource
import struct
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "PythonSupport"))

import hostile_members

HOST = "127.0.0.1"


class Target:
    """The attacked server, and the end of the attack."""

    def __init__(self, description: dict):
        self.port, self.relay, self.media = (description[name] for name in ("port", "relay", "media"))
        self.people = description["people"]
        self.ends = time.monotonic() + description["seconds"]
        self.did: collections.Counter[str] = collections.Counter()
        self.background: set[asyncio.Task[None]] = set()
        self.url, self.realtime_url = f"http://{HOST}:{self.port}", f"ws://{HOST}:{self.port}/v1/realtime"

    def two_people(self) -> list[dict]:
        """Different users for each attack that makes a call, since a user in a call is busy."""
        return [self.people.pop(), self.people.pop()]

    @property
    def left(self) -> float:
        return self.ends - time.monotonic()

    async def paced(self, per_second: float, work, *arguments) -> None:
        """Repeats something at a rate until the end, even if the server closes the connection."""
        started, count = time.monotonic(), 0
        while self.left > 0:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, EOFError):
                await work(*arguments)
            count += 1
            await asyncio.sleep(max(0.0, started + count / per_second - time.monotonic()))

    async def connect(self, port: int | None = None):
        return await asyncio.wait_for(asyncio.open_connection(HOST, port or self.port), 5)

    async def ask(self, method: str, path: str, body: bytes = b"", token: str = "", headers: str = "") -> int:
        """A request over a connection of its own; returns the status."""
        reader, writer = await self.connect()
        try:
            authorization = f"Authorization: Bearer {token}\r\n" if token else ""
            writer.write(
                f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n{authorization}{headers}\r\n".encode() + body)
            line = await asyncio.wait_for(reader.readline(), 10)
            status = int(line.split()[1]) if line else 0
            await asyncio.wait_for(reader.read(1 << 20), 10)
            return status
        finally:
            writer.close()

    async def web_socket(self):
        reader, writer = await self.connect()
        writer.write(
            (f"GET /v1/realtime HTTP/1.1\r\nHost: {HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode())
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
        return reader, writer


def frame(payload: bytes, opcode: int = 1) -> bytes:
    """A masked frame (RFC 6455 section 5.2) with a zero mask."""
    if len(payload) < 126:
        head = struct.pack(">BB", 0x80 | opcode, 0x80 | len(payload))
    else:
        head = struct.pack(">BBH", 0x80 | opcode, 0xFE, len(payload))
    return head + bytes(4) + payload


async def fill(target: Target, writer, data: bytes, name: str, most: int) -> None:
    """Writes as long as the server reads, without reading."""
    for _ in range(most):
        if target.left <= 0:
            return
        writer.write(data)
        await asyncio.wait_for(writer.drain(), max(0.1, target.left))
        target.did[name] += 1


# Unauthenticated.


async def unread_pings(target: Target) -> None:
    """Pings before the hello, whose pongs are not read."""
    burst = frame(bytes(125), 9) * 64

    async def one() -> None:
        reader, writer = await target.web_socket()
        reader._transport.pause_reading()
        try:
            await fill(target, writer, burst, "bursts of 64 pings", 20_000)
        finally:
            writer.transport.abort()

    await asyncio.gather(*(target.paced(2, one) for _ in range(4)))


async def kept_connections(target: Target) -> None:
    """Connections that are kept open after a request, at most 2,000."""
    kept: list = []

    async def one() -> None:
        if len(kept) >= 2_000:
            await asyncio.sleep(0.5)
            return
        reader, writer = await target.connect()
        kept.append(writer)
        writer.write(f"GET /livez HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        await asyncio.wait_for(reader.readline(), 5)
        target.did["connections kept"] += 1

    await asyncio.gather(*(target.paced(50, one) for _ in range(4)))
    for writer in kept:
        writer.close()


async def unread_answers(target: Target) -> None:
    """Two hundred pipelined requests for a large document, without reading the responses."""
    requests = f"GET /openapi.json HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode() * 200

    async def one() -> None:
        reader, writer = await target.connect()
        reader._transport.pause_reading()
        writer.write(requests)
        target.did["pipelines of 200 that are not read"] += 1
        await asyncio.sleep(min(20, max(0, target.left)))
        writer.transport.abort()

    await asyncio.gather(*(target.paced(1, one) for _ in range(20)))


async def forged_tokens(target: Target) -> None:
    """Tokens that look like the server's own, up to the signature."""
    keys = await asyncio.to_thread(lambda: __import__("httpx").get(target.url + "/.well-known/jwks.json").json())

    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    head = part(json.dumps({"alg": "ES256", "typ": "JWT", "kid": keys["keys"][0]["kid"]}).encode())

    async def one() -> None:
        claims = {"iss": "switchboard", "sub": str(uuid.uuid4()), "sid": str(uuid.uuid4()), "exp": 1 << 33}
        token = f"{head}.{part(json.dumps(claims).encode())}.{part(os.urandom(64))}"
        target.did[f"forged tokens answered {await target.ask('GET', '/v1/me', token=token)}"] += 1

    await asyncio.gather(*(target.paced(50, one) for _ in range(4)))


async def guessed_passwords(target: Target) -> None:
    async def one() -> None:
        body = json.dumps({"email": f"{uuid.uuid4()}@example.org", "password": "a guess, of course"}).encode()
        target.did[f"guessed passwords answered {await target.ask('POST', '/v1/sessions', body)}"] += 1

    await asyncio.gather(*(target.paced(10, one) for _ in range(4)))


async def silent_streams(target: Target) -> None:
    """Silent connections to the media port and the relay's, at most 1,000 each; and others that are opened and
    closed."""
    for_long: list = []

    async def one(port: int, name: str) -> None:
        _, writer = await target.connect(port)
        target.did[f"silent connections to {name}"] += 1
        if len(for_long) < 2_000:
            for_long.append(writer)
        else:
            writer.close()

    await asyncio.gather(
        *(target.paced(100, one, target.media, "the gateway") for _ in range(2)),
        *(target.paced(100, one, target.relay, "the relay") for _ in range(2)))
    for writer in for_long:
        writer.close()


async def bindings(target: Target) -> None:
    """STUN Bindings to the relay, and checks with unknown credentials to the gateway."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=(HOST, target.relay))
    other, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=(HOST, target.media))

    async def burst() -> None:
        for _ in range(20):
            transport.sendto(bytes.fromhex("000100002112a442") + os.urandom(12))
            user = b"nobody:" + os.urandom(4).hex().encode()[:5]
            attributes = struct.pack(">HH", 6, len(user)) + user + struct.pack(">HH", 8, 20) + os.urandom(20)
            other.sendto(struct.pack(">HHI", 1, len(attributes), 0x2112A442) + os.urandom(12) + attributes)
        target.did["bindings and checks"] += 40

    await target.paced(100, burst)


# Signed up.


async def made_up_endpoints(target: Target) -> None:
    """Each request names a new endpoint."""
    token = target.people[0]["token"]

    async def one() -> None:
        header = f"Switchboard-Endpoint: {uuid.uuid4()} {uuid.uuid4().hex}\r\n"
        target.did[f"made-up endpoints answered {await target.ask('GET', '/v1/me', token=token, headers=header)}"] += 1

    await asyncio.gather(*(target.paced(50, one) for _ in range(4)))


async def large_bodies(target: Target) -> None:
    """Half a megabyte of meaningless parameters, over REST and over the socket."""
    body = json.dumps({"callees": [], "kind": "audio", "more": ["x" * 50] * 9_000}).encode()

    async def one() -> None:
        status = await target.ask("POST", "/v1/calls", body, target.people[0]["token"])
        target.did[f"bodies of {len(body) >> 10} KiB answered {status}"] += 1

    await asyncio.gather(*(target.paced(5, one) for _ in range(4)))


async def slow_bodies(target: Target) -> None:
    """Uploads that send a byte now and then."""
    token = target.people[0]["token"]

    async def one() -> None:
        _reader, writer = await target.connect()
        path = f"/v1/voice-files?clientID={uuid.uuid4()}"
        writer.write(
            (f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: audio/ogg\r\nContent-Length: 1000000\r\n"
             f"Authorization: Bearer {token}\r\n\r\n").encode())
        target.did["slow bodies"] += 1
        try:
            while target.left > 0:
                writer.write(b"O")
                await writer.drain()
                await asyncio.sleep(2)
        finally:
            writer.close()

    await asyncio.gather(*(target.paced(1, one) for _ in range(100)))


async def unread_results(target: Target) -> None:
    """Sessions that send requests without reading responses."""
    hello = frame(json.dumps({"id": 1, "hello": {"token": target.people[0]["token"]}}).encode())
    asks = b"".join(frame(json.dumps({"id": 2, "request": "me.get"}).encode()) for _ in range(20))

    async def one() -> None:
        reader, writer = await target.web_socket()
        writer.write(hello)
        await asyncio.wait_for(reader.read(1), 5)
        reader._transport.pause_reading()
        try:
            while target.left > 0:
                await fill(target, writer, asks, "bursts of 20 requests that are not read", 1)
                await asyncio.sleep(0.2)
        finally:
            writer.transport.abort()

    await asyncio.gather(*(target.paced(1, one) for _ in range(8)))


async def searches(target: Target) -> None:
    async def one() -> None:
        query = os.urandom(1).hex()[0] + "a"
        target.did[
            "searches answered "
            f"{await target.ask('GET', f'/v1/users?query={query}&limit=100', token=target.people[0]['token'])}"
        ] += 1

    await asyncio.gather(*(target.paced(25, one) for _ in range(4)))


async def relay_credentials(target: Target) -> None:
    async def one() -> None:
        status = await target.ask("GET", "/v1/ice-servers", token=target.people[0]["token"])
        target.did[f"relay credentials answered {status}"] += 1

    await target.paced(50, one)


# In a call.


async def pair(target: Target):
    """The hostile client and an accomplice, as test endpoints."""
    from switchboard_tests.endpoint import Endpoint

    both = [Endpoint(target.realtime_url, one["id"], one["token"]) for one in target.two_people()]
    for one in both:
        await one.open()
        await one.listen(f"user:{one.user}")
    return both


async def superseded_offers(target: Target) -> None:
    """A direct call whose two ends keep sending offers of the maximum size."""
    from switchboard_tests.endpoint import RequestError, client_id

    ann, ben = await pair(target)
    made = await ann.ask("calls.create", clientID=client_id(), callees=[ben.user], kind="audio", mode="direct")
    call = made["call"]["id"]
    await ben.ask("calls.accept", call=call, clientID=client_id())
    for end in (ann, ben):
        await end.ask("calls.connected", call=call)
    payload = {"sdp": "v=0\r\n" + "a=" + "x" * 250_000}
    generation = 0

    async def one(sender) -> None:
        nonlocal generation
        try:
            await sender.ask(
                "calls.signals", call=call, clientID=client_id(), kind="offer", generation=generation, payload=payload)
            generation += 1
            target.did["offers that supersede another"] += 1
        except RequestError as refused:
            target.did[f"offers refused: {refused.type}"] += 1
            if refused.type == "conflict":
                generation = refused.problem.get("winner", {}).get("generation", generation + 1)
            await asyncio.sleep(0.2)

    await asyncio.gather(target.paced(20, one, ann), slow_mailboxes(target, call, ben))
    await ann.close()
    await ben.close()


async def slow_mailboxes(target: Target, call: str, owner) -> None:
    """Repeated requests for the mailbox, whose responses are not read."""
    listen = frame(json.dumps({"id": 3, "listen": {"stream": f"signals:{call}:{owner.id}"}}).encode())
    hello = frame(json.dumps({"id": 1, "hello": {"token": owner.token}}).encode())

    async def one() -> None:
        reader, writer = await target.web_socket()
        writer.write(hello)
        await asyncio.wait_for(reader.read(1), 5)
        reader._transport.pause_reading()
        try:
            while target.left > 0:
                await fill(target, writer, listen, "mailboxes asked for", 1)
                await asyncio.sleep(0.5)
        finally:
            writer.transport.abort()

    await asyncio.gather(*(target.paced(1, one) for _ in range(8)))


async def recordings_on_and_off(target: Target) -> None:
    from switchboard_tests.endpoint import RequestError, client_id

    ann, ben = await pair(target)
    made = await ann.ask("calls.create", clientID=client_id(), callees=[ben.user], kind="audio", mode="gateway")
    call = made["call"]["id"]
    await ben.ask("calls.accept", call=call, clientID=client_id())

    async def one() -> None:
        for name in ("calls.record", "calls.stopRecording", "calls.media"):
            try:
                more = {"held": bool(os.urandom(1)[0] & 1)} if name == "calls.media" else {}
                await ann.ask(name, call=call, **more)
                target.did[name] += 1
            except RequestError as refused:
                target.did[f"{name} refused: {refused.type}"] += 1

    await target.paced(20, one)
    await ann.close()
    await ben.close()


# Publishing.


async def reports(target: Target) -> None:
    """A publisher whose feedback announces 65,535 statuses in forty bytes, and whose NACKs ask for thousands."""
    import aioice.ice
    from switchboard_tests.gateway import Participant

    # If loopback is the only network, its address is used too.
    aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: [HOST]

    class Server:
        realtime_url = target.realtime_url

    class Person:
        def __init__(self, one: dict):
            self.id, self.token = one["id"], one["token"]

    ann, ben = (Participant(Server, Person(one)) for one in target.two_people())
    for one in (ann, ben):
        await one.open()
    call = await ann.call_group([ben], "video")
    await ben.accept(call)
    for one in (ann, ben):
        await one.join()
    connection = ann.connection
    while connection.connectionState != "connected" and target.left > 0:
        await asyncio.sleep(0.05)
    target.did["publishers connected"] += connection.connectionState == "connected"
    transport = connection.getSenders()[0].transport
    shown = [int(one) for one in re.findall(r"a=ssrc:(\d+)", connection.remoteDescription.sdp)] or [1]
    own = connection.getSenders()[0]._ssrc

    def packet(kind: int, format: int, media: int, rest: bytes) -> bytes:
        return struct.pack(">BBHII", 0x80 | format, kind, 2 + len(rest) // 4, own, media) + rest

    statuses = (
        struct.pack(">HHI", 0, 0xFFFF, 0)
        + b"".join(struct.pack(">H", 0x1FFF) for _ in range(8))
        + struct.pack(">HH", 7, 0)
    )
    feedback = packet(205, 15, shown[0], statuses + bytes(-len(statuses) % 4))
    lost = b"".join(struct.pack(">HH", number * 17 & 0xFFFF, 0xFFFF) for number in range(280))

    async def burst() -> None:
        for _ in range(10):
            await transport._send_rtp(feedback)
        for ssrc in shown:
            await transport._send_rtp(packet(205, 1, ssrc, lost))
        target.did["reports of 65,535 statuses"] += 10
        target.did["NACKs of 4,760 packets"] += len(shown)

    await target.paced(100, burst)
    for one in (ann, ben):
        await one.hang_up_media()
        await one.endpoint.close()


async def many_whips(target: Target) -> None:
    """Twenty simultaneous requests for sessions of which only one can remain."""
    import httpx
    from aiortc import RTCPeerConnection
    from switchboard_tests.endpoint import client_id

    ann, ben = await pair(target)
    made = await ann.ask("calls.create", clientID=client_id(), callees=[ben.user], kind="audio", mode="gateway")
    call = made["call"]["id"]
    await ben.ask("calls.accept", call=call, clientID=client_id())
    maker = RTCPeerConnection()
    maker.addTransceiver("audio", "sendonly")
    await maker.setLocalDescription(await maker.createOffer())
    sdp = maker.localDescription.sdp
    headers = {"Authorization": f"Bearer {ben.token}", "Content-Type": "application/sdp"}
    async with httpx.AsyncClient(timeout=10) as http:
        async def one() -> None:
            async def post() -> None:
                with contextlib.suppress(httpx.HTTPError):
                    response = await http.post(f"{target.url}/v1/calls/{call}/whip", content=sdp, headers=headers)
                    target.did[f"WHIP offers answered {response.status_code}"] += 1

            await asyncio.gather(*(post() for _ in range(20)))

        await target.paced(1, one)
    await maker.close()
    await ann.close()
    await ben.close()


KINDS = {
    "unauthenticated": [
        unread_pings, kept_connections, unread_answers, forged_tokens, guessed_passwords, silent_streams, bindings,
    ],
    "signed up": [made_up_endpoints, large_bodies, slow_bodies, unread_results, searches, relay_credentials],
    "in a call": [superseded_offers, recordings_on_and_off],
    "publishing": [reports, many_whips],
    "in conversations": hostile_members.ATTACKS,
}


async def run(kind: str, description: dict) -> None:
    target = Target(description)
    wanted = [
        attack
        for attack in KINDS[kind]
        if description["only"] is None or attack.__name__ in description["only"].split(",")
    ]

    async def attempt(attack) -> None:
        # An attack that ends early, such as by an error, is reported, and does not end the others.
        try:
            await asyncio.wait_for(attack(target), max(1, target.left) + 15)
        except TimeoutError:
            target.did[f"{attack.__name__} was cancelled at the end"] += 1
        except Exception as error:
            target.did[f"{attack.__name__} gave up: {type(error).__name__}: {error}"] += 1

    await asyncio.gather(*(attempt(attack) for attack in wanted))
    used = resource.getrusage(resource.RUSAGE_SELF)
    target.did["seconds of its own processor"] = round(used.ru_utime + used.ru_stime)
    print(json.dumps(dict(sorted(target.did.items()))), flush=True)
    # Open connections are closed with the process.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], json.load(sys.stdin)))

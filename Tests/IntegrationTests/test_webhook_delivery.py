"""Webhooks at real HTTP servers: signed as Standard Webhooks says, whatever others do, and across crashes."""

from __future__ import annotations

import base64
import os
import pathlib
import random
import subprocess
import threading
import time
import uuid

import httpx
import pytest
import yaml
from standardwebhooks.webhooks import WebhookVerificationError
from switchboard_tests.endpoint import client_id
from switchboard_tests.metrics import value
from switchboard_tests.ports import free_port
from switchboard_tests.seeds import seed
from switchboard_tests.server import BINARY, Server, tool
from switchboard_tests.server_keys import ServerKey, audit, create
from switchboard_tests.waiting import wait_until
from switchboard_tests.webhook_receivers import ALLOWED, Receiver, add, receiving

# How long a claim of a killed server lasts, and a margin.
LEASE_SECONDS = 60


@pytest.fixture(scope="module")
def hooked(make_server) -> Server:
    return make_server(ALLOWED)


@pytest.fixture(scope="module")
def key(hooked) -> ServerKey:
    return create(hooked)


def put(key: ServerKey) -> str:
    """Creates a user, which is an event; returns the user's id."""
    return key.put_user(uuid.uuid4().hex)["id"]


def users(receiver: Receiver) -> set[str]:
    return {one.data["user"] for one in receiver.of("user.created")}


def state(server: Server, webhook: str) -> list[str]:
    rows = [line.split("\t") for line in server.command("webhook", "list").splitlines()]
    return next(row for row in rows if row[0] == webhook)


def remove_all(server: Server) -> None:
    for line in server.command("webhook", "list").splitlines():
        server.command("webhook", "remove", line.split("\t")[0])


@pytest.fixture(autouse=True)
def _without_webhooks(hooked):
    yield
    remove_all(hooked)


def test_messages_verify_and_rotate(hooked, key):
    with receiving() as receiver:
        webhook, secret = add(hooked, receiver.url)
        user = put(key)
        wait_until(lambda: user in users(receiver), "the event arrives")
        message = receiver.of("user.created")[-1]
        message.verify(secret)
        assert message.headers["content-type"] == "application/json"
        assert message.headers["user-agent"].startswith("Switchboard")
        message.body = message.body.replace(b"user.created", b"user.deleted")
        with pytest.raises(WebhookVerificationError):
            message.verify(secret)

        rotated = hooked.command("webhook", "rotate", webhook).strip()
        assert rotated != secret
        user = put(key)
        wait_until(lambda: user in users(receiver), "the event arrives")
        message = receiver.of("user.created")[-1]
        message.verify(secret)
        message.verify(rotated)
        assert len(message.headers["webhook-signature"].split()) == 2

        hooked.command("webhook", "test", webhook)
        receiver.of("webhook.test")[-1].verify(rotated)


def test_a_call_rings_at_the_app(hooked, key):
    with receiving() as receiver:
        _, secret = add(hooked, receiver.url, "call.ringing", "call.ended")
        caller, callee = key.user("rings-a"), key.user("rings-b")
        body = {"clientID": client_id(), "callees": [callee.id], "kind": "audio"}
        call = caller.post("/v1/calls", body).json()["call"]["id"]
        wait_until(lambda: receiver.of("call.ringing"), "the ring arrives")
        ring = receiver.of("call.ringing")[0]
        ring.verify(secret)
        assert (ring.data["call"], ring.data["user"]) == (call, callee.id)
        assert 0 < ring.data["remainingMs"] <= 120_000
        caller.post(f"/v1/calls/{call}/cancel")
        wait_until(lambda: receiver.of("call.ended"), "the end arrives")
        assert not receiver.of("user.created")


def test_bad_addresses_hold_up_no_other(hooked, key):
    target = Receiver().start()

    def redirect(handler, received):
        handler.send_response(307)
        handler.send_header("Location", target.url)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    silent, flood = Receiver(), Receiver()
    silent.respond, flood.respond = silent.silence, flood.flood
    redirecting, failing, good = Receiver(redirect), Receiver(lambda handler, received: 500), Receiver()
    bad = [silent, flood, redirecting, failing]
    try:
        for receiver in [*bad, good]:
            receiver.start()
        ids = {receiver.port: add(hooked, receiver.url)[0] for receiver in [*bad, good]}
        # Nothing listens there.
        add(hooked, f"http://127.0.0.1:{free_port()}/")
        created = {put(key) for _ in range(100)}
        wait_until(lambda: created <= users(good), "the good one gets all")
        wait_until(lambda: len(silent.received) == 16, "16 wait for the silent one")
        wait_until(lambda: redirecting.received and failing.received and flood.received, "each gets some")
        assert not target.received, "a redirect was followed"
        # A status counts, whatever follows it; what failed is tried again with the same id.
        wait_until(lambda: created <= users(flood), "the flooding one gets all")
        wait_until(lambda: len(failing.ids) > len(set(failing.ids)), "a retry after 5 seconds")
        assert len(good.ids) == len(set(good.ids))
        text = tool(hooked, "check").stdout
        line = next(one for one in text.splitlines() if "Webhooks" in one)
        assert ids[failing.port] in line and "500" in line and ids[good.port] not in line, line
        assert value(hooked, "webhook_in_flight") >= 16
        assert value(hooked, "webhook_deliveries_total", outcome="retried") > 0
        # The receivers have them a moment before the server has their responses.
        wait_until(lambda: value(hooked, "webhook_deliveries_total", outcome="delivered") >= 200, "all are counted")
        assert value(hooked, "webhook_waiting") > 0
        assert value(hooked, "webhook_oldest_seconds") > 0
    finally:
        for receiver in [*bad, good, target]:
            receiver.stop()


def test_gone_disables(hooked, key):
    with receiving(lambda handler, received: 410) as receiver:
        webhook, _ = add(hooked, receiver.url, name="old app")
        put(key)
        wait_until(lambda: "disabled" in state(hooked, webhook)[3], "it is disabled")
        put(key)
        text = tool(hooked, "check").stdout
        assert f"The webhook old app ({webhook}) is disabled" in text and "webhook enable" in text, text
        wait_until(lambda: value(hooked, "webhook_disabled") == 1, "it is counted")
        assert len(receiver.received) == 1
        receiver.respond = lambda handler, received: 204
        hooked.command("webhook", "enable", webhook)
        user = put(key)
        wait_until(lambda: user in users(receiver), "it gets events again")


def test_a_secret_is_legible_nowhere(hooked, key, tmp_path):
    with receiving() as receiver:
        webhook, first = add(hooked, receiver.url)
        second = hooked.command("webhook", "rotate", webhook).strip()
        user = put(key)
        wait_until(lambda: user in users(receiver), "the event arrives")
        hooked.command("backup", str(tmp_path / "backup"))
        files = [hooked.log, *hooked.data.iterdir(), *(tmp_path / "backup").rglob("*")]
        texts = {path: path.read_bytes() for path in files if path.is_file() and path.name != "switchboard.lock"}
        texts[pathlib.Path("list")] = hooked.command("webhook", "list").encode()
        texts[pathlib.Path("audit")] = str(audit(hooked)).encode()
        for secret in (first, second):
            digits = secret.removeprefix("whsec_")
            for path, text in texts.items():
                assert digits.encode() not in text and base64.b64decode(digits) not in text, path
        assert os.stat(hooked.data / "webhooks-key").st_mode & 0o777 == 0o600
        assert not list((tmp_path / "backup").rglob("webhooks-key"))
        actions = {entry["action"] for entry in audit(hooked)}
        assert {"webhook.add", "webhook.rotate"} <= actions


# Crashes.


def test_nothing_is_lost_or_new_when_the_server_is_killed(make_server):
    """Killed while users are created and events are on their way: who keeps ids gets each event once."""
    server = make_server(ALLOWED)
    key = create(server)
    slow = threading.Event()
    rng = random.Random(seed())

    def respond(handler, received):
        # In mid-delivery: received, and not responded to yet.
        if slow.is_set():
            time.sleep(rng.uniform(0, 0.2))
        return 204

    with receiving(respond) as receiver:
        _, secret = add(server, receiver.url, "user.created")
        slow.set()
        created: set[str] = set()
        attempted: list[str] = []
        for _ in range(3):
            stopping = threading.Event()

            def work() -> None:
                while not stopping.is_set():
                    ext = uuid.uuid4().hex
                    attempted.append(ext)
                    try:
                        created.add(key.put_user(ext)["id"])
                    except (httpx.TransportError, AssertionError):
                        return

            threads = [threading.Thread(target=work) for _ in range(4)]
            before = len(created)
            for thread in threads:
                thread.start()
            wait_until(lambda: len(created) >= before + 30, "users are created")
            server.kill()
            stopping.set()
            for thread in threads:
                thread.join()
            server.start()
        slow.clear()
        wait_until(lambda: created <= users(receiver), "all arrive", seconds=LEASE_SECONDS)
        wait_until(lambda: value(server, "webhook_waiting") == 0, "nothing waits", seconds=LEASE_SECONDS)
        # One event for each user, and one payload for each id.
        payloads: dict[str, bytes] = {}
        for one in receiver.received:
            one.verify(secret)
            assert payloads.setdefault(one.id, one.body) == one.body
        named = [one.data["user"] for one in {one.id: one for one in receiver.received}.values()]
        assert len(named) == len(set(named))
        # A user whose request got no response may have been created.
        assert len(named) <= len(attempted)
    server.stop()


def test_a_delivery_that_was_claimed_by_a_killed_server_comes_again(make_server):
    server = make_server(ALLOWED)
    key = create(server)
    with receiving() as receiver:
        receiver.respond = receiver.silence
        add(server, receiver.url)
        user = put(key)
        wait_until(lambda: receiver.received, "it is in flight")
        server.kill()
        receiver.respond = lambda handler, received: 204
        server.start()
        wait_until(lambda: len(receiver.received) > 1, "it comes again at once", seconds=LEASE_SECONDS / 2)
        wait_until(lambda: value(server, "webhook_waiting") == 0, "it is settled")
        assert set(receiver.ids) == {receiver.ids[0]} and users(receiver) == {user}
    server.stop()


def test_stopping_does_not_wait_for_silent_addresses(make_server):
    server = make_server(ALLOWED)
    key = create(server)
    with receiving() as receiver:
        receiver.respond = receiver.silence
        add(server, receiver.url)
        put(key)
        wait_until(lambda: receiver.received, "it is in flight")
        assert server.stop() == 0
        receiver.respond = lambda handler, received: 204
        server.start()
        # It was released: it need not wait for the lease.
        wait_until(lambda: len(receiver.received) > 1, "it comes again")
        assert len(set(receiver.ids)) == 1
    server.stop()


def test_webhooks_are_off_after_a_restore(make_server, tmp_path):
    server = make_server(ALLOWED)
    key = create(server)
    with receiving() as receiver:
        webhook, old = add(server, receiver.url)
        put(key)
        wait_until(lambda: len(receiver.received) == 1, "it works")
        server.command("backup", str(tmp_path / "backup"))
        server.stop()
        server.data = server.directory / "restored"
        server.settings["storage"]["path"] = str(server.data)
        server.config.write_text(yaml.safe_dump(server.settings))
        text = server.command("restore", str(tmp_path / "backup"))
        assert "webhooks are off" in text, text
        server.start()
        assert "disabled" in state(server, webhook)[3]
        key = create(server)
        put(key)
        # The old secret cannot be read any more.
        server.command("webhook", "enable", webhook)
        wait_until(lambda: "rotate" in state(server, webhook)[3], "it is disabled again")
        new = server.command("webhook", "rotate", webhook).strip()
        server.command("webhook", "enable", webhook)
        user = put(key)
        wait_until(lambda: user in users(receiver), "it works again")
        receiver.of("user.created")[-1].verify(new)
        with pytest.raises(WebhookVerificationError):
            receiver.of("user.created")[-1].verify(old)
    server.stop()


# switchboard webhook listen.


class Listener:
    """A `switchboard webhook listen` process."""

    def __init__(self, server: Server, key: ServerKey, forward: str, cursor: pathlib.Path, *options: str) -> None:
        self.output = cursor.with_suffix(f".{uuid.uuid4().hex}")
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [str(BINARY), "webhook", "listen", "--forward", forward, "--server", server.url, "--key", key.text,
                 "--cursor", str(cursor), *options],
                stdout=output, stderr=output,
            )
        wait_until(lambda: "Secret: " in self.text, "the secret is printed")
        self.secret = self.text.split("Secret: ")[1].split()[0]

    @property
    def text(self) -> str:
        return self.output.read_text()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def test_events_are_pulled_to_a_laptop(make_server, tmp_path):
    server = make_server()
    key = create(server, "users", "events")
    add(server, None)
    receiver = Receiver().start()
    cursor = tmp_path / "cursor"
    listener = Listener(server, key, receiver.url, cursor)
    try:
        wait_until(cursor.exists, "it has a position")
        created = {put(key)}
        wait_until(lambda: created <= users(receiver), "the event arrives")
        receiver.of("user.created")[-1].verify(listener.secret)

        # The laptop's program is restarted meanwhile.
        receiver.stop()
        created.add(put(key))
        wait_until(lambda: "Trying again" in listener.text, "it cannot be posted")
        receiver.start()
        wait_until(lambda: created <= users(receiver), "it is posted again")

        # The server too, and then the listener.
        server.restart()
        created.add(put(key))
        wait_until(lambda: created <= users(receiver), "it goes on")
        wait_until(lambda: len(listener.text.splitlines()) >= 5, "it was printed")
        listener.kill()
        created.add(put(key))
        listener = Listener(server, key, receiver.url, cursor, "--secret", listener.secret)
        wait_until(lambda: created <= users(receiver), "it goes on from its position")
        receiver.of("user.created")[-1].verify(listener.secret)
        named = {one.id: one.data["user"] for one in receiver.of("user.created")}
        assert len(set(named.values())) == len(named)

        wrong = create(server, "users")
        done = subprocess.run(
            [str(BINARY), "webhook", "listen", "--forward", receiver.url, "--server", server.url, "--key", wrong.text],
            capture_output=True, text=True, timeout=60,
        )
        assert done.returncode == 1 and "events" in done.stderr, done.stderr
    finally:
        listener.kill()
        receiver.stop()
    server.stop()

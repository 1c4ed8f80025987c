"""The conversations that the bench shows: a history that is imported, who reads it, and who goes on writing."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

from switchboard_tests import transfers
from switchboard_tests.endpoint import client_id
from switchboard_tests.rawsocket import RawSocket
from switchboard_tests.server import HTTP, Server, User

WORDS = [
    "one", "two", "three", "four", "hello", "there", "thanks", "tomorrow", "please", "meeting", "and", "so", "we",
    "could", "perhaps", "then", "later", "no", "yes", "of", "course", "train", "at", "the", "station",
]  # fmt: skip
AUTHORS = ["reader", "writer", "ada", "bob", "cleo", "dan"]
# Beside the two large groups, for the list and the switcher.
OTHERS, OTHER_MESSAGES = 200, 30
# From one author to the next, in seconds.
PAUSE = 47
# The server takes 64 requests of a connection at a time, and 500 frames a second: heartbeats are among them.
IN_FLIGHT, MOST_PER_SECOND = 48, 400


def texts(count: int) -> list[str]:
    rng = random.Random(1)
    return [" ".join(rng.choices(WORDS, k=rng.choice([2, 4, 6, 9, 14, 40]))) for _ in range(count)]


def history(count: int) -> Iterator[transfers.Line]:
    """`large` with so many messages, `second` with 1,000, and many small ones."""
    for name in AUTHORS:
        yield transfers.user(name)
    groups = [("large", count), ("second", 1_000), *((f"group {n}", OTHER_MESSAGES) for n in range(OTHERS))]
    for name, messages in groups:
        yield from transfers.group(name, AUTHORS)
        rng = random.Random(2)
        for n, text in enumerate(texts(messages)):
            yield transfers.message(f"{name} {n}", name, rng.choice(AUTHORS), n * PAUSE, text=text)


def sign_in(server: Server, name: str) -> dict[str, Any]:
    """What the page keeps of a sign-in."""
    body = {"email": f"{name}@old.example", "password": transfers.PASSWORD}
    response = HTTP.post(f"{server.url}/v1/sessions", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def groups_of(user: User) -> dict[str, dict[str, Any]]:
    """The rows of the inbox by the names of the groups."""
    found: dict[str, dict[str, Any]] = {}
    cursor = None
    while True:
        page = user.get("/v1/inbox", params={"limit": 100} | ({"cursor": cursor} if cursor else {})).json()
        found |= {row["conversation"].get("name", ""): row for row in page["conversations"]}
        cursor = page.get("nextCursor")
        if not cursor:
            return found


class Writer:
    """Somebody who writes to a group over a WebSocket, without waiting for each result."""

    def __init__(self, user: User, conversation: str) -> None:
        self.conversation = conversation
        self.socket = RawSocket(user.server.port, timeout=60)
        self.socket.hello(user)
        self.sent = 0
        self.turns = threading.Semaphore(IN_FLIGHT)
        self.rate = 0.0
        self.last = 0
        self.problem: Any = None
        self.is_stopping = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        while not self.is_stopping.is_set():
            try:
                message = self.socket.message()
            except (AssertionError, OSError) as error:
                # Whoever waits for a result has none.
                self.problem = self.problem or f"the connection has ended: {error}"
                self.turns.release()
                return
            if "bye" in message:
                self.problem = message["bye"]
            elif "heartbeat" in message:
                self.socket.send({"heartbeat": {}})
            elif "error" in message:
                self.problem = message["error"]
                self.turns.release()
            elif "result" in message:
                self.last = max(self.last, message["result"]["message"]["number"])
                self.turns.release()

    def write(self, text: str) -> None:
        self.sent += 1
        params = {"conversation": self.conversation, "clientID": client_id(), "text": text}
        self.socket.send(json.dumps({"id": self.sent + 10, "request": "messages.send", "params": params}))
        assert self.problem is None, self.problem

    def write_many(self, count: int) -> int:
        """As fast as a client may. Returns the number of the last."""
        lines = texts(1_000)
        for n in range(count):
            self.take_turn()
            self.write(lines[n % len(lines)])
            # After a pause of the server it does not catch up.
            time.sleep(1 / MOST_PER_SECOND)
        self.wait()
        return self.last

    def write_steadily(self, rate: float, until: threading.Event) -> None:
        """So many a second, unless the server cannot take as many: `rate` says afterwards how many it were."""
        lines = texts(1_000)
        begin = time.monotonic()
        count = 0
        while not until.is_set():
            self.take_turn()
            self.write(lines[count % len(lines)])
            count += 1
            time.sleep(max(0, begin + count / rate - time.monotonic()))
        self.rate = count / (time.monotonic() - begin)
        self.wait()

    def take_turn(self) -> None:
        assert self.turns.acquire(timeout=60), "no result for a minute"
        assert self.problem is None, self.problem

    def wait(self) -> None:
        """Until everything is stored."""
        for _ in range(IN_FLIGHT):
            self.take_turn()
        for _ in range(IN_FLIGHT):
            self.turns.release()

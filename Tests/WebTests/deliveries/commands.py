"""What three users do in a group, a direct conversation and notes, over REST: commands that a generator makes."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx
from switchboard_tests.conversations import befriend, direct, group

from deliveries.machine import Machine

GROUP, DIRECT = 0, 1
BURST = 56
# So long messages stay that disappear: longer than the pages' clocks get ahead, and shorter than tokens are valid.
SECONDS = 100
EMOJI = ["%F0%9F%91%8D", "%E2%9D%A4%EF%B8%8F"]
KINDS = [
    "send", "send", "reply", "thread", "edit", "edit", "delete", "delete", "react", "react", "unreact", "mark", "hide", "star", "unstar",
    "pin", "unpin", "rename", "add", "add", "remove", "leave", "clear", "forget", "archive", "restore", "unread", "mute",
    "block", "unblock", "schedule", "receipts", "burst", "call", "hangUp",
    "disappear", "disappear", "expire", "expire", "wait", "backUp", "restoreBackup",
]


@dataclass(frozen=True)
class Command:
    """`back` counts messages from the newest one."""

    kind: str
    user: int
    other: int
    where: int
    back: int

    def __repr__(self) -> str:
        where = ["group", "direct"][self.where]
        return f"Command({self.kind!r}, {self.user}, {self.other}, {where.upper()}, {self.back})"


class Harness:
    """Three users who know each other, with a group of all and the conversation of the first two."""

    def __init__(self, machine: Machine, owner: int, history: int, others: int = 0) -> None:
        self.machine = machine
        self.users = users = machine.users(3)
        self.count = 0
        self.live: str | None = None
        for one, other in ((0, 1), (0, 2), (1, 2)):
            befriend(users[one], users[other])
        members = [one for index, one in enumerate(users) if index != owner]
        self.conversations = [group(users[owner], members, "the group"), direct(users[0], users[1])]
        self.last = [0, 0]
        self.authors: list[dict[int, int]] = [{}, {}]
        # When messages disappear, in seconds since 1970.
        self.due: list[float] = []
        # What the pages have to wait for after a command: a time of the server's clock, and seconds of their own.
        self.due_at: float | None = None
        self.passed = 0
        self.backup: tuple[list[int], list[dict[int, int]]] | None = None
        for where in (GROUP, DIRECT):
            self.send(where, 1, f"hello {where}")
        self.send_many(GROUP, 2, history)
        # More conversations than the snapshot of a list has.
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda index: group(users[1], [users[0]], f"another group {index}"), range(others)))

    def do(self, command: Command) -> dict[str, Any]:
        """Does it, if it is possible: what has to arrive at whoever listens."""
        found = getattr(self, f"do_{command.kind}")(command)
        if not isinstance(found, httpx.Response):
            return found or {}
        assert found.status_code < 500 and found.status_code not in (400, 401, 405, 422, 429), (command, found.text)
        conversation = self.conversations[command.where]
        if found.status_code >= 300 or not found.content:
            return {}
        versions = [one["version"] for one in found.json().values() if isinstance(one, dict) and "version" in one]
        return {"conversation": conversation, "version": max(versions)} if versions else {}

    def send(self, where: int, user: int, text: str, **more: Any) -> dict[str, Any]:
        self.count += 1
        body = {"clientID": str(uuid.uuid4()), "text": f"{text} {self.count}"} | more
        response = self.users[user].post(f"/v1/conversations/{self.conversations[where]}/messages", body)
        assert response.status_code in (201, 403, 404), response.text
        message = response.json().get("message")
        if response.status_code != 201 or not message:
            return {}
        number = message["number"]
        self.note(where, user, message)
        return {"conversation": self.conversations[where], "version": message["version"], "number": number}

    def send_many(self, where: int, user: int, count: int) -> dict[str, Any]:
        with ThreadPoolExecutor(8) as pool:
            found = [one for one in pool.map(lambda _: self.send(where, user, "one of many"), range(count)) if one]
        return max(found, key=lambda one: one["number"], default={})

    def ask(self, command: Command, method: str, rest: str, body: dict[str, Any] | None = None, **options: Any) -> httpx.Response:
        path = f"/v1/conversations/{self.conversations[command.where]}{rest}"
        return self.users[command.user].request(method, path, body, **options)

    def message(self, command: Command) -> str:
        return f"/messages/{max(1, self.last[command.where] - command.back)}"

    # Messages

    def do_send(self, command: Command) -> Any:
        return self.send(command.where, command.user, "text")

    def do_burst(self, command: Command) -> Any:
        return self.send_many(command.where, command.user, BURST)

    def do_reply(self, command: Command) -> Any:
        number = max(1, self.last[command.where] - command.back)
        return self.sent(command, {"replyTo": number})

    def do_thread(self, command: Command) -> Any:
        number = max(1, self.last[command.where] - command.back)
        return self.sent(command, {"thread": number})

    def sent(self, command: Command, more: dict[str, Any]) -> Any:
        body = {"clientID": str(uuid.uuid4()), "text": "answer"} | more
        response = self.ask(command, "POST", "/messages", body)
        message = response.json().get("message") if response.status_code == 201 else None
        if message:
            self.note(command.where, command.user, message)
        return {}

    def note(self, where: int, user: int, message: dict[str, Any]) -> None:
        number = message["number"]
        self.last[where] = max(self.last[where], number)
        self.authors[where][number] = user
        if "expiresAt" in message:
            self.due.append(datetime.fromisoformat(message["expiresAt"]).timestamp())

    def do_edit(self, command: Command) -> Any:
        number = max(1, self.last[command.where] - command.back)
        author = self.users[self.authors[command.where].get(number, command.user)]
        path = f"/v1/conversations/{self.conversations[command.where]}/messages/{number}"
        found = author.get(path)
        if found.status_code != 200 or "text" not in found.json()["message"]:
            return {}
        self.count += 1
        version = found.json()["message"]["textVersion"]
        return author.request("PATCH", path, {"text": f"edited {self.count}", "textVersion": version})

    def do_delete(self, command: Command) -> Any:
        number = max(1, self.last[command.where] - command.back)
        author = self.users[self.authors[command.where].get(number, command.user)]
        path = f"/v1/conversations/{self.conversations[command.where]}/messages/{number}"
        return author.request("DELETE", path, params={"for": "all"})

    def do_hide(self, command: Command) -> Any:
        return self.ask(command, "DELETE", self.message(command), params={"for": "me"})

    def do_react(self, command: Command) -> Any:
        return self.ask(command, "PUT", f"{self.message(command)}/reactions/{EMOJI[command.other % 2]}")

    def do_unreact(self, command: Command) -> Any:
        return self.ask(command, "DELETE", f"{self.message(command)}/reactions/{EMOJI[command.other % 2]}")

    def do_star(self, command: Command) -> Any:
        return self.ask(command, "PUT", f"{self.message(command)}/star")

    def do_unstar(self, command: Command) -> Any:
        return self.ask(command, "DELETE", f"{self.message(command)}/star")

    def do_pin(self, command: Command) -> Any:
        return self.ask(command, "PUT", f"{self.message(command)}/pin")

    def do_unpin(self, command: Command) -> Any:
        return self.ask(command, "DELETE", f"{self.message(command)}/pin")

    def do_schedule(self, command: Command) -> Any:
        later = {"text": "later", "clientID": str(uuid.uuid4()), "sendAt": "2031-01-01T00:00:00Z"}
        self.ask(command, "POST", "/messages", later)

    # What is one's own

    def do_mark(self, command: Command) -> Any:
        return self.ask(command, "POST", "/marks", {"read": max(1, self.last[command.where] - command.back)})

    def do_archive(self, command: Command) -> Any:
        return self.ask(command, "PATCH", "/members/me", {"archived": True})

    def do_restore(self, command: Command) -> Any:
        return self.ask(command, "PATCH", "/members/me", {"archived": False, "pinned": command.other == 0})

    def do_unread(self, command: Command) -> Any:
        return self.ask(command, "PATCH", "/members/me", {"markedUnread": command.other > 0})

    def do_mute(self, command: Command) -> Any:
        return self.ask(command, "PATCH", "/members/me", {"muted": {"mentions": True} if command.other else None})

    def do_receipts(self, command: Command) -> Any:
        return self.ask(command, "PATCH", "/members/me", {"receipts": [None, True, False][command.other]})

    def do_clear(self, command: Command) -> Any:
        return self.ask(command, "POST", "/clear", {})

    def do_forget(self, command: Command) -> Any:
        return self.ask(command, "DELETE", "", params={"for": "me"})

    # People

    def do_rename(self, command: Command) -> Any:
        self.count += 1
        return self.ask(command, "PATCH", "", {"name": f"group {self.count}"})

    def do_add(self, command: Command) -> Any:
        found = self.ask(command, "POST", "/members", {"members": [self.users[command.other].id]})
        path = f"/v1/conversations/{self.conversations[command.where]}/members/me/accept"
        self.users[command.other].post(path)
        return found

    def do_remove(self, command: Command) -> Any:
        return self.ask(command, "DELETE", f"/members/{self.users[command.other].id}")

    def do_leave(self, command: Command) -> Any:
        return self.ask(command, "DELETE", "/members/me")

    def do_block(self, command: Command) -> Any:
        if command.user != command.other:
            self.users[command.user].request("PUT", f"/v1/blocks/{self.users[command.other].id}")

    def do_unblock(self, command: Command) -> Any:
        self.users[command.user].request("DELETE", f"/v1/blocks/{self.users[command.other].id}")

    # Calls

    def do_call(self, command: Command) -> Any:
        body = {"clientID": str(uuid.uuid4()), "conversation": self.conversations[command.where], "kind": "audio"}
        made = self.users[command.user].post("/v1/calls", body)
        if made.status_code == 201:
            self.live = made.json()["call"]["id"]

    def do_hangUp(self, command: Command) -> Any:
        if self.live:
            for user in self.users:
                for verb in ("cancel", "decline", "leave"):
                    user.post(f"/v1/calls/{self.live}/{verb}", {"clientID": str(uuid.uuid4())})
            self.live = None

    # Time, and the machine

    def do_disappear(self, command: Command) -> Any:
        return self.ask(command, "PATCH", "", {"disappearAfter": [SECONDS, SECONDS, None][command.other]})

    def do_expire(self, command: Command) -> None:
        """All that disappear are gone after a restart; or the first goes while the server runs; or the clock alone moves."""
        now = self.machine.now
        due = [one for one in self.due if one > now]
        if not due:
            return
        if command.other == 1:
            if self.machine.set_forward(max(0, int(min(due) - now - 1))):
                self.machine.restart()
                self.due_at = min(due)
        elif self.machine.set_forward(int(max(due) - now) + 1) and command.other == 0:
            self.machine.restart(is_killed=True)

    def do_wait(self, _: Command) -> None:
        """So much time passes for all that what disappears is gone."""
        if self.machine.set_forward(SECONDS + 1):
            self.passed = SECONDS + 1

    def do_backUp(self, _: Command) -> None:
        self.machine.back_up()
        self.backup = ([*self.last], [{**one} for one in self.authors])

    def do_restoreBackup(self, _: Command) -> None:
        """What was done since the backup is undone."""
        if self.backup is None:
            return
        last, authors = self.backup
        self.last, self.authors = [*last], [{**one} for one in authors]
        self.machine.restore()

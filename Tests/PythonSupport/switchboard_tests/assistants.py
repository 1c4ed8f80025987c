"""A scripted language model that streams and asks for tools, behind endpoints like OpenAI's and Anthropic's. It says
nothing about what a real model would write.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from switchboard_tests import scripted_http


@dataclasses.dataclass
class Call:
    """What a model asks for."""

    name: str
    arguments: dict[str, Any] | str = dataclasses.field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclasses.dataclass
class Turn:
    """What the model was told."""

    instruction: str
    # The question with what goes with it.
    question: dict[str, Any]
    # What tools returned, the oldest first.
    results: list[Any]
    tools: list[str]
    has_to_answer: bool
    messages: list[dict[str, Any]]

    @property
    def messages_seen(self) -> list[dict[str, Any]]:
        return [one for result in self.results for one in result.get("messages", [])]

    def handle(self, text: str) -> str:
        """Of the message that has this text."""
        return next(one["id"] for one in self.messages_seen if text in one["text"])


@dataclasses.dataclass
class Task:
    """What the model was given to write a document of."""

    # Such as `translations` or `summary`.
    name: str
    instruction: str
    data: dict[str, Any]


def plain(task: Task) -> dict[str, Any]:
    """Whatever is asked for: each reads of it what it knows."""
    said = {"text": task.data.get("draft", ""), "tone": "neutral", "findings": [], "hints": []}
    return said | {"replies": ["Yes"]}


# Pieces of text, or calls; or bytes, which are sent as they are.
Reply = list[str | Call] | bytes
Script = Callable[[Turn], Reply]


def answering(*pieces: str) -> Script:
    return lambda _: [*pieces]


def looking_up(query: str, answer: Callable[[Turn], str], **arguments: Any) -> Script:
    """It searches, and answers with what it has found."""

    def script(turn: Turn) -> Reply:
        return [answer(turn)] if turn.results else [Call("search", {"query": query} | arguments)]

    return script


class ScriptedModel:
    """It replies as `script` says, a piece of text after `goes_on` says so, and keeps everything that it was sent."""

    def __init__(self) -> None:
        self.script: Script = answering("I have found nothing.")
        # What it writes where something else than an answer is asked for.
        self.document: Callable[[Task], dict[str, Any]] = plain
        self.received: list[bytes] = []
        self.status: tuple[int, bytes] | None = None
        # Waited for before each piece but the first.
        self.goes_on = threading.Event()
        self.goes_on.set()
        # Seconds before each piece but the first.
        self.pace = 0.0
        self.has_tools = True
        # How many requests were given up by who made them.
        self.abandoned = 0
        self.url = ""

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.received]

    def observed(self, text: str) -> bool:
        return any(text in json.dumps(one, ensure_ascii=False) for one in self.requests)


def turn(body: dict[str, Any]) -> Turn:
    if "system" in body:
        return anthropic_turn(body)
    messages = body["messages"]
    results = [json.loads(one["content"]) for one in messages if one["role"] == "tool"]
    question = [one for one in messages if one["role"] == "user"][-1]["content"]
    tools = [one["function"]["name"] for one in body.get("tools", [])]
    has_to_answer = body.get("tool_choice") == "none"
    return Turn(messages[0]["content"], json.loads(question), results, tools, has_to_answer, messages)


def anthropic_turn(body: dict[str, Any]) -> Turn:
    blocks = [block for one in body["messages"] if one["role"] == "user" for block in one["content"]]
    results = [json.loads(block["content"]) for block in blocks if block["type"] == "tool_result"]
    question = [block["text"] for block in blocks if block["type"] == "text"][-1]
    tools = [one["name"] for one in body.get("tools", [])]
    has_to_answer = body.get("tool_choice", {}).get("type") == "none"
    return Turn(body["system"], json.loads(question), results, tools, has_to_answer, body["messages"])


def chat_events(reply: list[str | Call]) -> Iterator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n".encode()

    yield b": ping\n\n" + chunk({"role": "assistant", "content": None})
    for index, piece in enumerate(reply):
        if isinstance(piece, str):
            yield chunk({"content": piece})
            continue
        middle = len(piece.text) // 2
        first = {"name": piece.name, "arguments": piece.text[:middle]}
        yield chunk({"tool_calls": [{"index": index, "id": f"call-{index}", "type": "function", "function": first}]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece.text[middle:]}}]})
    yield chunk({}, "tool_calls" if any(isinstance(one, Call) for one in reply) else "stop")
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    yield f"data: {json.dumps({'choices': [], 'usage': usage})}\n\ndata: [DONE]\n\n".encode()


def messages_events(reply: list[str | Call]) -> Iterator[bytes]:
    def event(kind: str, **more: Any) -> bytes:
        return f"event: {kind}\r\ndata: {json.dumps({'type': kind} | more)}\r\n\r\n".encode()

    yield event("message_start", message={"usage": {"input_tokens": 100}})
    for index, piece in enumerate(reply):
        if isinstance(piece, str):
            yield event("content_block_start", index=index, content_block={"type": "text", "text": ""})
            yield event("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
        else:
            block = {"type": "tool_use", "id": f"toolu-{index}", "name": piece.name, "input": {}}
            yield event("content_block_start", index=index, content_block=block)
            middle = len(piece.text) // 2
            for part in (piece.text[:middle], piece.text[middle:]):
                delta = {"type": "input_json_delta", "partial_json": part}
                yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    reason = "tool_use" if any(isinstance(one, Call) for one in reply) else "end_turn"
    yield event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 20}) + event("message_stop")


@contextlib.contextmanager
def modelling() -> Iterator[ScriptedModel]:
    model = ScriptedModel()

    class Handler(scripted_http.Handler):
        def do_POST(self) -> None:
            received = self.rfile.read(int(self.headers["Content-Length"]))
            model.received.append(received)
            body = json.loads(received)
            if model.status is not None:
                self.respond(*model.status)
            elif body.get("tools") and not model.has_tools:
                self.respond(400, json.dumps({"error": {"message": "tools are not supported"}}).encode())
            elif body.get("stream"):
                self.stream(body)
            else:
                self.plain(body)

        def stream(self, body: dict[str, Any]) -> None:
            reply = model.script(turn(body))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            try:
                if isinstance(reply, bytes):
                    self.wfile.write(reply)
                    return
                events = messages_events(reply) if "system" in body else chat_events(reply)
                for index, event in enumerate(events):
                    if index > 2:
                        self.keep_waiting()
                        time.sleep(model.pace)
                    self.wfile.write(event)
                    self.wfile.flush()
            except OSError:
                model.abandoned += 1

        def keep_waiting(self) -> None:
            """As long as the test says, but no longer than 90 s. Who reads gives up a stream that says nothing, so it
            says something now and then, as services do while their model thinks."""
            for _ in range(45):
                if model.goes_on.wait(2):
                    return
                self.wfile.write(b": ping\n\n")
                self.wfile.flush()

        def plain(self, body: dict[str, Any]) -> None:
            """To who asks without tools: the conversation is one object."""
            data = json.loads(body["messages"][-1]["content"])
            if "conversation" not in data:
                name = body.get("response_format", {}).get("json_schema", {}).get("name", "")
                self.complete(model.document(Task(name, body["messages"][0]["content"], data)))
                return
            conversation = data["conversation"]
            results = [one["result"] for one in conversation if "result" in one]
            question = json.loads([one["user"] for one in conversation if "user" in one][-1])
            reply = model.script(Turn(body["messages"][0]["content"], question, results, [], False, conversation))
            assert not isinstance(reply, bytes)
            first = reply[0]
            written = (
                {"tool": first.name, "arguments": first.text, "answer": None} if isinstance(first, Call)
                else {"tool": None, "arguments": None, "answer": "".join(str(one) for one in reply)}
            )  # fmt: skip
            self.complete(written)

        def complete(self, written: dict[str, Any]) -> None:
            choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(written)}}
            self.respond(200, json.dumps({"choices": [choice]}).encode())

        def do_GET(self) -> None:
            self.respond(200, json.dumps({"data": [{"id": "scripted"}]}).encode())

    with scripted_http.serving(Handler) as address:
        model.url = f"{address}/v1"
        yield model
        model.goes_on.set()

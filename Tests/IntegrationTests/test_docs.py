"""/docs as it is served: every link leads somewhere, everything is in it, and its examples run."""

from __future__ import annotations

import contextlib
import html.parser
import os
import pathlib
import re
import socket
import subprocess
import sys
import urllib.parse
from typing import Any

import pytest
from switchboard_tests import server_keys
from switchboard_tests.endpoint import client_id
from switchboard_tests.ports import free_port
from switchboard_tests.server import BINARY, HTTP
from switchboard_tests.waiting import wait_until

EXAMPLES = pathlib.Path(__file__).parents[2] / "Sources/WebAPI/Web/docs/examples"
GUIDES = EXAMPLES.with_name("guides")
VOID = {"meta", "link", "input", "br", "hr", "img"}


class Page(html.parser.HTMLParser):
    """A page that must be well formed: elements are closed in order, and ids are unique."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.scripts: list[dict[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        identifier = attributes.get("id")
        assert identifier not in self.ids, f"two elements are {identifier}"
        if identifier:
            self.ids.add(identifier)
        if tag == "a":
            self.links.append(attributes["href"] or "")
        if tag == "script":
            self.scripts.append(attributes)
        assert not [name for name in attributes if name.startswith("on") or name == "style"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def pages(server) -> dict[str, Page]:
    """Every page that links lead to, by its path."""
    found: dict[str, Page] = {}
    waiting = ["/docs"]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        response = HTTP.get(server.url + path)
        assert response.status_code == 200, path
        found[path] = Page(response.text)
        paths = [urllib.parse.urlsplit(link).path for link in found[path].links]
        waiting += [one for one in paths if one.startswith("/docs")]
    return found


def test_every_link_leads_to_an_element(pages):
    broken = []
    for path, page in pages.items():
        for link in page.links:
            target = urllib.parse.urlsplit(link)
            assert not target.scheme, f"{link} leads away"
            there = pages[target.path or path]
            if target.fragment and target.fragment not in there.ids:
                broken.append((path, link))
    assert broken == []


def test_every_operation_is_described(server, pages):
    document = HTTP.get(f"{server.url}/openapi.json").json()
    for methods in document["paths"].values():
        for operation in methods.values():
            page = pages[f"/docs/api/{operation['tags'][0]}"]
            assert operation["operationId"] in page.ids
    assert set(document["components"]["schemas"]) <= pages["/docs/types"].ids


def test_every_problem_is_described(server, pages):
    document = HTTP.get(f"{server.url}/openapi.json").json()
    responses = document["components"]["responses"].values()
    kinds = re.findall(r"`(\w+)`:", " ".join(one["description"] for one in responses))
    assert len(set(kinds)) > 15
    assert set(kinds) <= pages["/docs/errors"].ids


def test_the_realtime_protocol_is_described(server, pages):
    document = HTTP.get(f"{server.url}/asyncapi.json").json()
    page = pages["/docs/realtime"]
    words = [stream["name"] for stream in document["x-streams"]]
    words += [change["type"] for stream in document["x-streams"] for change in stream["changes"]]
    words += [reset["reason"] for reset in document["x-resets"]]
    words += [str(code["code"]) for code in document["x-closeCodes"]]
    words += [request["name"] for request in document["x-requests"]]
    words += [limit["name"] for limit in document["x-limits"]]
    assert [word for word in words if word not in page.text] == []
    frames = {one["payload"]["$ref"].split("/")[-1] for one in document["components"]["messages"].values()}
    assert frames <= page.ids


def test_guides_name_what_there_is(server, pages):
    """Settings, paths, operations and commands in backticks exist."""
    settings = {one for one in pages["/docs/settings"].ids if "." in one}
    groups = {one.split(".")[0] for one in settings}
    described = HTTP.get(f"{server.url}/openapi.json").json()["paths"]
    paths = set(described) | {"/v1/realtime", "/v1/server"}
    # Some have the name of a group of settings.
    operations = {one["operationId"] for path in described.values() for one in path.values() if "operationId" in one}
    commands = set(re.findall(r"^  (\w+) ", tool_help(), re.M))
    wrong = []
    for guide in GUIDES.glob("*.md"):
        for word in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", guide.read_text(), flags=re.S)):
            command = re.match(r"switchboard ([a-z]+)", word)
            route = re.fullmatch(r"(?:GET|POST|PUT|PATCH|DELETE) (/\S+)", word)
            is_setting = re.fullmatch(r"[a-z]+(\.[a-zA-Z]+)+", word) and word.split(".")[0] in groups
            unknown = [
                command and command[1] not in commands, route and route[1] not in paths,
                is_setting and word not in settings | operations,
            ]
            if any(unknown):
                wrong.append((guide.name, word))
    assert wrong == []


def tool_help() -> str:
    return subprocess.run([str(BINARY), "--help"], capture_output=True, text=True, timeout=60, check=True).stdout


def test_pages_are_served_like_the_web_client(server):
    client = HTTP.get(server.url)
    for path in ["/docs", "/docs/", "/docs/errors", "/docs/guides/start.md", "/docs/search.json"]:
        response = HTTP.get(server.url + path)
        assert response.status_code == 200
        for name in ["content-security-policy", "x-content-type-options", "cache-control"]:
            assert response.headers[name] == client.headers[name]
        again = HTTP.get(server.url + path, headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        head = HTTP.head(server.url + path)
        assert (head.status_code, head.headers["etag"]) == (200, response.headers["etag"])


UNKNOWN = ["/docs/nothing", "/docs/404", "/docs/api/nothing", "/docs/%3Cscript%3E", "/docs/../docs/x", "/docs//x"]


@pytest.mark.parametrize("path", UNKNOWN)
def test_an_unknown_page_says_so(server, path):
    response = HTTP.get(server.url + path)
    assert response.status_code == 404
    assert "No such page" in Page(response.text).text or response.json()["type"] == "not_found"


def test_pages_need_no_script(server, pages):
    """There is one, for the search."""
    [path] = {script["src"] for page in pages.values() for script in page.scripts}
    assert path.startswith("/docs/assets/search-")
    assert "immutable" in HTTP.get(server.url + path).headers["cache-control"]


def test_the_search_finds_pages(server, pages):
    for entry in HTTP.get(f"{server.url}/docs/search.json").json():
        path, _, anchor = entry["address"].partition("#")
        assert entry["title"] and (not anchor or anchor in pages[path].ids)


# The examples.

RUN_HERE = {"first-call.sh", "first-call.py", "server-key.sh", "resume.py", "webhook.py"}
# In a browser (test_docs.py of the browser tier), and compiled with the SDK's tests.
RUN_ELSEWHERE = {"first-call.js", "resume.js", "first-call.swift", "sdk.swift"}


def test_every_example_is_run():
    assert {path.name for path in EXAMPLES.iterdir()} == RUN_HERE | RUN_ELSEWHERE


def run(name: str, server: Any, **variables: str) -> list[str]:
    environment = {**os.environ, "SERVER": server.url, **variables}
    program = "bash" if name.endswith(".sh") else sys.executable
    done = subprocess.run(
        [program, str(EXAMPLES / name)], capture_output=True, text=True, timeout=60, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("name", ["first-call.sh", "first-call.py"])
def test_the_first_call(server, name):
    assert run(name, server) == ["active", "hung_up"]


def test_a_back_end_signs_its_users_in(server):
    key = re.search(r"sbk_\w+", server.command("key", "create", "--name", "docs", "--scope", "users,tokens"))
    assert key
    assert run("server-key.sh", server, KEY=key[0]) == ["Ann Avery", "Ann Avery"]


def test_a_back_end_wakes_phones(make_server):
    server = make_server({"webhooks": {"allow": ["127.0.0.0/8"]}})
    port = free_port()
    webhook, secret = server.command("webhook", "add", "--url", f"http://127.0.0.1:{port}/hooks").split()
    environment = {**os.environ, "SECRET": secret, "PORT": str(port)}
    with subprocess.Popen(
        [sys.executable, str(EXAMPLES / "webhook.py")], stdout=subprocess.PIPE, text=True, env=environment
    ) as receiver:
        try:
            assert receiver.stdout
            wait_until(lambda: is_open(port), "the receiver")
            assert "The webhook works: the response was 204." in server.command("webhook", "test", webhook)
            assert receiver.stdout.readline() == "webhook.test\n"
            key = server_keys.create(server, "users", "tokens")
            ann, ben = key.user("ann"), key.put_user("ben")
            key.token(ben["id"])
            body = {"clientID": client_id(), "callees": [ben["id"]], "kind": "audio"}
            call = ann.post("/v1/calls", body).json()["call"]["id"]
            # In any order; beside them, the first call of the two makes their conversation, with its message.
            lines, expected = {}, {"user.created", "call.ringing", "wake"}
            while not expected <= set(lines):
                line = receiver.stdout.readline()
                lines[line.split()[0]] = line
            assert all(name.startswith(("conversation.", "message.")) for name in set(lines) - expected), lines
            assert f"for {call} from User ann" in lines["wake"]
            forged = HTTP.post(f"http://127.0.0.1:{port}/hooks", json={"type": "call.ringing"})
            assert forged.status_code == 401
        finally:
            receiver.kill()


def is_open(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def test_a_client_resumes(make_server):
    """The server is killed, and says on its return what happened in between."""
    server = make_server()
    user = server.user()
    environment = {**os.environ, "SERVER": server.url, "TOKEN": user.token, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, str(EXAMPLES / "resume.py")], stdout=subprocess.PIPE, text=True, env=environment
    ) as client:
        try:
            assert client.stdout
            assert client.stdout.readline() == "snapshot user\n"
            rename(user, "Before the cut")
            assert client.stdout.readline().startswith("change ")
            server.kill()
            server.start()
            rename(user, "After the cut")
            lines = [client.stdout.readline() for _ in range(2)]
            while lines[-1] == "cut\n":
                lines.append(client.stdout.readline())
            # No reset, and no second snapshot.
            assert set(lines[:-1]) == {"cut\n"} and lines[-1].startswith("change ")
        finally:
            client.kill()


def rename(user: Any, name: str) -> None:
    response = user.request("PATCH", "/v1/me", {"displayName": name})
    assert response.status_code == 200, response.text

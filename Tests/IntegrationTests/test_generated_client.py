"""openapi-python-client makes a client of /openapi.json without a warning, and two users of it call each other."""

from __future__ import annotations

import importlib
import json
import pathlib
import subprocess
import sys
import uuid
from types import ModuleType
from typing import Any

import pytest
import yaml
from switchboard_tests.server import HTTP

PACKAGE = "generated_switchboard"
# The generator knows JSON, forms and bytes; these are bytes to it.
BYTES = [
    "application/jsonl", "application/sdp", "application/trickle-ice-sdpfrag", "audio/ogg", "audio/webm", "image/jpeg",
    "image/png", "image/webp",
]


@pytest.fixture(scope="module")
def generated(server, tmp_path_factory):
    """The folder of the generated package."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(json.dumps(HTTP.get(f"{server.url}/openapi.json").json()))
    overrides = dict.fromkeys(BYTES, "application/octet-stream")
    (folder / "config.yaml").write_text(yaml.safe_dump({"content_type_overrides": overrides, "post_hooks": []}))
    done = subprocess.run(
        [
            str(pathlib.Path(sys.executable).with_name("openapi-python-client")), "generate",
            "--path", "openapi.json", "--meta", "none", "--output-path", PACKAGE, "--config", "config.yaml",
            "--fail-on-warning",
        ],
        capture_output=True, text=True, timeout=300, cwd=folder,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "warning" not in output.lower() and "error" not in output.lower(), output
    sys.path.insert(0, str(folder))
    yield folder / PACKAGE
    sys.path.remove(str(folder))


class Person:
    """A user who has signed up with the generated client."""

    def __init__(self, server, name: str) -> None:
        self.client = module("client").Client(base_url=server.url, raise_on_unexpected_status=True)
        models = module("models")
        body = models.AccountsCreateBody(
            email=f"{uuid.uuid4()}@example.org", password="correct horse battery", display_name=name,
            device=models.NewDevice(name="A test", platform="python"),
        )
        signed_in = self.run("accounts.accounts_create", body=body)
        self.id = signed_in.user.id
        self.endpoint = f"{uuid.uuid4()} {uuid.uuid4().hex}"
        self.client = module("client").AuthenticatedClient(
            base_url=server.url, token=signed_in.access_token, raise_on_unexpected_status=True
        )

    def run(self, operation: str, *path: Any, **arguments: Any) -> Any:
        """The parsed response of an operation, such as `calls.calls_create`, which must succeed."""
        response = module(f"api.{operation}").sync_detailed(*path, client=self.client, **arguments)
        assert response.status_code < 300, response.content
        return response.parsed


def module(name: str) -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.{name}")


def test_shared_schemas_are_one_class(generated):
    names = {path.stem for path in (generated / "models").glob("*.py")}
    assert {"positions", "session_description", "call_result", "new_device"} <= names
    assert [name for name in names if name.endswith("_positions") or name.endswith("_offer")] == []


def test_two_users_call_each_other(generated, server):
    models = module("models")
    ann, ben = Person(server, "Ann"), Person(server, "Ben")
    found = ann.run("users.users_search", query="Ben")
    assert ben.id in [user.id for user in found.users]
    body = models.CallsCreateBody(
        client_id=uuid.uuid4(), callees=[ben.id], kind=models.CallsCreateBodyKind.AUDIO,
        offer=models.SessionDescription(sdp="v=0"),
    )
    made = ann.run("calls.calls_create", body=body, switchboard_endpoint=ann.endpoint)
    assert made.call.status == "ringing" and made.positions.additional_properties
    call = made.call.id
    # No body: there is nothing to say.
    ben.run("calls.calls_ringing", call, switchboard_endpoint=ben.endpoint)
    accepted = ben.run(
        "calls.calls_accept", call, body=models.CallsAcceptBody(client_id=uuid.uuid4()),
        switchboard_endpoint=ben.endpoint,
    )
    assert accepted.call.status == "active"
    assert ann.run("calls.calls_get", call).call.status == "active"
    ended = ann.run("calls.calls_end", call)
    assert (ended.call.status, ended.call.end_reason) == ("ended", "hung_up")


def test_a_problem_is_parsed(generated, server):
    ann = Person(server, "Ann")
    response = module("api.calls.calls_get").sync_detailed(uuid.uuid4(), client=ann.client)
    assert response.status_code == 404
    assert response.parsed.type_ == "not_found"
    assert response.parsed.request == response.headers["Switchboard-Request"]

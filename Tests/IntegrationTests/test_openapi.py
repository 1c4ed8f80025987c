"""schemathesis tests every operation of /openapi.json with valid and invalid input: the server may reject it with the
documented responses, and never fails.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest
from switchboard_tests.calls import GENEROUS
from switchboard_tests.server import ROOT

EXAMPLES = os.environ.get("DEV_SWITCHBOARD_EXAMPLES", "20")
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance"
)
# These sign out the caller, so they are tested separately: later requests would be unauthenticated.
SIGNS_OUT = "^(DELETE /v1/(sessions|devices)/|POST /v1/me/password)"


@pytest.fixture(scope="module")
def generous_server(make_server):
    # The response of a server without a provider is a server error for the checks, and rightly so.
    settings = {"accounts": {"signUp": "open", "signUpsPerHour": 1_000_000}, "transcription": {"provider": "command"}}
    server = make_server(GENEROUS | settings)
    yield server
    server.stop()


@pytest.mark.parametrize("selection", ["--exclude-name-regex", "--include-name-regex"])
def test_every_response_is_in_the_document(generous_server, selection):
    server = generous_server
    me, friend = ({"user": person.id, "headers": person.headers} for person in server.users(2))
    headers = [word for name, value in me["headers"].items() for word in ("--header", f"{name}: {value}")]
    done = subprocess.run(
        [
            str(pathlib.Path(sys.executable).with_name("schemathesis")), "run", f"{server.url}/openapi.json",
            *headers, "--checks", CHECKS, selection, SIGNS_OUT, "--max-examples", EXAMPLES,
            "--generation-deterministic", "--request-timeout", "20", "--workers", "1", "--no-color",
        ],
        capture_output=True, text=True, timeout=1500, cwd=server.directory,
        env=os.environ | {
            "SCHEMATHESIS_HOOKS": "openapi_hooks",
            "PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parent), str(ROOT / "Tests" / "PythonSupport")]),
            "DEV_SWITCHBOARD_URL": server.url,
            "DEV_SWITCHBOARD_ME": json.dumps(me),
            "DEV_SWITCHBOARD_FRIEND": json.dumps(friend),
        },
    )
    print(done.stdout[-20_000:], done.stderr[-4_000:])
    assert done.returncode == 0
    assert server.process.poll() is None, server.log_tail()

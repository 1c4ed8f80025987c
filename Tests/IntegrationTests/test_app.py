"""An app that depends on the SDK as the README says, beside GRDB: it resolves a tag, builds, and makes a call.

The tag is made in a clone of this repository, with what is in the work tree, and Git's `insteadOf` leads the README's
address there. It takes minutes, so `Scripts/test long` runs it.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess

import pytest
from switchboard_tests.server import ROOT
from switchboard_tests.server_keys import create

pytestmark = pytest.mark.long

ADDRESS = "https://git.example/switchboard"
# The range of the server, so that the newest of its major version is resolved.
GRDB = '.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")'
MANIFEST = """// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [
        %s,
        %s,
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "SwitchboardClient", package: "switchboard"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ])
    ]
)
"""
# The example of the first guide, and what the app keeps of it in a database of its own.
PROGRAM = """import Foundation
import GRDB
import SwitchboardClient

let server = CommandLine.arguments[1]
%s
let calls = try DatabaseQueue()
let kept = try await calls.write { database in
    try database.execute(sql: "CREATE TABLE calls (id TEXT PRIMARY KEY)")
    try database.execute(sql: "INSERT INTO calls VALUES (?)", arguments: ["\\(call.id)"])
    return try String.fetchAll(database, sql: "SELECT id FROM calls")
}
print(kept.joined())
"""


def run(*command: str | pathlib.Path, **options) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def snippet() -> str:
    """The README's line, which the guide on the SDK has too."""
    [line] = re.findall(r"```swift\n(\.package\(.*\))\n```", (ROOT / "README.md").read_text())
    assert line in (ROOT / "Sources/WebAPI/Web/docs/guides/sdk.md").read_text()
    return line


@pytest.fixture(scope="module")
def version(snippet) -> str:
    return re.search(r'from: "(.*?)"', snippet)[1]


@pytest.fixture(scope="module")
def environment(version, tmp_path_factory) -> dict[str, str]:
    """Leads the README's address to a clone with a tag of that version."""
    clone = tmp_path_factory.mktemp("git") / "switchboard"
    # The commit of the work tree as it is, which no branch has.
    commit = run("git", "stash", "create", cwd=ROOT).strip() or run("git", "rev-parse", "HEAD", cwd=ROOT).strip()
    run("git", "clone", "--quiet", "--no-checkout", "--shared", ROOT, clone)
    run("git", "tag", "--force", version, commit, cwd=clone)
    setting = {
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{clone}.insteadOf", "GIT_CONFIG_VALUE_0": ADDRESS,
    }
    return {**os.environ, **setting}


@pytest.fixture(scope="module")
def app(snippet, tmp_path_factory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("app")
    example = (ROOT / "Tests/SwitchboardClientTests/Examples/first-call.swift").read_text()
    body = example.split("// docs:begin\n")[1].split("// docs:end")[0]
    (folder / "Sources/App").mkdir(parents=True)
    (folder / "Package.swift").write_text(MANIFEST % (snippet.replace("https://…/switchboard", ADDRESS), GRDB))
    (folder / "Sources/App/main.swift").write_text(PROGRAM % re.sub(r"^    ", "", body, flags=re.M))
    return folder


def test_an_app_resolves_a_tag_beside_grdb_and_makes_a_call(server, app, environment, version):
    # SwiftPM remembers which commit a version was, and refuses another one: each run has a memory of its own.
    own = ("--security-path", app / "security")
    run("swift", "package", *own, "resolve", cwd=app, env=environment, timeout=600)
    pins = {pin["identity"]: pin for pin in json.loads((app / "Package.resolved").read_text())["pins"]}
    assert pins["switchboard"]["state"]["version"] == version
    assert pins["switchboard"]["location"] == ADDRESS
    newest = newest_grdb(environment)
    assert pins["grdb.swift"]["state"]["version"] == newest
    # With `traits: []`, only what the SDK uses: none of the server's packages, and as many as the README says.
    assert not {"hummingbird", "jwt-kit", "yams", "swift-argument-parser", "hdrhistogram-swift"} & set(pins)
    said = re.search(r"resolves (\d+) packages instead of", (ROOT / "README.md").read_text().replace("\n", " "))
    assert len(pins) - 1 == int(said[1]), sorted(pins)

    run("swift", "build", *own, cwd=app, env=environment, timeout=3600)
    program = pathlib.Path(run("swift", "build", *own, "--show-bin-path", cwd=app, env=environment).strip()) / "App"
    call = run(program, server.url, timeout=120).strip()
    document = create(server, "calls:read").get(f"/v1/server/calls/{call}").json()["call"]
    assert (document["status"], document["endReason"]) == ("ended", "hung_up")


def newest_grdb(environment: dict[str, str]) -> str:
    """The newest release that the app's range allows."""
    listed = run("git", "ls-remote", "--tags", "https://github.com/groue/GRDB.swift", env=environment)
    versions = re.findall(r"refs/tags/v?(7\.\d+\.\d+)$", listed, re.M)
    return max(versions, key=lambda one: [int(part) for part in one.split(".")])

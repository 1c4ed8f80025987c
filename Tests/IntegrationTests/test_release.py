"""A rehearsal of the next release, in a clone of what is in the work tree: as `Scripts/release` says, until an app
resolves its tag. A release that fails its own tests would be noticed only when its tag is out. It builds the server
anew, so that `Scripts/test long` runs it.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess

import pytest
import switchboard_tests.server
from switchboard_tests.server import HTTP, ROOT, Server

pytestmark = pytest.mark.long

CHANGES = "Sources/WebAPI/Web/docs/guides/changes.md"
CHECKS = (
    "check-version", "check-words", "check-texts", "check-modules", "check-markdown", "check-python", "format --check",
    "web",
)  # fmt: skip
# Those that know the version: of the server, of its documents, of the web client, and of the SDK in an app.
TESTS = ("test_versions.py", "test_compatibility.py", "test_clients.py", "test_app.py")


def run(clone: pathlib.Path, *command: str, minutes: int = 2) -> str:
    without = {"DEV_SWITCHBOARD_SCRATCH", "DEV_SWITCHBOARD_BIN", "PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS"}
    environment = {name: value for name, value in os.environ.items() if name not in without}
    environment["PYTHONPATH"] = "Tests/PythonSupport"
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, timeout=60 * minutes)
    assert done.returncode == 0, f"{command}: {done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def git(clone: pathlib.Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "tag.gpgSign=false"]
    return run(clone, "git", *identity, "-c", "commit.gpgSign=false", *arguments)


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> pathlib.Path:
    clone = tmp_path_factory.mktemp("release") / "switchboard"
    # The commit of the work tree as it is, which no branch has.
    commit = git(ROOT, "stash", "create").strip() or git(ROOT, "rev-parse", "HEAD").strip()
    git(ROOT, "clone", "--quiet", "--no-checkout", "--shared", str(ROOT), str(clone))
    git(clone, "checkout", "--quiet", "-B", "release", commit)
    (clone / ".venv").symlink_to(ROOT / ".venv")
    return clone


@pytest.fixture(scope="module")
def version(clone) -> str:
    """That of the newest changes, or the next one if none is unreleased."""
    guide = clone / CHANGES
    headings = re.findall(r"^## (.*)$", guide.read_text(), re.M)
    if headings[0].endswith(", unreleased"):
        return headings[0].removesuffix(", unreleased")
    major, minor, _ = headings[0].split(".")
    version = f"{major}.{int(minor) + 1}.0"
    guide.write_text(guide.read_text().replace(f"## {headings[0]}", f"## {version}, unreleased\n\n## {headings[0]}", 1))
    git(clone, "commit", "--quiet", "--all", "--message", "Announce a version")
    return version


def test_a_release_passes_its_own_tests(clone, version, tmp_path, monkeypatch):
    printed = run(clone, "Scripts/release", version)
    documents = f"Tests/IntegrationTests/Fixtures/{version}"
    assert documents in printed
    run(clone, "Scripts/build", "--product", "switchboard", minutes=60)
    monkeypatch.setattr(switchboard_tests.server, "BINARY", clone / ".build/debug/switchboard")
    server = Server(tmp_path, {})
    server.start()
    try:
        (clone / documents).mkdir(parents=True)
        for name in ("openapi.json", "asyncapi.json"):
            document = HTTP.get(f"{server.url}/{name}").json()
            assert document["info"]["version"] == version
            text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)
            (clone / documents / name).write_text(text + "\n")
    finally:
        server.kill()
    git(clone, "add", documents)
    git(clone, "commit", "--quiet", "--all", "--message", f"Release {version}")
    for check in CHECKS:
        run(clone, *f"Scripts/{check}".split(), minutes=10)
    run(clone, ".venv/bin/pytest", "-q", *(f"Tests/IntegrationTests/{name}" for name in TESTS), minutes=90)
    git(clone, "tag", "--annotate", "--message", f"Switchboard {version}", version)
    assert git(clone, "status", "--porcelain") == ""

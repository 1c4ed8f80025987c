"""One version: what the server tells of itself, and the scripts that check and write it."""

from __future__ import annotations

import asyncio
import pathlib
import re
import shutil
import subprocess

import pytest
from switchboard_tests.endpoint import Endpoint
from switchboard_tests.server import BINARY, HTTP, ROOT

SERVER = "Sources/Server/ServerVersion.swift"
SDK = "Sources/Client/SwitchboardVersion.swift"
CHANGES = "Sources/WebAPI/Web/docs/guides/changes.md"
GUIDE = "Sources/WebAPI/Web/docs/guides/sdk.md"


def version() -> str:
    found = re.search(r'static let text = "([^"]+)"', (ROOT / SERVER).read_text())
    assert found
    return found.group(1)


def test_the_server_tells_its_version_everywhere(server):
    printed = subprocess.run([str(BINARY), "--version"], capture_output=True, text=True, timeout=30, check=True)
    assert printed.stdout.strip() == version()
    assert HTTP.get(server.url + "/v1/server").json()["version"] == version()
    assert HTTP.get(server.url + "/openapi.json").json()["info"]["version"] == version()
    user = server.user()

    async def greeting() -> dict:
        endpoint = Endpoint(server.realtime_url, user.id, user.token)
        try:
            return await endpoint.open()
        finally:
            await endpoint.close()

    page = HTTP.get(server.url).text
    build = re.search(r'<meta name="build" content="([0-9a-f]+)">', page)
    assert build
    assert asyncio.run(greeting())["server"] == {"name": "Switchboard", "version": version(), "build": build[1]}


@pytest.fixture
def tree(tmp_path) -> pathlib.Path:
    """A repository with the scripts and the files that name the version."""
    for name in ("Scripts/check-version", "Scripts/release", SERVER, SDK, CHANGES, GUIDE, "README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(tree: pathlib.Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "tag.gpgSign=false"]
    subprocess.run(["git", *identity, "-c", "commit.gpgSign=false", *arguments], cwd=tree, check=True)


def commit(tree: pathlib.Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "Change the version")


def script(tree: pathlib.Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(tree / "Scripts" / name), *arguments], capture_output=True, text=True, timeout=30)


def test_the_check_compares_server_and_sdk(tree):
    assert script(tree, "check-version").returncode == 0
    sdk = tree / SDK
    text = sdk.read_text()
    for wrong, words in [
        (text.replace(version(), "9.9.9"), "must name the same version"),
        (text.replace(version(), "9.9"), "is no version"),
        (text.replace("static let text", "static let other"), "must have one line"),
    ]:
        sdk.write_text(wrong)
        done = script(tree, "check-version")
        assert done.returncode == 1 and words in done.stderr and SDK in done.stderr
    sdk.unlink()
    assert script(tree, "check-version").returncode == 1


def test_the_guide_of_changes_says_what_is_unreleased(tree):
    guide = tree / CHANGES
    text = guide.read_text()
    for wrong, words in [
        (f"{text}\n## 9.9.9\n", "must be '9.9.9, unreleased'"),
        (text.replace(f"\n## {version()}\n", f"\n## {version()}, unreleased\n"), f"must be '{version()}'"),
        (f"{text}\n## Later\n", "is no version"),
    ]:
        guide.write_text(wrong)
        done = script(tree, "check-version")
        assert done.returncode == 1 and words in done.stderr, done.stderr


def test_a_release_writes_the_version_and_prints_the_tag(tree):
    for wrong in ("1.2", "v1.2.3", "01.2.3", "1.2.3 "):
        assert script(tree, "release", wrong).returncode != 0
    assert script(tree, "release").returncode == 2
    assert 'has no heading "## 7.8.9-beta.1, unreleased"' in script(tree, "release", "7.8.9-beta.1").stderr
    assert f'"{version()}"' in (tree / SERVER).read_text()
    guide = tree / CHANGES
    # Nothing else is unreleased.
    released = re.sub(r"^## .*, unreleased$", "### Before", guide.read_text(), flags=re.M)
    guide.write_text(released + "\n## 7.8.9-beta.1, unreleased\n\n## 7.8.9, unreleased\n")
    commit(tree)
    done = script(tree, "release", "7.8.9-beta.1")
    assert done.returncode == 0, done.stderr
    assert "git tag --annotate --message 'Switchboard 7.8.9-beta.1' 7.8.9-beta.1" in done.stdout
    # And how to save the documents of the release.
    for name in ("openapi.json", "asyncapi.json"):
        assert f"Tests/IntegrationTests/Fixtures/7.8.9-beta.1/{name}" in done.stdout
    assert all('static let text = "7.8.9-beta.1"' in (tree / name).read_text() for name in (SERVER, SDK))
    assert all('from: "7.8.9-beta.1"' in (tree / name).read_text() for name in (GUIDE, "README.md"))
    assert "\n## 7.8.9-beta.1\n\n## 7.8.9, unreleased\n" in (tree / CHANGES).read_text()
    assert script(tree, "check-version").returncode == 0
    # Nothing was tagged, and a second release needs a commit first.
    assert subprocess.run(["git", "tag"], cwd=tree, capture_output=True, text=True, check=True).stdout == ""
    assert "uncommitted" in script(tree, "release", "7.8.9").stderr
    commit(tree)
    git(tree, "tag", "--annotate", "--message", "Switchboard", "7.8.9-beta.1")
    assert "exists already" in script(tree, "release", "7.8.9-beta.1").stderr
    assert "older" in script(tree, "release", "7.8.8").stderr
    assert script(tree, "release", "7.8.9").returncode == 0

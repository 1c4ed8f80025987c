"""Other builds of the web client, which a server has before and after it is upgraded."""

from __future__ import annotations

import pathlib
import re

from switchboard_tests.browsers.server import Server


def serve(server: Server, folder: pathlib.Path | None) -> None:
    """Restarts the server with the client in a folder, or with its own."""
    server.stop()
    text = re.sub(r"  webDirectory: .*\n", "", server.config.read_text())
    if folder:
        text = text.replace("http:\n", f"http:\n  webDirectory: {folder}\n", 1)
    server.config.write_text(text)
    server.start()


def write_build(server: Server, folder: pathlib.Path, name: str) -> pathlib.Path:
    """Writes the client of the server into a folder, under the name of another build."""
    page = server.read("/").decode()
    found = re.search(r'<meta name="build" content="(\w+)">', page)
    assert found, "the page names its build"
    files = ["index.html", "worker.js", "favicon.svg", "manifest.webmanifest", "icons/192.png"]
    named = page + server.read("/worker.js").decode()
    files += [one[1:] for one in re.findall(r'"(/(?:assets|catalogues)/[^"]+)"', named)]
    for path in files:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(server.read(f"/{path}").replace(found[1].encode(), name.encode()))
    return folder

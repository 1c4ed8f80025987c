"""voice/voice-composer.js: a recording that is begun, sent or written down while the chat is left. The recorder is a
fake one, and so is the server."""

import pytest

# Runs the rest with `did`, what was done so far, and `hold(step)`, which keeps a step from ending until `go(step)`.
BEGIN = """
    const { voiceComposer } = await load("voice/voice-composer.js");
    const { Recorder } = await load("voice/recorder.js");
    const { Problem } = await load("connection/problems.js");
    const { settle, shownToasts, signIn, until } = await import("/tests/signed-in.js");
    signIn("ann");
    const did = [];
    const steps = new Map();
    const hold = (...names) => { for (const name of names) steps.set(name, Promise.withResolvers()); };
    const go = (name) => steps.get(name).resolve();
    const step = async (name) => {
        did.push(name);
        await steps.get(name)?.promise;
    };
    window.fetch = async (path) => {
        await step(path);
        return new Response(JSON.stringify({ voice: { maxSeconds: 60, maxBytes: 1_000_000 }, text: "good morning" }));
    };
    let failure;
    Object.assign(Recorder.prototype, {
        start: () => step("start"),
        cancel: () => { did.push("cancel"); },
        finish: async () => {
            await step("finish");
            if (failure) throw failure;
            return { file: "f1" };
        },
    });
    Object.defineProperty(Recorder.prototype, "elapsed", { get: () => 2_000 });
    let isSignedIn = true;
    const voice = voiceComposer({ send: ({ file }) => did.push(`send ${file}`), write: (text) => did.push(`write ${text}`),
        note() {}, show() {}, isSignedIn: () => isSignedIn });
    document.body.append(voice.buttons, voice.row);
    const find = (action) => document.querySelector(`[data-action=${action}]`);
    const begun = (name) => until(`the beginning of ${name}`, () => did.includes(name));
    const ended = (action) => until(`the end of ${action}`, () => !find(action).hasAttribute("aria-busy"));
    const recordNow = async () => {
        find("record").click();
        await until("the recording", () => voice.row.dataset.state === "recording");
        did.length = 0;
    };
"""

pytestmark = pytest.mark.usefixtures("other_origin")


@pytest.mark.parametrize(("held", "done"), [("/v1/server", ["/v1/server"]), ("start", ["/v1/server", "start", "cancel"])])
def test_no_recording_begins_in_a_chat_that_was_left(run, held, done):
    """While the limits are asked for, and while the browser asks for the microphone."""
    assert run(BEGIN + """
        hold(held);
        find("record").click();
        await begun(held);
        voice.close();
        go(held);
        await ended("record");
        await settle();
        return [did, shownToasts(), voice.row.dataset.state];
    """, held=held) == [done, [], "waiting"]


def test_a_blocked_microphone_is_not_reported_in_a_chat_that_was_left(run):
    assert run(BEGIN + """
        Recorder.prototype.start = async () => {
            await step("start");
            throw new DOMException("", "NotAllowedError");
        };
        hold("start");
        find("record").click();
        await begun("start");
        voice.close();
        go("start");
        await ended("record");
        return shownToasts();
    """) == []


def test_a_recording_ends_with_the_chat(run):
    assert run(BEGIN + """
        await recordNow();
        voice.close();
        return did;
    """) == ["cancel"]


@pytest.mark.parametrize(
    ("action", "done"),
    [
        ("send-voice", ["finish", "send f1"]),
        ("dictate", ["finish", "/v1/voice-files/f1/dictation", "/v1/voice-files/f1", "write good morning"]),
    ],
)
def test_what_is_being_sent_is_not_discarded_by_leaving_the_chat(run, action, done):
    assert run(BEGIN + """
        await recordNow();
        hold("finish");
        find(action).click();
        await begun("finish");
        voice.close();
        go("finish");
        await ended(action);
        return [did, shownToasts()];
    """, action=action) == [done, []]


def test_what_could_not_be_sent_may_be_sent_again(run):
    assert run(BEGIN + """
        await recordNow();
        failure = new Problem({ type: "network" });
        find("send-voice").click();
        await ended("send-voice");
        const state = voice.row.dataset.state;
        failure = undefined;
        find("send-voice").click();
        await ended("send-voice");
        return [did, state, voice.row.dataset.state];
    """) == [["finish", "finish", "send f1"], "ended", "waiting"]


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_what_cannot_be_sent_from_a_chat_that_was_left_is_discarded(run, is_signed_in):
    """Nothing is shown to whoever sits there after a sign-out."""
    discarded, reports = run(BEGIN + """
        await recordNow();
        failure = new Problem({ type: "network" });
        hold("finish");
        find("send-voice").click();
        await begun("finish");
        voice.close();
        isSignedIn = wasSignedIn;
        go("finish");
        await ended("send-voice");
        return [did, shownToasts().length];
    """, wasSignedIn=is_signed_in)
    assert discarded == ["finish", "cancel"] and reports == (1 if is_signed_in else 0)

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
    let kept;
    const unsent = { get: () => kept ? [{ what: "voice 1", ...kept }] : [], keep: (sound) => { kept = sound; }, end: () => { kept = undefined; } };
    let voice;
    const open = () => {
        voice?.close();
        document.body.replaceChildren(...["toasts", "announcer"].map((id) => document.getElementById(id)));
        voice = voiceComposer({ send: ({ file }) => did.push(`send ${file}`), write: (text) => did.push(`write ${text}`),
            note() {}, show() {}, isSignedIn: () => isSignedIn, unsent });
        document.body.append(voice.buttons, voice.row);
        voice.restore();
    };
    open();
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


def test_what_was_recorded_is_there_when_the_chat_is_opened_again(run):
    assert run(BEGIN + """
        await recordNow();
        open();
        await until("what is kept", () => kept);
        const before = voice.row.dataset.state;
        open();
        const shown = [voice.row.dataset.state, voice.row.hidden, voice.row.querySelector(".clock").textContent, kept];
        find("send-voice").click();
        await ended("send-voice");
        return [before, shown, did, kept ?? null, voice.row.dataset.state];
    """) == [
        "waiting", ["ended", False, "0:02", {"file": "f1", "elapsed": 2_000}], ["finish", "send f1"], None, "waiting",
    ]


def test_a_recording_that_the_server_has_deleted_is_not_offered(run):
    assert run(BEGIN + """
        kept = { file: "f1", elapsed: 2_000, expiresAt: new Date(Date.now() + 60_000).toISOString() };
        voice.restore();
        const before = voice.row.dataset.state;
        kept = { ...kept, expiresAt: new Date(Date.now() - 60_000).toISOString() };
        open();
        return [before, voice.row.dataset.state, kept ?? null];
    """) == ["ended", "waiting", None]


def test_a_recording_that_is_over_in_another_tab_is_over_here(run):
    """Not another one, nor one that is being written down."""
    assert run(BEGIN + """
        kept = { file: "f1", elapsed: 2_000 };
        voice.restore();
        voice.drop("voice 2");
        const before = voice.row.dataset.state;
        voice.drop("voice 1");
        const after = voice.row.dataset.state;
        voice.restore();
        hold("/v1/voice-files/f1/dictation");
        find("dictate").click();
        await begun("/v1/voice-files/f1/dictation");
        open();
        const meanwhile = voice.row.dataset.state;
        go("/v1/voice-files/f1/dictation");
        await begun("write good morning");
        await until("the end", () => !kept);
        return [before, after, meanwhile];
    """) == ["ended", "waiting", "waiting"]


def test_what_was_recorded_and_is_not_wanted_is_discarded(run):
    assert run(BEGIN + """
        await recordNow();
        open();
        await until("what is kept", () => kept);
        voice.restore();
        find("cancel-voice").click();
        await begun("/v1/voice-files/f1");
        return [did, kept ?? null, voice.row.dataset.state];
    """) == [["finish", "/v1/voice-files/f1"], None, "waiting"]


def test_what_was_recorded_is_not_kept_once_somebody_else_may_sign_in(run):
    """Neither by signing out, nor while it is finished."""
    assert run(BEGIN + """
        await recordNow();
        isSignedIn = false;
        open();
        await settle();
        const first = [...did];
        isSignedIn = true;
        await recordNow();
        hold("finish");
        voice.close();
        isSignedIn = false;
        go("finish");
        await begun("/v1/voice-files/f1");
        return [first, did, kept ?? null];
    """) == [["cancel"], ["finish", "/v1/voice-files/f1"], None]


def test_what_cannot_be_finished_when_the_chat_is_left_is_lost_and_said_to_be(run):
    assert run(BEGIN + """
        await recordNow();
        failure = new Problem({ type: "network" });
        voice.close();
        await until("the message", () => shownToasts().length === 1);
        return [did, kept ?? null];
    """) == [["finish", "cancel"], None]


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


@pytest.mark.parametrize(("is_signed_in", "done"), [(True, ["finish", "finish", "cancel"]), (False, ["finish", "cancel"])])
def test_what_cannot_be_sent_from_a_chat_that_was_left_is_discarded(run, is_signed_in, done):
    """If it can be finished no better a second time. Nothing is shown to whoever sits there after a sign-out."""
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
    assert discarded == done and reports == (1 if is_signed_in else 0)


def test_what_could_not_be_sent_from_a_chat_that_was_left_can_be_sent_there(run):
    assert run(BEGIN + """
        await recordNow();
        failure = new Problem({ type: "network" });
        hold("finish");
        find("send-voice").click();
        await begun("finish");
        const button = find("send-voice");
        Recorder.prototype.finish = async () => ({ file: "f2" });
        open();
        go("finish");
        await until("what is kept", () => kept);
        return [did, kept];
    """) == [["finish"], {"file": "f2", "elapsed": 2_000}]

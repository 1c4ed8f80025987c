"""chat/writing/composer.js, sync/thread-writes.js and sync/thread.js: what ends after the chat was left, after somebody else has signed in,
or after more was typed."""

import pytest

# Runs the rest with the field of a chat, of which `open()` makes another one; `scheduled` settles the request to send later.
BEGIN = """
    const { composer } = await load("chat/writing/composer.js");
    const { drafts } = await load("sync/drafts.js");
    const { outbox } = await load("sync/outbox.js");
    const { Recorder } = await load("voice/recorder.js");
    const { emptyThread } = await load("state/thread-rows.js");
    const { ThreadWrites } = await load("sync/thread-writes.js");
    const { settle, signIn, until } = await import("/tests/signed-in.js");
    signIn("ann");
    const scheduled = Promise.withResolvers();
    const heard = Promise.withResolvers();
    let dictations = 0;
    window.fetch = async (path) => {
        if (path === "/v1/dictation") {
            dictations += 1;
            await heard.promise;
        }
        return new Response(JSON.stringify({ voice: { maxSeconds: 60, maxBytes: 1_000_000 }, text: "in Rome" }));
    };
    let finished = Promise.resolve();
    Object.assign(Recorder.prototype, { start: async () => {}, cancel() {}, finish: async () => {
        await finished;
        return { blob: new Blob(["sound"]) };
    } });
    Object.defineProperty(Recorder.prototype, "elapsed", { get: () => 2_000 });
    class Thread extends ThreadWrites {
        me = "ann";
        state = emptyThread();
        schedule() { return scheduled.promise; }
        noteTyping() {}
    }
    const thread = new Thread("c1");
    let writing;
    let sent = 0;
    const open = () => {
        writing?.close();
        writing?.node.remove();
        writing = composer(thread, { onsend: () => { sent += 1; } });
        document.body.append(writing.node);
        writing.open();
    };
    const field = () => document.getElementById("write");
    const type = (text) => {
        field().value = text;
        field().dispatchEvent(new InputEvent("input"));
    };
    const click = (selector) => document.querySelector(selector).click();
    const draft = () => drafts.of("c1").text;
    open();
"""
SEND_LATER = BEGIN + """
    type("good morning");
    click("[data-action=send-later]");
    click("#send-time [data-later]");
    await until("the dialog to close", () => !document.getElementById("send-time"));
"""
DICTATE = BEGIN + """
    type("We met");
    click("[data-action=record]");
    await until("the recording", () => document.querySelector("#voice-composer[data-state=recording]"));
    click("[data-action=dictate]");
    await until("the request", () => dictations === 1);
    const dictation = document.querySelector("[data-action=dictate]");
    const ended = () => until("the end", () => !dictation.hasAttribute("aria-busy"));
"""

pytestmark = pytest.mark.usefixtures("other_origin")


def test_what_is_sent_later_leaves_the_field(run):
    assert run(SEND_LATER + """
        scheduled.resolve();
        await settle();
        return [field().value, draft()];
    """) == ["", ""]


def test_what_is_typed_while_it_is_sent_later_stays(run):
    assert run(SEND_LATER + """
        type("good morning, all");
        scheduled.resolve();
        await settle();
        return [field().value, draft()];
    """) == ["good morning, all"] * 2


@pytest.mark.parametrize("text", ["", "good morning, all"])
def test_what_is_sent_later_leaves_a_chat_that_was_opened_anew(run, text):
    """Unless more was typed there."""
    assert run(SEND_LATER + """
        open();
        if (text) type(text);
        const before = field().value;
        scheduled.resolve();
        await settle();
        return [before, field().value, draft()];
    """, text=text) == [text or "good morning", text, text]


def test_what_is_sent_later_by_who_has_signed_out_leaves_the_draft_of_the_next_user(run):
    assert run(SEND_LATER + """
        writing.close();
        drafts.reset();
        signIn("ben");
        drafts.write("c1", "good morning");
        scheduled.resolve();
        await settle();
        return draft();
    """) == "good morning"


def test_an_edit_is_not_ended_by_what_is_sent_later(run):
    assert run(SEND_LATER + """
        writing.edit({ clientID: "m1", text: "an older message" });
        scheduled.resolve();
        await settle();
        return [field().value, draft()];
    """) == ["an older message", ""]


def test_what_was_dictated_stands_after_what_was_written(run):
    assert run(DICTATE + """
        heard.resolve();
        await ended();
        return [field().value, draft()];
    """) == ["We met in Rome"] * 2


def test_what_was_dictated_in_a_chat_that_was_left_is_in_its_draft(run):
    """After what was typed since."""
    assert run(DICTATE + """
        open();
        type("We met in May,");
        heard.resolve();
        await ended();
        return [field().value, draft()];
    """) == ["We met in May, in Rome"] * 2


def test_a_voice_message_is_sent_from_a_chat_that_was_left(run):
    """What was typed there since stays."""
    assert run(BEGIN + """
        const { promise, resolve } = Promise.withResolvers();
        finished = promise;
        type("We met");
        click("[data-action=record]");
        await until("the recording", () => document.querySelector("#voice-composer[data-state=recording]"));
        click("[data-action=send-voice]");
        open();
        type("We met in May");
        resolve();
        await until("the message", () => outbox.list("c1").length === 1);
        return [field().value, draft(), sent];
    """) == ["We met in May", "We met in May", 0]


def test_what_was_dictated_by_who_has_signed_out_is_in_no_draft(run):
    assert run(DICTATE + """
        writing.close();
        signIn("ben");
        drafts.reset();
        heard.resolve();
        await ended();
        return draft();
    """) == ""


def test_what_is_written_by_who_has_signed_out_is_not_in_the_queue_of_the_next(run):
    assert run(BEGIN + """
        thread.send({ text: "hello" });
        thread.star({ number: 1 }, true);
        const before = outbox.all.map((one) => one.name);
        outbox.reset();
        signIn("ben");
        thread.send({ text: "hello" });
        thread.star({ number: 1 }, true);
        return [before, outbox.all];
    """) == [["messages.send", "messages.star"], []]


def test_a_thread_that_was_closed_does_not_change(run):
    assert run("""
        const { signIn, settle } = await import("/tests/signed-in.js");
        signIn("ann");
        const { Thread } = await load("sync/thread.js");
        const thread = new Thread("c1");
        await settle();
        const conversation = (version) => ({ conversation: { id: "c1", kind: "group", name: `version ${version}`, version } });
        let changes = 0;
        thread.apply(conversation(1));
        thread.on("change", () => { changes += 1; });
        thread.close();
        thread.apply(conversation(2));
        return [changes, thread.state.conversation.name];
    """) == [0, "version 1"]

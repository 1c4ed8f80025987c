"""chat/writing/composer.js, sync/thread-writes.js and sync/thread.js: what ends after the chat was left, after somebody else has signed in,
or after more was typed."""

import pytest

# Runs the rest with the field of a chat, of which `open()` makes another one; `scheduled` settles the request to send later.
BEGIN = """
    const { composer } = await load("chat/writing/composer.js");
    const { drafts } = await load("sync/drafts.js");
    const { localDrafts } = await load("sync/local-drafts.js");
    const { outbox } = await load("sync/outbox.js");
    const { Problem } = await load("connection/problems.js");
    const { realtime } = await load("connection/realtime.js");
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
    const messages = [4, 5, 6].map((number) => ({ number, version: 1, textVersion: 1, author: "ann", kind: "text", text: `message ${number}` }));
    const asked = [];
    class Thread extends ThreadWrites {
        me = "ann";
        state = emptyThread();
        schedule(message, time, clientID) {
            asked.push(["schedule", clientID]);
            return scheduled.promise;
        }
        noteTyping() {}
        nameOf(user) { return user; }
        async find(number) {
            const found = messages.find((one) => one.number === number);
            if (!found) throw new Problem({ type: "not_found", status: 404 });
            return found;
        }
    }
    const thread = new Thread("c1");
    let writing;
    let sent = 0;
    const open = (root) => {
        writing?.close();
        writing?.node.remove();
        writing = composer(thread, { root, onsend: () => { sent += 1; } });
        document.body.append(writing.node);
        writing.open();
    };
    const field = () => writing.node.querySelector("textarea");
    const type = (text) => {
        field().value = text;
        field().dispatchEvent(new InputEvent("input"));
    };
    const press = (key) => field().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const target = () => writing.node.querySelector(".about .hint")?.textContent ?? "";
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


EDITING, REPLYING = "Editing", "Replying to"


def test_an_edit_goes_on_when_the_chat_is_opened_again(run):
    """As after a change of the language, and after another chat."""
    assert run(BEGIN + """
        type("a draft");
        writing.edit(messages[1]);
        type("message five");
        open();
        await settle();
        const again = [field().value, target()];
        press("Escape");
        const cancelled = [field().value, target()];
        open();
        await settle();
        return [again, cancelled, [field().value, target()]];
    """) == [["message five", EDITING], ["a draft", ""], ["a draft", ""]]


def test_an_edit_that_has_changed_nothing_is_over_with_the_chat(run):
    assert run(BEGIN + """
        writing.edit(messages[1]);
        type("message 5!");
        type("message 5");
        open();
        await settle();
        return [field().value, target()];
    """) == ["", ""]


def test_a_message_that_is_gone_is_not_edited_on(run):
    assert run(BEGIN + """
        writing.edit({ ...messages[1], number: 9 });
        type("message nine");
        open();
        await settle();
        return [field().value, target(), localDrafts.openEdit("c1") ?? null];
    """) == ["", "", None]


def test_a_message_that_cannot_be_asked_for_is_edited_on_later(run):
    assert run(BEGIN + """
        writing.edit(messages[1]);
        type("message five");
        const { find } = Thread.prototype;
        Thread.prototype.find = async () => { throw new Problem({ type: "network" }); };
        open();
        await settle();
        const before = field().value;
        Thread.prototype.find = find;
        open();
        await settle();
        return [before, field().value];
    """) == ["", "message five"]


def test_an_edit_of_a_message_that_was_stored_meanwhile_ends(run):
    """It was begun while the message waited, by the client's id of it."""
    assert run(BEGIN + """
        writing.edit({ clientID: "m7", text: "helo" });
        type("hello");
        writing.close();
        const stored = { ...messages[1], number: 7, clientID: "m7", text: "helo" };
        const { withMessages } = await load("state/blocks.js");
        thread.state = { ...thread.state, blocks: withMessages([], [stored], (one, other) => other) };
        open();
        await settle();
        const again = [field().value, target()];
        press("Escape");
        await settle();
        const ended = [field().value, target()];
        open();
        await settle();
        return [again, ended, [field().value, target()]];
    """) == [["hello", EDITING], ["", ""], ["", ""]]


def test_what_was_typed_before_the_chat_was_there_is_gone_on_with(run):
    assert run(BEGIN + """
        writing.edit(messages[1]);
        type("message five");
        writing.close();
        writing.node.remove();
        writing = composer(thread, {});
        document.body.append(writing.node);
        type("quick");
        writing.open();
        await settle();
        const typed = [field().value, target()];
        open();
        await settle();
        return [typed, [field().value, target()]];
    """) == [["quick", ""], ["message five", EDITING]]


def test_an_edit_in_another_tab_is_not_taken_over(run):
    """It is known here, and is no text of this field; one of a thread is not shown in the chat."""
    assert run(BEGIN + """
        localDrafts.write("c1", "edit 5", { number: 5, text: "in another tab", isOpen: true });
        type("hello");
        press("Enter");
        await settle();
        const first = [field().value, target()];
        localDrafts.end("c1", "edit 5");
        localDrafts.write("c1", "edit 6", { number: 6, root: 4, text: "in a thread", isOpen: true });
        open();
        await settle();
        const chat = target();
        open(4);
        await settle();
        return [first, chat, [field().value, target()]];
    """) == [["", ""], "", ["in a thread", EDITING]]


def test_an_edit_that_was_left_does_not_replace_a_newer_text_unseen(run):
    """The server compares the version with which it was begun; once it has refused, one may go on."""
    assert run(BEGIN + """
        writing.edit(messages[1]);
        type("message five");
        writing.close();
        messages[1] = { ...messages[1], textVersion: 9, text: "from the phone" };
        open();
        await settle();
        press("Enter");
        await settle();
        const { params } = outbox.all[0];
        outbox.emit("refused", { entry: { conversation: "c1", name: "messages.edit", params }, text: "" });
        await settle();
        press("Enter");
        await settle();
        return [params.textVersion, outbox.all.at(-1).params.text, outbox.all.length];
    """)[:2] == [1, "message five"]


def test_two_recordings_are_both_kept(run):
    assert run(BEGIN + """
        localDrafts.offer("c1", "voice 1", { file: "f1", elapsed: 2_000 });
        localDrafts.offer("c1", "voice 2", { file: "f2", elapsed: 3_000 });
        const files = () => outbox.list("c1").map((one) => one.file);
        for (const count of [1, 2]) {
            open();
            click("[data-action=send-voice]");
            await until("the message", () => outbox.list("c1").length === count);
            await settle();
        }
        return [files(), localDrafts.isEmpty];
    """) == [["f1", "f2"], True]


def test_a_reply_that_is_begun_while_editing_is_a_reply(run):
    """The draft is its text, and the edit goes on when the message is edited again."""
    assert run(BEGIN + """
        type("a draft");
        writing.edit(messages[1]);
        type("message five");
        writing.reply(messages[0]);
        const reply = [field().value, target()];
        press("Enter");
        const { text, replyTo } = outbox.list("c1")[0];
        writing.edit(messages[1]);
        return [reply, [text, replyTo], [field().value, target()]];
    """) == [["a draft", REPLYING], ["a draft", 4], ["message five", EDITING]]


def test_each_edit_has_its_own_text(run):
    assert run(BEGIN + """
        writing.edit(messages[1]);
        type("message five");
        writing.edit(messages[2]);
        const other = field().value;
        type("message six");
        writing.edit(messages[1]);
        return [other, field().value];
    """) == ["message 6", "message five"]


def test_an_edit_that_was_sent_is_over(run):
    assert run(BEGIN + """
        writing.edit(messages[1]);
        type("message five");
        press("Enter");
        await settle();
        const after = [field().value, target()];
        open();
        await settle();
        return [after, [field().value, target()], outbox.all.map((one) => [one.name, one.params.text])];
    """) == [["", ""], ["", ""], [["messages.edit", "message five"]]]


@pytest.mark.parametrize("written", ["", "something else"])
def test_an_edit_that_was_refused_is_where_it_was_written(run, written):
    """Once nothing else is written there."""
    assert run(BEGIN + """
        type(written);
        outbox.emit("refused", { entry: { conversation: "c1", name: "messages.edit", params: { number: 5, text: "message five", textVersion: 1 } }, text: "" });
        await settle();
        const first = [field().value, target()];
        if (written) press("Enter");
        await settle();
        return [first, [field().value, target()]];
    """, written=written) == [[written, ""] if written else ["message five", EDITING], ["message five", EDITING]]


def test_an_edit_that_was_refused_is_there_when_the_chat_is_opened(run):
    assert run(BEGIN + """
        writing.close();
        outbox.emit("refused", { entry: { conversation: "c1", name: "messages.edit", params: { number: 5, text: "message five", textVersion: 1 } }, text: "" });
        open();
        await settle();
        return [field().value, target()];
    """) == ["message five", EDITING]


def test_what_is_written_in_a_thread_stays_there(run):
    """Neither in the chat nor in another thread, until it is sent."""
    assert run(BEGIN + """
        type("in the chat");
        open(4);
        type("in the thread");
        open(5);
        const other = field().value;
        open();
        const chat = field().value;
        open(4);
        const again = field().value;
        press("Enter");
        open(4);
        const { text, thread: root } = outbox.list("c1")[0];
        return [other, chat, again, [text, root], field().value, draft()];
    """) == ["", "in the chat", "in the thread", ["in the thread", 4], "", "in the chat"]


def test_what_was_written_by_who_has_signed_out_is_not_in_the_thread_of_the_next(run):
    assert run(BEGIN + """
        open(4);
        type("in the thread");
        localDrafts.reset();
        open(4);
        return field().value;
    """) == ""


def test_what_was_recorded_is_there_when_the_chat_is_opened_again(run):
    assert run(BEGIN + """
        const row = () => writing.node.querySelector("#voice-composer");
        click("[data-action=record]");
        await until("the recording", () => row().dataset.state === "recording");
        open();
        await until("what was recorded", () => row().dataset.state === "ended");
        click("[data-action=send-voice]");
        await until("the message", () => outbox.list("c1").length === 1);
        open();
        return row().dataset.state;
    """) == "waiting"


def test_what_is_scheduled_again_after_its_response_was_lost_is_scheduled_once(run):
    """It gets the new time if the server has it; another text is another message."""
    assert run(SEND_LATER + """
        const later = async (text) => {
            type(text);
            click("[data-action=send-later]");
            click("#send-time [data-later]");
            await until("the dialog to close", () => !document.getElementById("send-time"));
            await settle();
        };
        realtime.state = "online";
        realtime.request = async (name, { clientID }) => {
            asked.push([name, clientID]);
            if (isLost) throw new Problem({ type: "not_found", status: 404 });
            return {};
        };
        let isLost = false;
        scheduled.reject(new Problem({ type: "timeout" }));
        await settle();
        const first = [field().value, asked.splice(0)];
        await later("good morning");
        const second = [field().value, asked.splice(0)];
        isLost = true;
        await later("good evening");
        await later("good evening");
        const third = asked.splice(0);
        const same = (one, other) => one[1] === other[1];
        return [first[0], second[0], second[1].map(([name]) => name), same(first[1][0], second[1][0]),
            third.map(([name]) => name), same(third[0], second[1][0]), same(third[0], third[1]) && same(third[1], third[2])];
    """) == ["good morning", "", ["scheduled.update"], True, ["schedule", "scheduled.update", "schedule"], False, True]

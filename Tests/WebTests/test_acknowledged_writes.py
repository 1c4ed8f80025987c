"""What the server has acknowledged is shown without it, also if the connection breaks before a stream has said so, and the
page ends at once (sync/outbox.js, store/cache.js, state/results.js)."""

import pytest

PAGES = """
    const { CONVERSATION, HeldServer, message, messages, openPage, shownAfter, shownOffline, until } = await import("/tests/offline-pages.js");
    const own = (more) => ({ number: 3, starred: false, reacted: [], counter: 40, ...more });
    const sent = (number) => ({ clientID, text }) => ({ message: message(number, { version: 40, clientID, text }) });
    const change = (name, params) => (page) => page.outbox.change(CONVERSATION, name, params, name);
    const changed = (of, more) => () => ({ message: { ...messages[of - 1], version: 40, ...more } });
"""
IS_OPEN = pytest.mark.parametrize("is_open", [True, False], ids=["open", "not open"])
TEXTS = ["text 1", "text 2", "text 3"]
# What is written, the server's response to it, what is shown then, and how that should be.
WRITES = {
    "a message": ("(page) => page.outbox.send(CONVERSATION, { text: 'new' })", "{ 'messages.send': sent(4) }", "[texts, range]", [[*TEXTS, "new"], [1, 4]]),
    "a message that overtook others": (
        "(page) => page.outbox.send(CONVERSATION, { text: 'new' })", "{ 'messages.send': sent(6) }", "[texts, range]", [[*TEXTS, "new"], [1, 3]],
    ),
    "an edit": (
        "change('messages.edit', { number: 2, text: 'other', textVersion: 12 })", "{ 'messages.edit': changed(2, { text: 'other' }) }",
        "texts", ["text 1", "other", "text 3"],
    ),
    "a deletion": (
        "change('messages.delete', { number: 2, for: 'all' })",
        "{ 'messages.delete': changed(2, { text: undefined, deletedAt: '2026-01-02T00:00:00Z' }) }", "texts", ["text 1", "deleted", "text 3"],
    ),
    "a deletion for oneself": (
        "change('messages.delete', { number: 3, for: 'me' })", "{ 'messages.delete': () => ({ own: own({ hidden: true }) }) }", "texts", ["text 1", "text 2"],
    ),
    "a reaction": (
        "change('messages.react', { number: 3, emoji: '+' })", "{ 'messages.react': changed(3, { reactions: { '+': { count: 1, users: ['me'] } } }) }",
        "state.blocks[0].messages[2].reactions", {"+": {"count": 1, "users": ["me"]}},
    ),
    "a star": ("change('messages.star', { number: 3 })", "{ 'messages.star': () => ({ own: own({ starred: true }) }) }", "state.starred", {"3": True}),
    "a pin": (
        "change('messages.pin', { number: 3 })", "{ 'messages.pin': () => ({ conversation: { id: 'v', pins: [3], version: 40 } }) }",
        "state.conversation.pins", [3],
    ),
    "a read mark": (
        "(page) => page.inbox.markRead(CONVERSATION, 3)", "{ 'conversations.mark': () => ({ read: 3, delivered: 3 }) }",
        "[state.read, row.unread, row.membership.read]", [3, 0, 3],
    ),
    "a clearing": (
        "change('conversations.clear', { upTo: 2 })", "{ 'conversations.clear': () => undefined }", "[texts, range]", [["text 3"], [3, 3]],
    ),
} | {
    f"that it is {field}": (
        f"(page) => page.inbox.keep(CONVERSATION, {{ {field}: {value} }})",
        f"{{ 'members.updateMe': () => ({{ membership: {{ {field}: {value} }} }}) }}", f"row.membership.{field}", want,
    )
    for field, value, want in [("muted", "{ mentions: true }", {"mentions": True}), ("archived", "true", True), ("pinned", "true", True)]
}


@pytest.fixture(autouse=True)
def empty(page):
    yield
    page.run(
        "for (const { name } of await indexedDB.databases()) await new Promise((done) => {"
        " const one = indexedDB.deleteDatabase(name); one.onsuccess = one.onblocked = one.onerror = done; });"
        "localStorage.clear(); sessionStorage.clear();"
    )


@IS_OPEN
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_what_was_acknowledged_is_shown_offline(run, write, is_open):
    written, results, shown, want = write
    script = f"const {{ texts, state, row, range }} = await shownAfter({written}, {results}, isOpen); return {shown};"
    assert run(PAGES + script, isOpen=is_open) == want


@IS_OPEN
def test_a_draft_that_was_saved_is_shown_offline(run, is_open):
    script = PAGES + """
        const write = async (page) => {
            page.drafts.write(CONVERSATION, "half");
            await page.drafts.save(CONVERSATION);
        };
        const results = { "members.updateMe": ({ draft }) => ({ membership: { draft } }) };
        return (await shownAfter(write, results, isOpen)).draft;
    """
    assert run(script, isOpen=is_open) == "half"


def test_a_message_is_the_last_of_the_list_before_its_row_has_come(run):
    script = PAGES + """
        const { row } = await shownAfter((page) => page.outbox.send(CONVERSATION, { text: "new" }), { "messages.send": sent(6) }, false);
        return [row.lastMessage.number, row.lastMessage.text, row.counter];
    """
    assert run(script) == [6, "new", 1]


def test_a_message_whose_frame_comes_before_its_response(run):
    script = PAGES + """
        const write = async (page, server) => {
            const clientID = page.outbox.send(CONVERSATION, { text: "new" });
            await until(() => server.requests.some(({ request }) => request === "messages.send"), "the request");
            server.tell([{ message: message(4, { version: 21, clientID, text: "new" }) }], 21);
        };
        return (await shownAfter(write, {}, true)).texts;
    """
    assert run(script) == [*TEXTS, "new"]


@IS_OPEN
def test_a_message_that_overtook_others_hides_none_of_them(run, is_open):
    """The server is asked for what comes after the newest range, and what it has then is in it."""
    script = PAGES + """
        await shownAfter((page) => page.outbox.send(CONVERSATION, { text: "new" }), { "messages.send": sent(6) }, isOpen);
        const server = new HeldServer();
        const page = await openPage(server);
        const thread = await page.open();
        const before = page.shown(thread);
        page.realtime.reconnect();
        const hellos = () => server.requests.filter(({ hello }) => hello?.resume["conversation:v"]);
        await until(() => hellos().length > 0, "the hello");
        server.tell([4, 5, 6].map((number) => ({ message: message(number, { version: 40 + number }) })), 46);
        await until(() => thread.state.last === 6, "the rows");
        await until(async () => (await page.storage.cache.thread(CONVERSATION)).thread.last === 6, "saving");
        const after = page.shown(thread);
        page.end();
        const offline = await shownOffline();
        return [before.texts, hellos()[0].hello.resume["conversation:v"], after.texts, offline.texts, offline.range];
    """
    whole = [*TEXTS, "text 4", "text 5", "text 6"]
    assert run(script, isOpen=is_open) == [[*TEXTS, "new"], ["e", 20, 1, 3], whole, whole, [1, 6]]


def test_another_tab_does_not_show_it_as_waiting_again(run):
    """The entry is on disk until what its response says is there."""
    script = PAGES + """
        const [one, other] = [await openPage(new HeldServer({ "messages.star": () => ({ own: own({ starred: true }) }) })), await openPage(new HeldServer())];
        await one.open();
        one.storage.cache.saveResult = () => new Promise(() => {});
        const star = one.outbox.change(CONVERSATION, "messages.star", { number: 3 });
        await until(() => one.outbox.all.length === 0 && other.outbox.all.length === 0, "the star");
        one.outbox.change(CONVERSATION, "messages.pin", { number: 3 });
        await until(() => other.outbox.all.length > 0, "the pin");
        const found = [other.outbox.all.map((entry) => entry.name), (await other.storage.queue.load()).entries.map((entry) => entry.name)];
        for (const page of [one, other]) page.end();
        return found;
    """
    assert run(script) == [["messages.pin"], ["messages.star", "messages.pin"]]


def test_nothing_is_removed_from_the_queue_of_the_next_user(run):
    script = PAGES + """
        const page = await openPage(new HeldServer({ "messages.star": () => ({ own: own({ starred: true }) }) }));
        await page.open();
        let write;
        page.storage.cache.saveResult = () => new Promise((resolve) => { write = resolve; });
        page.outbox.change(CONVERSATION, "messages.star", { number: 3 });
        await until(() => write, "the response");
        page.outbox.reset();
        let removed = 0;
        page.storage.queue.remove = async () => { removed += 1; };
        write();
        await new Promise((resolve) => setTimeout(resolve, 20));
        page.end();
        return removed;
    """
    assert run(script) == 0

"""The databases of the web client in a real browser: store/."""

import pytest

NAMES = ["queue.u1", "cache.2.u1", "cache.2.u2", "cache.0.u1", "queue.u2", "queue.u3"]

STORE = """
    const { QueueStore } = await load("store/outbox-store.js");
    const { Cache } = await load("store/cache.js");
    const failures = [];
    const made = async (one, name) => {
        one.on("failed", (error) => failures.push(error.name));
        await one.open(name);
        return one;
    };
    const message = (number, version = number) => ({ conversation: "v", number, version, sentAt: `2026-01-01T00:00:${10 + number}Z`, text: `text ${number}` });
    const messages = (first, last) => Array.from({ length: last - first + 1 }, (_, index) => message(first + index));
    const record = (sequence, first, last, more = {}) => ({ position: ["e", sequence], marks: ["e", 1], first, last, hasEarlier: first > 1, read: 0,
        delivered: {}, shown: {}, conversation: { id: "v" }, openedAt: 1, ...more });
    const changes = (list, isReplaced = false) => ({ messages: list, own: [], isReplaced });
    const roster = { members: {}, people: { ann: { id: "ann" } } };
    const heldAll = async (cache) => {
        const { first } = await cache.thread("v");
        return [(await cache.page("v", first, 1_000)).messages.map((one) => one.number), first];
    };
    const held = async (cache) => {
        const found = await cache.thread("v");
        return found && { numbers: found.thread.blocks.flatMap((one) => one.messages.map(({ number }) => number)), first: found.first, position: found.position };
    };
"""


@pytest.fixture(autouse=True)
def empty(page):
    page.run(
        "for (const { name } of await indexedDB.databases()) await new Promise((done) => {"
        " const one = indexedDB.deleteDatabase(name); one.onsuccess = one.onblocked = one.onerror = done; });"
        "localStorage.clear();"
    )


def test_the_queue_keeps_its_order(run):
    script = STORE + """
        const one = await made(new QueueStore(), "queue.u1");
        const orders = [await one.add({ clientID: "a" }), await one.add({ clientID: "b" }), await one.add({ clientID: "c", blob: new Blob(["sound"]) }, [1])];
        await one.update(2, { state: "failed" });
        // What somebody else has removed does not come back.
        await one.update(1, { state: "failed" });
        await one.putDraft({ conversation: "v", draft: { text: "half" } });
        one.close();
        const found = await (await made(new QueueStore(), "queue.u1")).load();
        return [orders, found.entries.map((entry) => [entry.order, entry.clientID, entry.state ?? null]), await found.entries[1].blob.text(), found.drafts, failures];
    """
    assert run(script) == [
        [1, 2, 3], [[2, "b", "failed"], [3, "c", None]], "sound", [{"conversation": "v", "draft": {"text": "half"}}], [],
    ]


def test_what_is_added_at_the_same_instant_is_one_write(run):
    script = STORE + """
        const one = await made(new QueueStore(), "queue.u1");
        await one.add({ clientID: "old" });
        const native = IDBDatabase.prototype.transaction;
        let writes = 0;
        IDBDatabase.prototype.transaction = function (...values) { writes += 1; return native.apply(this, values); };
        const orders = await Promise.all(["a", "b", "c"].map((clientID) => one.add({ clientID }, clientID === "b" ? [1] : [])));
        const next = await one.add({ clientID: "d" });
        IDBDatabase.prototype.transaction = native;
        one.close();
        const found = await (await made(new QueueStore(), "queue.u1")).load();
        return [writes, orders, next, found.entries.map((entry) => entry.clientID), failures];
    """
    assert run(script) == [2, [2, 3, 4], 5, ["a", "b", "c", "d"], []]


DURABILITY = STORE + """
    const { transaction } = IDBDatabase.prototype;
    const writes = [];
    IDBDatabase.prototype.transaction = function (names, mode, options) {
        if (mode === "readwrite") writes.push([[...names].sort().join(" "), options?.durability]);
        return transaction.call(this, names, mode, options);
    };
    const restored = (value) => { IDBDatabase.prototype.transaction = transaction; return value; };
"""


def test_drafts_are_on_the_disk_and_many_are_few_writes(run):
    """While one is written the last of each waits, and what has no value any more is removed."""
    assert run(DURABILITY + """
        const store = await made(new QueueStore(), "queue.u1");
        const draft = (text) => ({ conversation: "c1", draft: { text } });
        const local = (value) => ({ conversation: "c1 thread 4", of: "c1", what: "thread 4", value });
        store.putDraft(local({ text: "a reply" }));
        for (let index = 0; index < 100; index += 1) store.putDraft(draft(`text ${index}`));
        await store.putDraft(draft("the last"));
        const { drafts } = await store.load();
        const first = [drafts.map((one) => one.draft?.text ?? one.value.text), writes.splice(0)];
        await store.putDraft(local());
        // The page is closed while one is written.
        store.putDraft(draft("before"));
        store.putDraft(draft("at the end"));
        store.close();
        const again = await made(new QueueStore(), "queue.u1");
        return restored([first, (await again.load()).drafts, failures]);
    """) == [
        [["the last", "a reply"], [["drafts", "strict"]] * 2],
        [{"conversation": "c1", "draft": {"text": "at the end"}}], [],
    ]


def test_drafts_are_written_again_after_a_full_disk(run):
    assert run(DURABILITY + """
        const store = await made(new QueueStore(), "queue.u1");
        store.makeRoom = async () => { throw new DOMException("full", "QuotaExceededError"); };
        const { put } = IDBObjectStore.prototype;
        let isFull = true;
        IDBObjectStore.prototype.put = function (value) {
            if (isFull) { isFull = false; throw new DOMException("full", "QuotaExceededError"); }
            return put.call(this, value);
        };
        await store.putDraft({ conversation: "c1", draft: { text: "one" } });
        IDBObjectStore.prototype.put = put;
        await store.putDraft({ conversation: "c2", draft: { text: "two" } });
        return restored([(await store.load()).drafts.map((one) => one.draft.text), failures]);
    """) == [["one", "two"], []]


def test_what_was_acknowledged_is_on_the_disk_before_it_leaves_the_queue(run):
    assert run(DURABILITY + """
        const cache = await made(new Cache(), "cache.2.u1");
        await cache.saveThread("v", record(1, 1, 2), roster, changes(messages(1, 2)), 1);
        writes.length = 0;
        await cache.saveResult({ conversation: "v", clientID: "m", name: "messages.send", params: { text: "new" } }, { message: message(3) });
        return restored(writes.map(([, durability]) => durability));
    """) == ["strict"]


def test_without_a_database_it_goes_on_in_memory(run):
    """Where there is none, where the browser refuses, and where nothing is to be kept."""
    script = STORE + """
        const orders = [];
        const native = IDBFactory.prototype.open;
        for (const open of [() => { throw new DOMException("no", "SecurityError"); }, undefined]) {
            IDBFactory.prototype.open = open ?? native;
            const one = await made(new QueueStore(), open && "queue.u1");
            const cache = await made(new Cache(), open && "cache.2.u1");
            orders.push([await one.add({ clientID: "a" }), await one.add({ clientID: "b" }), one.isOnDisk, await cache.thread("v") ?? null,
                await cache.saveThread("v", record(1, 1, 1), roster, changes([message(1)], true)) ?? null]);
        }
        return [orders, failures];
    """
    assert run(script) == [[[1, 2, False, None, None], [1, 2, False, None, None]], ["SecurityError", "SecurityError"]]


def test_what_is_deleted_under_it_is_noticed_once(run):
    script = STORE + """
        const one = await made(new QueueStore(), "queue.u1");
        await one.add({ clientID: "a" });
        await new Promise((done) => { indexedDB.deleteDatabase("queue.u1").onsuccess = done; });
        return [await one.add({ clientID: "b" }), one.isOnDisk, failures];
    """
    assert run(script) == [2, False, ["InvalidStateError"]]


def test_a_thread_is_read_from_where_it_was_left(run):
    script = STORE + """
        const cache = await made(new Cache(), "cache.2.u1");
        await cache.saveThread("v", record(300, 1, 300), roster, changes(messages(1, 300), true));
        await cache.saveThread("v", record(301, 1, 300), undefined, { messages: [message(7, 301), message(8, 1)], own: [{ number: 9, hidden: true, reacted: [] }], isReplaced: false }, 1);
        cache.close();
        const again = await made(new Cache(), "cache.2.u1");
        const { thread, first, position, marks } = await again.thread("v");
        const page = await again.page("v", 1, 10);
        return [thread.blocks.flatMap((one) => one.messages).length, thread.first, thread.hasEarlier, thread.people.ann.id, first, position, marks,
            page.messages.map((one) => one.version), page.own.map((one) => one.number), page.range, failures];
    """
    assert run(script) == [
        200, 101, True, "ann", 1, ["e", 301], ["e", 1], [1, 2, 3, 4, 5, 6, 301, 8, 9, 10], [9], [1, 10], [],
    ]


def test_two_tabs_write_one_thread(run):
    script = STORE + """
        const [one, other] = [await made(new Cache(), "cache.2.u1"), await made(new Cache(), "cache.2.u1")];
        await one.saveThread("v", record(10, 6, 10), roster, changes(messages(6, 10), true));
        await other.saveThread("v", record(10, 1, 10), roster, changes(messages(1, 5)), 6);
        await one.saveThread("v", record(11, 6, 11), undefined, changes([message(11)]), 6);
        const joined = await held(other);
        // One that is behind changes no position, and no row with a lower version.
        await other.saveThread("v", record(10, 1, 10), undefined, changes([message(11, 3)]), 1);
        const text = (await one.page("v", 11, 11)).messages[0].version;
        // Another epoch has other versions.
        await other.saveThread("v", record(2, 1, 2, { position: ["f", 2] }), roster, changes([message(1, 1), message(2, 2)], true));
        const restored = await held(one);
        await one.saveThread("v", record(12, 6, 12), undefined, changes([message(12)]), 6);
        return [joined, text, restored, await held(one)];
    """
    restored = {"numbers": [1, 2], "first": 1, "position": ["f", 2]}
    joined = {"numbers": list(range(1, 12)), "first": 1, "position": ["e", 11]}
    assert run(script) == [joined, 11, restored, restored]


def test_results_are_written_where_their_conversation_is(run):
    """A message before its range stays with its page, and older copies change nothing."""
    script = STORE + """
        const cache = await made(new Cache(), "cache.2.u1");
        const entry = (name, params = {}, conversation = "v") => ({ name, params, conversation });
        const own = (counter, more) => ({ own: { number: 7, starred: false, reacted: [], counter, ...more } });
        await cache.saveThread("v", record(10, 6, 10), roster, changes(messages(6, 10), true));
        await cache.saveResult(entry("messages.send"), { message: message(12, 20) });
        await cache.saveResult(entry("messages.send"), { message: message(11, 20) });
        await cache.saveResult(entry("messages.edit"), { message: message(3, 20) });
        await cache.saveResult(entry("messages.edit"), { message: { ...message(9, 1), text: "older" } });
        await cache.saveResult(entry("messages.star"), own(5, { starred: true, listened: true }));
        await cache.saveResult(entry("messages.delete"), own(4, { hidden: true }));
        await cache.saveResult(entry("messages.send", {}, "w"), { message: { ...message(1), conversation: "w" } });
        const { thread, first, position } = await cache.thread("v");
        const all = await cache.page("v", 0, 100);
        const found = [all.messages.map((one) => one.number), all.messages[3].text, thread.last, first, position, thread.starred, thread.hidden, thread.listened];
        await cache.saveResult(entry("conversations.delete", { upTo: 11, for: "me" }));
        return [found, (await cache.page("v", 0, 100)).messages.map((one) => one.number), await cache.thread("w") ?? null, failures];
    """
    found = [[6, 7, 8, 9, 10, 11, 12], "text 9", 11, 6, ["e", 10], {"7": True}, {"7": True}, {"7": True}]
    assert run(script) == [found, [12], None, []]


def test_results_end_translations_of_former_texts_and_outlive_older_copies(run):
    """A message after the range is not in it: an older copy may come later, and it is not what a day begins with."""
    script = STORE + """
        const cache = await made(new Cache(), "cache.2.u1");
        const entry = (name, params = {}) => ({ name, params, conversation: "v" });
        const row = (number) => ({ number, of: number, language: "en", status: "done", text: `t${number}`, touched: 1 });
        const translated = async () => (await cache.page("v", 0, 100)).translations.map((one) => one.number);
        await cache.saveThread("v", record(1, 1, 4), roster,
            { ...changes(messages(1, 4), true), translations: { put: [1, 2, 3, 4].map(row), gone: [], isReplaced: true } });
        await cache.saveResult(entry("messages.edit"), { message: { ...message(2, 20), textVersion: 20, editedAt: "now" } });
        await cache.saveResult(entry("messages.delete"), { message: { ...message(3, 21), deletedAt: "now" } });
        await cache.saveResult(entry("messages.send"), { message: { ...message(6, 22), text: "newer" } });
        await cache.saveThread("v", record(2, 1, 4), undefined, changes([message(6, 7), message(7)]), 1);
        const found = [await translated(), (await cache.page("v", 5, 7)).messages.map((one) => one.text),
            await cache.firstFrom("v", Date.parse(message(4).sentAt)), await cache.firstFrom("v", Date.parse(message(6).sentAt) + 1) ?? null];
        await cache.saveResult(entry("conversations.clear", { upTo: 1 }));
        return [...found, await translated(), failures];
    """
    assert run(script) == [[1, 4], ["newer", "text 7"], 4, None, [4], []]


@pytest.mark.parametrize("kind", ["another tab", "the bound"])
def test_what_was_removed_under_a_thread_is_no_hole_later(run, kind):
    """Another tab that had nothing of it writes its own window, or room is made: what is before it is not claimed."""
    script = STORE + """
        const { HeldThread } = await load("sync/thread-cache.js");
        const { realtime } = await load("connection/realtime.js");
        const { noBlocks, withMessages } = await load("state/blocks.js");
        const { emptyThread } = await load("state/thread-rows.js");
        const { storage } = await load("store/storage.js");
        const { cache } = storage;
        const all = messages(1, 60);
        await cache.open("cache.2.u1");
        realtime.listen("conversation:v", ["e", 30]);
        const thread = (first, last) => ({ ...emptyThread(), isLoaded: true, conversation: { id: "v" }, first, last, hasEarlier: first > 1,
            blocks: withMessages(noBlocks, all.slice(first - 1, last), (_, one) => one) });
        let state = thread(18, 60);
        const [one, other] = [new HeldThread("v", () => state), new HeldThread("v", () => thread(18, 60))];
        const found = [];
        for (const first of [18, 12, 6, 6]) {
            state = thread(first, 60);
            await one.save();
            if (first === 12 && kind === "another tab") await other.save();
            if (first === 12 && kind === "the bound") await cache.saveThread("v", record(30, 18, 60), undefined, changes(messages(18, 60), true));
            found.push(await heldAll(cache));
        }
        cache.close();
        realtime.forget("conversation:v");
        return found;
    """
    # From the first number on that the record speaks for, each is there.
    assert all(numbers == list(range(first, 61)) for numbers, first in run(script, kind=kind))


def test_the_first_message_from_a_time_on(run):
    """Numbers may be missing: messages that the user has not seen."""
    script = STORE + """
        const cache = await made(new Cache(), "cache.2.u1");
        await cache.saveThread("v", record(1, 10, 40), roster, changes(messages(10, 40).filter(({ number }) => number % 3 === 1), true));
        const second = (number) => Date.parse(message(number).sentAt);
        return [await cache.firstFrom("v", second(1)), await cache.firstFrom("v", second(22)), await cache.firstFrom("v", second(22) + 1),
            await cache.firstFrom("v", second(40)), await cache.firstFrom("v", second(40) + 1) ?? null, await cache.firstFrom("w", 0) ?? null];
    """
    assert run(script) == [10, 22, 25, 40, None, None]


def test_a_search_in_one_conversation_reads_that_one(run):
    assert run(STORE + """
        const cache = await made(new Cache(), "cache.2.u1");
        for (const id of ["v", "w"]) {
            const list = messages(1, 2).map((one) => ({ ...one, conversation: id, text: `${one.text} of ${id}` }));
            await cache.saveThread(id, { ...record(1, 1, 2), conversation: { id } }, roster, changes(list, true));
        }
        const read = async (id) => {
            const found = [];
            await cache.visit((list) => found.push(...list.map((one) => one.text)), id);
            return found;
        };
        const { getAll } = IDBObjectStore.prototype;
        const ranges = [];
        IDBObjectStore.prototype.getAll = function (range, count) { ranges.push(range.lower[0]); return getAll.call(this, range, count); };
        const one = await read("w");
        IDBObjectStore.prototype.getAll = getAll;
        return [one, [...new Set(ranges)], (await read()).length];
    """) == [["text 1 of w", "text 2 of w"], ["w"], 4]


def test_what_was_unopened_for_longest_makes_room(run):
    script = STORE + """
        const cache = await made(new Cache({ bound: 8_000 }), "cache.2.u1");
        const save = (id, openedAt, count) => cache.saveThread(id, record(1, 1, count, { openedAt }), roster, changes(messages(1, count), true));
        await save("old", 1, 3_000);
        await save("new", 2, 3_000);
        await cache.makeRoom();
        const sizes = [];
        for (const id of ["old", "new"]) sizes.push((await cache.page(id, 1, 3_000)).messages.length);
        const { first, hasEarlier } = await cache.thread("old");
        const left = [];
        for (let turn = 0; turn < 3; turn += 1) { await cache.makeRoom(); left.push(cache.isOnDisk); }
        return [sizes, first, hasEarlier, left, failures];
    """
    assert run(script) == [[50, 3_000], 2_951, True, [True, True, False], ["QuotaExceededError"]]


def test_a_full_disk_is_given_up_in_steps(page, other_origin, run):
    """The cache gives room to itself first, and then to the queue. The browser looks at a quota of an origin it knows
    only now and then."""
    script = STORE + """
        const cache = await made(new Cache({ bound: 4_000 }), "cache.2.u1");
        const one = await made(new QueueStore(), "queue.u1");
        one.makeRoom = () => cache.makeRoom();
        // Nothing that a database could compress.
        const noise = (length) => Array.from({ length: length / 25_000 }, () => String.fromCharCode(...crypto.getRandomValues(new Uint16Array(25_000)))).join("");
        const large = Array.from({ length: 40 }, (_, index) => ({ ...message(index + 1), text: noise(50_000) }));
        for (let turn = 0; turn < 6; turn += 1) await cache.saveThread(`v${turn}`, record(1, 1, 40), roster, changes(large, true));
        const order = await one.add({ clientID: "a", text: noise(5_000_000) });
        return [cache.isOnDisk, one.isOnDisk, order, [...new Set(failures)]];
    """
    quota = {"origin": other_origin, "quotaSize": 4_000_000}
    page.driver.execute_cdp_cmd("Storage.overrideQuotaForOrigin", quota)
    assert run(script) == [False, False, 1, ["QuotaExceededError"]]


def test_expired_messages_leave_the_disk(run):
    script = STORE + """
        const cache = await made(new Cache(), "cache.2.u1");
        const due = { ...message(1), expiresAt: "2026-01-01T00:00:00.000Z" };
        await cache.saveThread("v", record(2, 1, 2), roster, changes([due, { ...message(2), expiresAt: "2027-01-01T00:00:00.000Z" }], true));
        const spoken = { ...due, text: undefined, voice: { milliseconds: 900 } };
        await cache.saveInbox([{ id: "v", counter: 1, lastMessage: due }, { id: "w", counter: 1, lastMessage: spoken }], { position: ["e", 1] }, true);
        await cache.removeExpired(Date.parse("2026-06-01T00:00:00Z"));
        const { messages: [gone, there] } = await cache.page("v", 1, 2);
        const lasts = (await cache.inbox()).rows.map(({ lastMessage }) => ["text" in lastMessage || "voice" in lastMessage, lastMessage.deletedAt]);
        return ["text" in gone, gone.deletedAt, there.text, lasts];
    """
    assert run(script) == [False, "2026-01-01T00:00:00.000Z", "text 2", [[False, "2026-01-01T00:00:00.000Z"]] * 2]


def test_translations_are_kept_and_forgotten_with_their_messages(run):
    script = STORE + """
        const cache = await made(new Cache(), "cache.2.u1");
        const row = (number, touched, more = {}) => ({ number, of: number, language: "en", status: "done", text: `t${touched}`, touched, ...more });
        const put = (rows, more = {}) => ({ put: rows, gone: [], isReplaced: false, ...more });
        const save = (sequence, list, translations, more = {}) => cache.saveThread("v", record(sequence, 1, 6, { translated: ["e", sequence], language: "en", ...more }),
            roster, { ...changes(list, sequence === 1), translations }, 1);
        const texts = async () => {
            const { thread: { translations }, translated } = await cache.thread("v");
            return [translations.language, Object.values(translations.rows).map((one) => one.text), translated[1]];
        };
        const expiring = { ...message(6), expiresAt: "2026-01-01T00:00:00.000Z" };
        await save(1, [...messages(1, 5), expiring], put([1, 2, 3, 4, 6].map((number) => row(number, number + 10)), { isReplaced: true }));
        const found = [await texts()];
        // The lower one of another tab, and one into a language that is not read here.
        await save(2, [], put([row(1, 5), row(2, 20)]));
        found.push(await texts());
        await save(3, [{ ...message(3), version: 30, textVersion: 30, editedAt: "now" }, { ...message(4), version: 31, deletedAt: "now" }], put([]));
        await cache.removeExpired(Date.parse("2026-02-01T00:00:00Z"));
        found.push(await texts(), (await cache.page("v", 1, 2)).translations.map((one) => one.text));
        await save(4, [], put([row(5, 40, { language: "es", text: "cinco" })], { isReplaced: true }), { language: "es" });
        found.push(await texts());
        await cache.forget("v");
        await save(1, messages(1, 5), put([]));
        return [...found, await texts(), failures];
    """
    assert run(script) == [
        ["en", ["t11", "t12", "t13", "t14", "t16"], 1], ["en", ["t11", "t20", "t13", "t14", "t16"], 2], ["en", ["t11", "t20"], 3],
        ["t11", "t20"], ["es", ["cinco"], 4], ["en", [], 1], [],
    ]


def test_rows_of_the_list_keep_the_higher_counter(run):
    script = STORE + """
        const cache = await made(new Cache(), "cache.2.u1");
        const row = (id, counter) => ({ id, counter });
        await cache.saveInbox([row("a", 5), row("b", 2)], { position: ["e", 5] }, true);
        await cache.saveInbox([row("a", 4), row("b", 3)], { position: ["e", 4] }, false);
        const first = await cache.inbox();
        await cache.saveInbox([row("c", 1)], { position: ["f", 1] }, true);
        const second = await cache.inbox();
        return [first.rows, first.inbox.position, second.rows, second.inbox.position];
    """
    assert run(script) == [[{"id": "a", "counter": 5}, {"id": "b", "counter": 3}], ["e", 5], [{"id": "c", "counter": 1}], ["f", 1]]


def test_what_nobody_waits_for_is_erased(run):
    """One user is signed in, the sign-in of another has just expired, and that of a third long ago."""
    script = """
        const { eraseLeftovers, eraseUser, hasExpired, noteExpiry } = await load("store/kept-databases.js");
        const names = async () => (await indexedDB.databases()).map((one) => one.name).sort();
        for (const name of names_) await new Promise((done) => {
            const opening = indexedDB.open(name);
            opening.onupgradeneeded = () => {
                const stores = name.startsWith("queue") ? ["entries", "drafts"] : ["values", "rows", "conversations", "rosters", "messages", "own", "translations"];
                for (const one of stores) opening.result.createObjectStore(one);
            };
            opening.onsuccess = () => { opening.result.close(); done(); };
        });
        noteExpiry("u2");
        localStorage.setItem("switchboard.expired", JSON.stringify({ ...JSON.parse(localStorage.getItem("switchboard.expired")), u3: Date.now() - 31 * 86_400_000 }));
        await eraseLeftovers(["u1"]);
        const left = await names();
        await eraseUser("u2");
        return [left, await names(), hasExpired("u2")];
    """
    assert run(script, names_=NAMES) == [
        ["cache.2.u1", "cache.2.u2", "queue.u1", "queue.u2"], ["cache.2.u1", "queue.u1"], False,
    ]

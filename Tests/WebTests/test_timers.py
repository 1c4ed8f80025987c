"""sync/inbox.js and sync/thread-cache.js: timers that were stopped are begun anew, and what ends by the server's clock."""

import pytest

pytestmark = pytest.mark.usefixtures("other_origin")


def test_what_arrives_for_the_next_user_is_marked_as_delivered(run):
    assert run("""
        const { inbox } = await load("sync/inbox.js");
        const { realtime } = await load("connection/realtime.js");
        const { withVirtualTime } = await import("/tests/virtual-time.js");
        const { serve, signIn } = await import("/tests/signed-in.js");
        const asked = serve({});
        const arrive = (user) => {
            signIn(user);
            const row = { id: `chat of ${user}`, counter: 1, unread: 1, lastMessage: { number: 1 }, membership: { state: "member" } };
            realtime.emit("rows", { stream: `inbox:${user}`, rows: [row] });
        };
        return withVirtualTime(async (time) => {
            arrive("ann");
            inbox.reset();
            arrive("ben");
            await time.advance(1_000);
            return asked.map(([name, { conversation, delivered }]) => [name, conversation, delivered]);
        });
    """) == [["conversations.mark", "chat of ben", 1]]


def test_a_thread_that_was_forgotten_is_saved_when_it_may_be_read_again(run):
    assert run("""
        const { HeldThread } = await load("sync/thread-cache.js");
        const { emptyThread } = await load("state/thread-rows.js");
        const { withVirtualTime } = await import("/tests/virtual-time.js");
        return withVirtualTime(async (time) => {
            const held = new HeldThread("c1", emptyThread);
            let saved = 0;
            held.save = () => { saved += 1; };
            held.noteChange();
            held.forget();
            await time.advance(1_000);
            held.noteChange();
            await time.advance(1_000);
            return saved;
        });
    """) == 1


# The list of Ann, whose device's clock the test moves: `at(minutes)` is a time from its beginning on, and `drawn` has what
# the list is at each event.
INBOX = """
    const { inbox } = await load("sync/inbox.js");
    const { isMuted, unreadConversations } = await load("state/inbox-rows.js");
    const { realtime } = await load("connection/realtime.js");
    const { clock, restoreClock, setServerTime } = await load("store/clock.js");
    const { withVirtualTime } = await import("/tests/virtual-time.js");
    const { serve, signIn } = await import("/tests/signed-in.js");
    serve({});
    signIn("ann");
    const MINUTE = 60_000;
    const drawn = [];
    const begin = 1_700_000_000_000 + 1_000_000;
    const at = (minutes) => new Date(begin + minutes * MINUTE).toISOString();
    const row = (id, more) => ({ id, counter: 1, activity: 1, unread: 1, mentions: 0, conversation: { kind: "direct" }, ...more,
        lastMessage: { number: 2, author: "ben", text: `text of ${id}`, ...more.lastMessage }, membership: { state: "member", read: 1, ...more.membership } });
    const show = (...conversations) => realtime.emit("snapshot", { stream: "inbox:ann", data: { conversations } });
    const shown = () => [unreadConversations(inbox.state), ...Object.values(inbox.state.rows).map((one) => one.lastMessage.text ?? "deleted")];
    inbox.on("change", () => drawn.push(shown()));
    /** The device sleeps: its timers stand still, and its clock does not. */
    const sleep = (minutes) => {
        const { now } = Date;
        Date.now = () => now() + minutes * MINUTE;
    };
    const last = () => drawn.splice(0).at(-1) ?? "nothing new";
"""


def test_the_list_changes_when_mutes_and_messages_end(run):
    assert run(INBOX + """
        return withVirtualTime(async (time) => {
            show(row("a", { lastMessage: { expiresAt: at(30) } }), row("b", { membership: { muted: { mentions: true, until: at(60) } } }));
            const found = [last()];
            for (const minutes of [29, 1, 29, 1, 300]) {
                await time.advance(minutes * MINUTE + (minutes === 1 ? 100 : 0));
                found.push(last());
            }
            return found;
        });
    """) == [
        [1, "text of a", "text of b"], "nothing new", [0, "deleted", "text of b"], "nothing new", [1, "deleted", "text of b"],
        "nothing new",
    ]


def test_one_timer_waits_for_what_ends_next(run):
    """However far that is, and for nothing when the user has signed out."""
    assert run(INBOX + """
        return withVirtualTime(async (time) => {
            const delays = [];
            const { setTimeout } = window;
            window.setTimeout = (act, delay) => {
                delays.push(delay ?? 0);
                return setTimeout(act, delay);
            };
            const idle = time.timerCount;
            const far = 60 * 24 * 60;
            show(row("a", { membership: { muted: { until: at(far) } } }), row("b", { membership: { muted: { until: at(2 * far) } } }));
            // What else waits is done.
            await time.advance(10_000);
            const running = time.timerCount - idle;
            drawn.length = 0;
            await time.advance(far * MINUTE - 20_000);
            const before = last();
            await time.advance(20_000);
            const after = last();
            inbox.reset();
            await time.advance(10_000);
            return [running, Math.max(...delays) < 2 ** 31, before, after, time.timerCount - idle];
        });
    """) == [1, True, "nothing new", [1, "text of a", "text of b"], 0]


def test_a_device_that_slept_looks_when_the_page_is_seen(run):
    """What is read before that is not of the time before either."""
    assert run(INBOX + """
        return withVirtualTime(async () => {
            show(row("a", { lastMessage: { expiresAt: at(30) } }));
            drawn.length = 0;
            sleep(60);
            const read = shown();
            document.dispatchEvent(new Event("visibilitychange"));
            const seen = last();
            document.dispatchEvent(new Event("visibilitychange"));
            return [read, seen, last()];
        });
    """) == [[0, "deleted"], [0, "deleted"], "nothing new"]


@pytest.mark.parametrize("hours", [-1, 1])
def test_mutes_and_messages_end_by_the_clock_of_the_server(run, hours):
    """As the last page has left it too: without the server."""
    assert run(INBOX + """
        return withVirtualTime(async (time) => {
            restoreClock(hours * 60 * MINUTE);
            show(row("a", { lastMessage: { expiresAt: at(hours * 60 + 30) } }), row("b", { membership: { muted: { until: at(hours * 60 + 40) } } }));
            const found = [last()];
            await time.advance(30 * MINUTE + 100);
            found.push(last());
            await time.advance(10 * MINUTE);
            return [...found, last()];
        });
    """, hours=hours) == [[1, "text of a", "text of b"], [0, "deleted", "text of b"], [1, "deleted", "text of b"]]


def test_nothing_is_lost_by_a_clock_that_was_wrong(run):
    """What has disappeared by the device's clock is there again when the server says what time it is; by that it is gone."""
    assert run(INBOX + """
        return withVirtualTime(async (time) => {
            sleep(60);
            show(row("a", { lastMessage: { expiresAt: at(30) } }));
            const found = [last()];
            setServerTime(at(1));
            found.push(last());
            // The device's clock is set right, which is noticed with the next heartbeat.
            sleep(-60);
            setServerTime(at(1));
            found.push(last());
            await time.advance(29 * MINUTE + 100);
            found.push(last());
            setServerTime(at(1));
            return [...found, last(), JSON.stringify(inbox.row("a")).includes("text of a")];
        });
    """) == [[0, "deleted"], [1, "text of a"], "nothing new", [0, "deleted"], "nothing new", False]


def test_a_mute_that_waits_to_be_sent_ends_too(run):
    assert run(INBOX + """
        const { outbox } = await load("sync/outbox.js");
        return withVirtualTime(async (time) => {
            show(row("a", {}));
            inbox.keep("a", { muted: { mentions: true, until: at(60) } });
            await time.advance(59 * MINUTE);
            const found = [last()];
            await time.advance(MINUTE + 100);
            return [...found, last()];
        });
    """) == [[0, "text of a"], [1, "text of a"]]

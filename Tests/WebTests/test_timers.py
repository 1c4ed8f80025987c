"""sync/inbox.js and sync/thread-cache.js: timers that were stopped are begun anew."""

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

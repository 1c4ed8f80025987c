"""connection/realtime.js: listening again to what the server could not read now."""

import pytest

pytestmark = pytest.mark.usefixtures("other_origin")

# A socket of which the test answers each frame: `answers` by what the frame is, `sent` so far.
SOCKET = """
    const { realtime } = await load("connection/realtime.js");
    const { signIn, until } = await import("/tests/signed-in.js");
    const sent = [];
    const answers = { hello: () => ({ result: { resumed: {}, serverTime: new Date().toISOString() } }), listen: () => ({ result: {} }) };
    class Socket {
        static OPEN = 1;
        readyState = 1;
        constructor() { setTimeout(() => this.onopen()); }
        send(text) {
            const { id, ...frame } = JSON.parse(text);
            const [kind] = Object.keys(frame);
            sent.push([kind, frame[kind].stream]);
            const answer = (answers[kind] ?? (() => ({ result: {} })))(frame[kind]);
            setTimeout(() => this.onmessage({ data: JSON.stringify({ id, ...answer }) }));
        }
        close() { this.readyState = 3; }
    }
    window.WebSocket = Socket;
    signIn("ann");
    const listens = () => sent.filter(([kind]) => kind === "listen").map(([, stream]) => stream);
    realtime.start();
    await until("a session", () => realtime.isOnline);
"""


def test_a_stream_that_was_refused_for_the_rate_is_listened_to_again(run):
    assert run(SOCKET + """
        const listened = [];
        realtime.on("listened", ({ stream }) => listened.push(stream));
        let refusals = 2;
        answers.listen = ({ stream }) => stream === "chat:1" && refusals-- > 0
            ? { error: { type: "rate_limited", status: 429, retryAfter: 20 } } : { result: {} };
        realtime.listen("chat:1");
        await until("the stream", () => listened.includes("chat:1"));
        realtime.stop();
        return listens();
    """) == ["chat:1"] * 3


def test_what_is_no_longer_wanted_or_may_not_be_seen_is_not_listened_to_again(run):
    assert run(SOCKET + """
        const refused = [];
        realtime.on("refused", ({ stream }) => refused.push(stream));
        answers.listen = ({ stream }) => ({
            error: stream === "chat:3" ? { type: "not_found", status: 404 } : { type: "rate_limited", status: 429, retryAfter: 30 },
        });
        realtime.listen("chat:2");
        realtime.listen("chat:3");
        await until("the refusal", () => refused.length === 1);
        realtime.unlisten("chat:2");
        await new Promise((resolve) => setTimeout(resolve, 100));
        realtime.stop();
        return [listens(), refused];
    """) == [["chat:2", "chat:3"], ["chat:3"]]

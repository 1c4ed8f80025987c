"""media/candidates.js: when ICE candidates are sent and added, by generation."""

# Runs the rest with `outgoing`, whose batches are in `sent`.
OUTGOING = """
    const { OutgoingCandidates } = await load("media/candidates.js");
    const { withVirtualTime } = await import("/tests/virtual-time.js");
    return withVirtualTime(async (time) => {
        const sent = [];
        let respond = () => ({ status: "delivered" });
        const outgoing = new OutgoingCandidates(async (generation, { candidates, end }) => {
            sent.push([generation, candidates.map((one) => one.candidate), end]);
            return respond();
        });
        const add = (...names) => names.forEach((candidate) =>
            outgoing.add({ candidate, sdpMid: "0", sdpMLineIndex: 0, usernameFragment: "u" }));
"""
END = "return sent; });"


def test_batches(run):
    assert run(OUTGOING + """
        outgoing.open(1);
        add("a", "b");
        await time.advance(14);
        add("c");
        await time.advance(100);
        add("d");
        outgoing.add(null);
        await time.advance(100);
    """ + END) == [[1, ["a", "b", "c"], False], [1, ["d"], True]]


def test_candidates_wait_for_their_generation(run):
    assert run(OUTGOING + """
        add("a");
        outgoing.add(null);
        await time.advance(1_000);
        sent.push("open");
        outgoing.open(3);
        await time.advance(100);
    """ + END) == ["open", [3, ["a"], True]]


def test_candidates_of_the_next_offer_wait_for_it(run):
    assert run(OUTGOING + """
        outgoing.open(1);
        add("a");
        await time.advance(100);
        outgoing.hold();
        add("b");
        await time.advance(100);
        outgoing.open(2);
        await time.advance(100);
    """ + END) == [[1, ["a"], False], [2, ["b"], False]]


def test_an_ice_restart_drops_the_queue(run):
    assert run(OUTGOING + """
        add("old");
        outgoing.add(null);
        outgoing.restart();
        add("new");
        outgoing.open(2);
        await time.advance(100);
    """ + END) == [[2, ["new"], False]]


def test_large_batches_are_split_and_only_the_last_is_marked(run):
    sent = run(OUTGOING + """
        outgoing.open(1);
        add(...Array.from({ length: 130 }, (_, index) => `${index}`));
        outgoing.add(null);
        await time.advance(1_000);
    """ + END)
    assert [(len(names), end) for _, names, end in sent] == [(64, False), (64, False), (2, True)]
    assert [name for _, names, _ in sent for name in names] == [str(number) for number in range(130)]


def test_only_the_end(run):
    """A relay-only connection without a relay has no candidates; the empty one marks the end of a section."""
    assert run(OUTGOING + """
        outgoing.open(1);
        outgoing.add({ candidate: "", sdpMid: "0", sdpMLineIndex: 0, usernameFragment: "u" });
        await time.advance(100);
        outgoing.add(null);
        await time.advance(100);
        // Nothing is left.
        outgoing.open(2);
        await time.advance(100);
    """ + END) == [[1, [], True]]


def test_ignored_candidates_are_sent_under_the_newer_generation(run):
    assert run(OUTGOING + """
        outgoing.open(1);
        add("a");
        outgoing.add(null);
        respond = () => { outgoing.open(2); return { status: "ignored" }; };
        await time.advance(15);
        respond = () => ({ status: "delivered" });
        await time.advance(1_000);
    """ + END) == [[1, ["a"], True], [2, ["a"], True]]


def test_ignored_candidates_of_the_newest_generation_are_dropped(run):
    assert run(OUTGOING + """
        outgoing.open(1);
        add("a");
        respond = () => ({ status: "ignored" });
        await time.advance(1_000);
    """ + END) == [[1, ["a"], False]]


def test_a_failed_batch_is_dropped(run):
    """The request itself was retried long enough; ICE works with the other candidates, or is restarted."""
    assert run(OUTGOING + """
        outgoing.open(1);
        add("a");
        respond = () => { throw new Error("offline"); };
        await time.advance(100);
        respond = () => ({});
        add("b");
        await time.advance(100);
    """ + END) == [[1, ["a"], False], [1, ["b"], False]]


def test_nothing_is_sent_after_closing(run):
    assert run(OUTGOING + """
        outgoing.open(1);
        add("a");
        outgoing.close();
        add("b");
        await time.advance(1_000);
    """ + END) == []


def test_the_fields_of_a_candidate(run):
    """Those that are null are left out: the API expects text and numbers."""
    assert run("""
        const { OutgoingCandidates } = await load("media/candidates.js");
        const { withVirtualTime } = await import("/tests/virtual-time.js");
        return withVirtualTime(async (time) => {
            const sent = [];
            const outgoing = new OutgoingCandidates(async (_, { candidates }) => {
                sent.push(...candidates);
                return {};
            });
            outgoing.open(1);
            outgoing.add({ candidate: "a", sdpMid: "0", sdpMLineIndex: 0, usernameFragment: "u", priority: 7 });
            outgoing.add({ candidate: "b", sdpMid: null, sdpMLineIndex: null, usernameFragment: null });
            await time.advance(100);
            return sent;
        });
    """) == [{"candidate": "a", "sdpMid": "0", "sdpMLineIndex": 0, "usernameFragment": "u"}, {"candidate": "b"}]


# A connection that rejects the candidate "bad".
INCOMING = """
    const { IncomingCandidates } = await load("media/candidates.js");
    const added = [];
    const connection = { addIceCandidate: async (candidate) => {
        if (candidate === "bad") throw new DOMException("unknown ufrag", "OperationError");
        added.push(candidate);
    } };
    const incoming = new IncomingCandidates();
    const batch = (generation, ...candidates) => ({ generation, payload: { candidates } });
"""


def test_candidates_wait_for_their_description(run):
    assert run(INCOMING + """
        await incoming.add(connection, 0, batch(1, "a"));
        await incoming.add(connection, 0, batch(2, "b"));
        const before = [...added];
        await incoming.release(connection, 1);
        const first = [...added];
        await incoming.release(connection, 2);
        await incoming.release(connection, 2);
        return [before, first, added];
    """) == [[], ["a"], ["a", "b"]]


def test_later_candidates_are_added_at_once(run):
    assert run(INCOMING + """
        await incoming.add(connection, 2, batch(2, "a", "b"));
        await incoming.add(connection, 2, batch(1, "c"));
        return added;
    """) == ["a", "b", "c"]


def test_a_rejected_candidate_does_not_keep_the_others_out(run):
    assert run(INCOMING + """
        await incoming.add(connection, 1, batch(1, "a", "bad", "b"));
        await incoming.add(connection, 1, { generation: 1, payload: { end: true } });
        await incoming.add(connection, 1, { generation: 1, payload: {} });
        return added;
    """) == ["a", "b"]

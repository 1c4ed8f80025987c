"""How far each stream was received, and what its frames say (connection/realtime-streams.js)."""

STREAMS = """
    const { Streams } = await load("connection/realtime-streams.js");
    const said = [];
    const streams = new Streams((event, { stream, data, rows, reason, isNewEpoch }) => said.push([event, stream, data ?? rows ?? reason, isNewEpoch ?? null]),
        (stream) => said.push(["listen", stream]));
    const snapshot = (stream, epoch, seq) => streams.handle({ stream, snapshot: "all", epoch, seq });
"""


def test_a_change_is_delivered_once(run):
    script = STREAMS + """
        streams.subscribe("a");
        snapshot("a", "e", 4);
        const change = (seq) => ({ seq, type: "t", data: seq });
        streams.handle({ stream: "a", changes: [change(4), change(5)] });
        streams.handle({ stream: "a", changes: [change(5), change(6)] });
        return [said, streams.position("a")];
    """
    said = [["snapshot", "a", "all", False], ["change", "a", 5, None], ["change", "a", 6, None]]
    assert run(script) == [said, ["e", 6]]


def test_rows_beyond_the_position_are_asked_for(run):
    """Those of another epoch, or of a stream that nobody listens to any more, are of no use."""
    script = STREAMS + """
        streams.subscribe("a");
        snapshot("a", "e", 4);
        const rows = (epoch, after, upTo, stream = "a") => streams.handle({ stream, rows: [upTo], epoch, after, upTo });
        rows("e", 3, 6);
        rows("e", 7, 8);
        rows("f", 6, 7);
        streams.forget("a");
        rows("e", 6, 7);
        return said.slice(1);
    """
    assert run(script) == [["rows", "a", [6], None], ["listen", "a"]]


def test_a_stream_goes_on_where_it_was(run):
    script = STREAMS + """
        const asks = [streams.subscribe("a", ["e", 4]), streams.subscribe("a", ["e", 9]), streams.subscribe("b"), streams.subscribe("presence:u")];
        snapshot("presence:u", "e", 1);
        streams.hold("a", 3, 8);
        const resume = streams.resume();
        streams.hold("a", undefined);
        snapshot("a", "f", 1);
        const isNew = said.at(-1)[3];
        streams.handle({ stream: "a", reset: { reason: "restored" } });
        const kept = [streams.has("a"), streams.position("a") ?? null];
        streams.handle({ stream: "a", reset: { reason: "access" } });
        return [asks, resume, isNew, kept, streams.has("a"), [...streams.subscribed]];
    """
    assert run(script) == [
        [True, False, True, True], {"a": ["e", 4, 3, 8]}, True, [True, None], False, ["b", "presence:u"],
    ]


def test_who_listens_again_learns_of_another_epoch(run):
    """What was received in the epoch before may still be held, and its versions are not compared with those of a restored server."""
    script = STREAMS + """
        streams.subscribe("a");
        snapshot("a", "e", 4);
        streams.end("a");
        streams.subscribe("a");
        snapshot("a", "f", 1);
        return [said.at(-1), streams.position("a")];
    """
    assert run(script) == [["snapshot", "a", "all", True], ["f", 1]]

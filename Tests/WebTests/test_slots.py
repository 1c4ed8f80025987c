"""media/slots.js: how many slots a leg offers, and what each of them carries."""

import pytest


def participant(user, state="joined", screen=False):
    return {"user": user, "state": state, "media": {"audio": True, "screen": screen}}


@pytest.mark.parametrize(
    ("others", "counts"),
    [
        # Alone, there is still a slot for the next person.
        ([], {"audio": 1, "video": 2}),
        ([participant("ben")], {"audio": 1, "video": 2}),
        ([participant("ben"), participant("cem", "ringing"), participant("dora", "invited")], {"audio": 3, "video": 4}),
        # Who is not in the call needs none.
        ([participant("ben"), participant("cem", "left"), participant("dora", "declined")], {"audio": 1, "video": 2}),
        # The first screen uses the spare slot; a second one needs another.
        ([participant("ben", screen=True), participant("cem")], {"audio": 2, "video": 3}),
        ([participant("ben", screen=True), participant("cem", screen=True)], {"audio": 2, "video": 4}),
        ([participant("ben", "left", screen=True), participant("cem", screen=True)], {"audio": 1, "video": 2}),
        # The gateway forwards five voices and has 25 video slots for a leg.
        ([participant(f"user {number}") for number in range(24)], {"audio": 5, "video": 25}),
        ([participant(f"user {number}", screen=True) for number in range(40)], {"audio": 5, "video": 25}),
        # Participants who have not reported their media yet.
        ([{"user": "ben", "state": "ringing"}], {"audio": 1, "video": 2}),
    ],
)
def test_counts(call, others, counts):
    assert call("media/slots.js", "slotCounts", [participant("ann", screen=True), *others], "ann") == counts


# A connection with the sections 0 to 3, of which the last is not negotiated yet.
SLOTS = """
    const slots = new (await load("media/slots.js")).Slots();
    const transceiver = (mid, kind) => ({ mid, receiver: { track: { kind, id: `track ${mid}` } } });
    const connection = { getTransceivers: () =>
        [transceiver("0", "audio"), transceiver("1", "video"), transceiver("2", "video"), transceiver(null, "video")] };
    const received = () => slots.received(connection)
        .map(({ user, source, kind, track }) => [user, source, kind, track.id]);
"""


def test_received(run):
    assert run(SLOTS + """
        const before = received();
        slots.update([
            { mid: "0", kind: "audio", track: { user: "ben", source: "microphone" } },
            { mid: "1", kind: "video" },
            { mid: "2", kind: "video", track: { user: "ben", source: "screen" } },
        ]);
        return [before, received()];
    """) == [[], [["ben", "microphone", "audio", "track 0"], ["ben", "screen", "video", "track 2"]]]


def test_slots_that_are_not_in_the_list_keep_their_tracks(run):
    assert run(SLOTS + """
        slots.update([{ mid: "1", kind: "video", track: { user: "ben", source: "camera" } }]);
        slots.update([{ mid: "2", kind: "video", track: { user: "cem", source: "camera" } }]);
        slots.update([]);
        return received();
    """) == [["ben", "camera", "video", "track 1"], ["cem", "camera", "video", "track 2"]]


def test_a_slot_changes_its_track(run):
    assert run(SLOTS + """
        slots.update([{ mid: "1", kind: "video", track: { user: "ben", source: "camera" } }]);
        slots.update([{ mid: "1", kind: "video", track: { user: "cem", source: "camera" } }]);
        const changed = received();
        slots.update([{ mid: "1", kind: "video" }]);
        return [changed, received()];
    """) == [[["cem", "camera", "video", "track 1"]], []]


def test_a_slot_without_a_transceiver_is_not_received_yet(run):
    assert run(SLOTS + """
        slots.update([{ mid: "3", kind: "video", track: { user: "ben", source: "camera" } }]);
        return received();
    """) == []


def test_preferred_qualities(run):
    """Of the video slots only; an empty one may be filled any time, and then starts with the full picture."""
    assert run(SLOTS + """
        slots.update([
            { mid: "0", kind: "audio", track: { user: "ben", source: "microphone" } },
            { mid: "1", kind: "video", track: { user: "ben", source: "camera" } },
            { mid: "2", kind: "video", track: { user: "ben", source: "screen" } },
            { mid: "4", kind: "video" },
        ]);
        return slots.preferredQualities(({ source }) => source === "camera" ? "low" : "off");
    """) == {"1": "low", "2": "off", "4": "high"}

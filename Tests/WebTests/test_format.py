"""language/format.js: texts about calls, names, times and rates."""

import pytest


def pair(**call):
    """A call from Ann to Ben."""
    participants = [{"user": "ann", "displayName": "Ann Abel"}, {"user": "ben", "displayName": "Ben Brook"}]
    return {"caller": "ann", "status": "ended", "participants": participants, **call}


def group(mine, **call):
    """A group call from Ann, in which Ben's own entry is `mine`."""
    participants = [
        {"user": "ann", "displayName": "Ann Abel", "state": "joined"},
        {"user": "ben", "displayName": "Ben Brook", **mine},
        {"user": "cem", "displayName": "Cem Can", "state": "joined"},
    ]
    return {"caller": "ann", "status": "active", "participants": participants, **call}


def test_sides(call):
    document = pair()
    ann, ben = document["participants"]
    assert call("language/format.js", "sides", document, "ann") == {"mine": ann, "other": ben, "outgoing": True}
    assert call("language/format.js", "sides", document, "ben") == {"mine": ben, "other": ann, "outgoing": False}
    assert call("language/format.js", "othersOf", document, "ben") == [ann]
    assert call("language/format.js", "othersOf", document, "dora") == [ann, ben]


@pytest.mark.parametrize(
    ("reason", "caller", "callee"),
    [
        ("hung_up", ("answered", "Call ended"), ("answered", "Call ended")),
        ("declined", ("declined", "Ben declined"), ("declined", "Declined")),
        ("cancelled", ("cancelled", "Cancelled"), ("missed", "Missed")),
        ("missed", ("unanswered", "No answer"), ("missed", "Missed")),
        ("busy", ("busy", "Ben is in another call"), ("missed", "Missed")),
        ("unreachable", ("unanswered", "Ben can’t be reached right now"), ("missed", "Missed")),
        ("replaced", ("cancelled", "Replaced by a new call"), ("missed", "Missed")),
        ("setup_timeout", ("failed", "Couldn’t connect"), ("failed", "Couldn’t connect")),
        ("connection_lost", ("failed", "Connection lost"), ("failed", "Connection lost")),
        # A reason of a later server.
        ("something_new", ("failed", "Call failed"), ("failed", "Call failed")),
    ],
)
def test_the_end_of_a_call_between_two(call, reason, caller, callee):
    for me, (outcome, text) in (("ann", caller), ("ben", callee)):
        assert call("language/format.js", "ending", pair(endReason=reason), me) == {"outcome": outcome, "text": text}


def test_an_answered_call_that_was_replaced(call):
    document = pair(endReason="replaced", answeredAt="2031-05-06T07:08:09Z")
    for me in ("ann", "ben"):
        expected = {"outcome": "answered", "text": "Replaced by a new call"}
        assert call("language/format.js", "ending", document, me) == expected


def test_a_call_that_has_not_ended(run):
    ringing = pair(status="ringing")
    script = """
        const { ending } = await load("language/format.js");
        const [, ben] = document.participants;
        const joined = { ...document, participants: [{ ...ben, state: "joined" }] };
        return [ending(document, "ben").text, ending(joined, "ben").text];
    """
    assert run(script, document=ringing) == ["Ringing", "In progress"]


def test_the_other_account_was_deleted(call):
    document = {"caller": "ann", "endReason": "declined", "participants": [{"user": "ann", "displayName": "Ann Abel"}]}
    assert call("language/format.js", "ending", document, "ann")["text"] == "The other person declined"


@pytest.mark.parametrize(
    ("mine", "document", "outcome", "text"),
    [
        ({"state": "joined"}, {}, "live", "In progress"),
        ({"state": "ringing"}, {}, "live", "Ringing"),
        ({"state": "invited"}, {}, "live", "Ringing"),
        ({"state": "declined"}, {}, "declined", "Declined"),
        ({"state": "missed"}, {}, "missed", "Missed"),
        ({"state": "busy"}, {}, "missed", "Missed"),
        ({"state": "unreachable"}, {}, "missed", "Missed"),
        ({"state": "left"}, {}, "answered", "Call ended"),
        ({"state": "left", "reason": "connection_lost"}, {}, "failed", "Connection lost"),
        ({"state": "left", "reason": "setup_timeout"}, {}, "failed", "Couldn’t connect"),
        ({"state": "joined"}, {"status": "ended", "answeredAt": "2031-05-06T07:08:09Z"}, "answered", "Call ended"),
        ({"state": "joined"}, {"status": "ended", "endReason": "failed"}, "failed", "Couldn’t connect"),
        ({"state": "joined"}, {"status": "ended", "endReason": "cancelled"}, "cancelled", "Cancelled"),
        ({"state": "joined"}, {"status": "ended", "endReason": "missed"}, "unanswered", "Nobody answered"),
    ],
)
def test_the_end_of_a_group_call(call, mine, document, outcome, text):
    assert call("language/format.js", "ending", group(mine, **document), "ben") == {"outcome": outcome, "text": text}


def test_who_called_a_group_in_vain_did_not_answer(call):
    document = group({}, status="ended", endReason="missed")
    document["participants"][0]["state"] = "left"
    assert call("language/format.js", "ending", document, "ann") == {"outcome": "unanswered", "text": "Nobody answered"}


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"phase": "preparing"}, "Starting…"),
        ({"phase": "calling"}, "Calling…"),
        ({"phase": "ringing"}, "Ringing…"),
        ({"phase": "connecting", "connection": "reconnecting"}, "Connecting…"),
        ({"phase": "ended", "ending": "Cancelled"}, "Cancelled"),
        ({"phase": "active"}, "Connected"),
        # The worst comes first.
        ({"phase": "active", "connection": "reconnecting", "held": True}, "Reconnecting…"),
        ({"phase": "active", "held": True, "heldByOther": True}, "On hold"),
        ({"phase": "active", "heldByOther": True, "other": {"displayName": "Ben Brook"}, "isPoor": True},
         "Ben put you on hold"),
        ({"phase": "active", "isPoor": True}, "Poor connection"),
        ({"phase": "active", "isGroup": True, "people": [{"state": "joined"}, {"state": "left"}]},
         "Nobody else is here"),
        ({"phase": "active", "isGroup": True, "people": []}, "Nobody else is here"),
        ({"phase": "active", "isGroup": True, "people": [{"state": "joined"}] * 3 + [{"state": "ringing"}]},
         "3 people"),
    ],
)
def test_progress(call, state, text):
    assert call("language/format.js", "progress", state) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], "Group call"),
        (["Ben Brook"], "Ben Brook"),
        (["Ben Brook", "Cem Can"], "Ben and Cem"),
        (["Ben Brook", "Cem Can", "Dora"], "Ben, Cem and Dora"),
        (["Ben Brook", "Cem Can", "Dora Dee", "Eve"], "Ben, Cem and 2 others"),
        (["Ben Brook", None], "Ben and The other person"),
    ],
)
def test_names(call, names, text):
    assert call("language/format.js", "namesOf", [{"displayName": name} for name in names]) == text


@pytest.mark.parametrize(
    ("name", "first", "letters"),
    [
        ("Ann Abel", "Ann", "AA"),
        ("ann", "ann", "A"),
        ("Ann Maria\tvon Abel ", "Ann", "AA"),
        ("José Ñandú", "José", "JÑ"),
        # Characters outside of the basic plane are not cut in two.
        ("😀 𝒜nn", "😀", "😀𝒜"),
        ("李 小龙", "李", "李小"),
        ("ßen", "ßen", "SS"),
        ("", "The other person", "?"),
        ("   ", "The other person", "?"),
        (None, "The other person", "?"),
    ],
)
def test_first_name_and_initials(run, name, first, letters):
    script = """
        const { firstName, initials } = await load("language/format.js");
        return [firstName(name), initials(name)];
    """
    assert run(script, name=name) == [first, letters]


@pytest.mark.parametrize(
    ("milliseconds", "clock", "length"),
    [
        (-5_000, "0:00", "0 s"),
        (0, "0:00", "0 s"),
        (499, "0:00", "0 s"),
        (999, "0:00", "1 s"),
        (9_999, "0:09", "10 s"),
        (59_400, "0:59", "59 s"),
        (59_500, "0:59", "1 min"),
        (65_000, "1:05", "1 min"),
        (754_000, "12:34", "13 min"),
        (3_599_000, "59:59", "1 h 0 min"),
        (3_729_000, "1:02:09", "1 h 2 min"),
        (90_061_000, "25:01:01", "25 h 1 min"),
    ],
)
def test_lengths(call, milliseconds, clock, length):
    assert call("language/format.js", "clockText", milliseconds) == clock
    assert call("language/format.js", "lengthText", milliseconds) == length


@pytest.mark.parametrize(
    ("then", "now", "text"),
    [
        ("2031-05-06T07:08:00+02:00", "2031-05-06T23:59:00+02:00", "07:08"),
        ("2031-05-05T23:59:00+02:00", "2031-05-06T00:01:00+02:00", "Yesterday, 23:59"),
        ("2031-05-05T00:00:00+02:00", "2031-05-06T23:59:00+02:00", "Yesterday, 00:00"),
        # In the reader's time zone, not in the server's.
        ("2031-05-05T22:30:00Z", "2031-05-06T12:00:00Z", "00:30"),
        # The day on which the clocks change has 23 hours, or 25.
        ("2031-03-30T00:30:00+01:00", "2031-03-31T12:00:00+02:00", "Yesterday, 00:30"),
        ("2031-10-26T00:30:00+02:00", "2031-10-27T12:00:00+01:00", "Yesterday, 00:30"),
    ],
)
def test_times(run, then, now, text):
    assert run('return (await load("language/format.js")).whenText(then, new Date(now))', then=then, now=now) == text


@pytest.mark.parametrize(
    "then", ["2031-05-04T09:10:00+02:00", "2031-05-07T09:10:00+02:00", "2030-05-06T09:10:00+02:00"]
)
def test_dates(run, then):
    """Earlier, and tomorrow by a clock that is behind: the date."""
    now = "2031-05-06T12:00:00+02:00"
    text = run('return (await load("language/format.js")).whenText(then, new Date(now))', then=then, now=now)
    assert text.endswith(", 09:10")
    assert f"{int(then[8:10])} May" in text


@pytest.mark.parametrize(
    ("then", "day", "short"),
    [
        ("2031-05-06T00:10:00+02:00", "Today", "00:10"), ("2031-05-05T23:50:00+02:00", "Yesterday", "Yesterday"),
        ("2031-05-01T12:00:00+02:00", "Thursday 1 May", "1 May"), ("2030-12-31T12:00:00+01:00", "31 December 2030", "31 Dec"),
    ],
)
def test_days(run, then, day, short):
    script = """
        const { dayText, shortWhenText } = await load("language/format.js");
        return [dayText(then, new Date(now)), shortWhenText(then, new Date(now))];
    """
    assert run(script, then=then, now="2031-05-06T12:00:00+02:00") == [day, short]


@pytest.mark.parametrize(
    ("bits", "text"),
    [(0, "0 kbit/s"), (499, "0 kbit/s"), (48_200, "48 kbit/s"), (999_400, "999 kbit/s"), (1_000_000, "1.0 Mbit/s"),
     (1_249_000, "1.2 Mbit/s"), (25_000_000, "25.0 Mbit/s")],
)  # fmt: skip
def test_rates(call, bits, text):
    assert call("language/format.js", "rateText", bits) == text


def test_states_in_a_call(run):
    assert run("""
        const { presenceInCall } = await load("language/format.js");
        return ["invited", "declined", "unreachable", "joined", "something_new"]
            .map((state) => presenceInCall({ state }) ?? null);
    """) == ["Calling…", "Declined", "Can’t be reached", None, None]


@pytest.mark.parametrize(
    ("mine", "text"),
    [
        ({"reason": "connection_lost"}, "Connection lost"),
        ({"reason": "setup_timeout"}, "Couldn’t connect"),
        ({"reason": "left"}, "Call ended"),
        ({}, "Call ended"),
        (None, "Call ended"),
    ],
)
def test_departure(call, mine, text):
    assert call("language/format.js", "departure", mine) == text


@pytest.mark.parametrize(
    ("record", "ann", "ben"),
    [
        ({"state": "ringing"}, "Call, ringing", "Call, ringing"),
        ({"state": "active"}, "Call in progress", "Call in progress"),
        ({"state": "ended", "duration": 125}, "Call, 2 min", "Call, 2 min"),
        ({"state": "ended", "reason": "missed", "ben": "missed"}, "Call, no answer", "Missed call"),
        ({"state": "ended", "reason": "cancelled", "ben": "missed"}, "Call, no answer", "Missed call"),
        ({"state": "ended", "reason": "declined", "ben": "declined"}, "Call, declined", "Call, declined"),
    ],
)
def test_the_record_of_a_call(call, record, ann, ben):
    state = record.pop("ben", "left")
    participants = [{"user": "ann", "state": "left"}, {"user": "ben", "state": state}]
    record = {"kind": "audio", "participants": participants} | record
    assert call("language/format.js", "recordText", record, "ann") == ann
    assert call("language/format.js", "recordText", record, "ben") == ben
    # Who left the group sees that it was.
    former = {"kind": "video", "state": "ended", "participants": []}
    assert call("language/format.js", "recordText", former, "ann") == "Video call"

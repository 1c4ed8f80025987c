"""store/clock.js: the server's time, from the texts that it sends."""

import pytest

# Another instance of the module, since the offset is kept in it.
CLOCK = """
    const { clock, setServerTime, serverNow, monotonicNow } = await load(`store/clock.js?${crypto.randomUUID()}`);
    const { withVirtualTime } = await import("/tests/virtual-time.js");
"""


def test_durations_are_right_where_the_device_clock_is_wrong(run):
    times = run(CLOCK + """
        return withVirtualTime(async (time) => {
            const before = serverNow() - Date.now();
            setServerTime("2031-05-06T07:08:09.500Z");
            const times = [before, new Date(serverNow()).toISOString()];
            await time.advance(61_000);
            return [...times, new Date(serverNow()).toISOString()];
        });
    """)
    assert times == [0, "2031-05-06T07:08:09.500Z", "2031-05-06T07:09:10.500Z"]


@pytest.mark.parametrize("text", ["", "yesterday", "2031-13-45T00:00:00Z", None])
def test_a_time_that_cannot_be_read_changes_nothing(run, text):
    assert run(CLOCK + """
        return withVirtualTime(async () => {
            setServerTime("2031-05-06T07:08:09Z");
            setServerTime(text ?? undefined);
            return new Date(serverNow()).toISOString();
        });
    """, text=text) == "2031-05-06T07:08:09.000Z"


def test_a_change_of_the_device_clock_does_not_move_deadlines(run):
    assert run(CLOCK + """
        return withVirtualTime(async (time) => {
            const begin = monotonicNow();
            const native = Date.now;
            Date.now = () => native() + 3_600_000;
            await time.advance(5);
            return monotonicNow() - begin;
        });
    """) == 5


def test_who_waits_for_a_time_learns_that_the_clock_was_set(run):
    """The first time, and when the device's clock was changed. How long a response takes is no change."""
    assert run(CLOCK + """
        return withVirtualTime(async () => {
            const events = [];
            clock.on("set", () => events.push(new Date(serverNow()).toISOString()));
            for (const text of ["07:08:09.000", "07:08:09.400", "07:08:09.900", "08:08:09.900", "08:08:09.000"]) setServerTime(`2031-05-06T${text}Z`);
            return events;
        });
    """) == ["2031-05-06T07:08:09.000Z", "2031-05-06T08:08:09.900Z"]

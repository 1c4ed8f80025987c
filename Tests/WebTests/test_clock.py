"""store/clock.js: the server's time, from the texts that it sends."""

import pytest

# Another instance of the module, since the offset is kept in it.
CLOCK = """
    const { setServerTime, serverNow, monotonicNow } = await load(`store/clock.js?${crypto.randomUUID()}`);
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

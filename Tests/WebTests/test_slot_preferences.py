"""media/slot-preferences.js: when which quality is requested."""

# Runs the rest with `preferences`, whose requests are in `sent` as [milliseconds since the beginning, qualities];
# `respond` returns the response to one.
BEGIN = """
    const { SlotPreferences } = await load("media/slot-preferences.js");
    const { Problem } = await load("connection/problems.js");
    const { withVirtualTime } = await import("/tests/virtual-time.js");
    return withVirtualTime(async (time) => {
        const sent = [];
        const begin = performance.now();
        const all = {};
        const accept = (slots) => ({ slots: Object.assign(all, slots) });
        let respond = accept;
        const preferences = new SlotPreferences(async (slots) => {
            sent.push([performance.now() - begin, slots]);
            return respond(slots);
        });
"""
END = "return sent; });"


def test_a_new_slot_has_the_high_quality_already(run):
    assert run(BEGIN + """
        preferences.update({ 1: "high", 2: "high" });
        await time.advance(60_000);
    """ + END) == []


def test_a_lower_quality_is_requested_after_a_while(run):
    assert run(BEGIN + """
        preferences.update({ 1: "low", 2: "medium", 3: "off" });
        await time.advance(60_000);
    """ + END) == [[1_000, {"1": "low", "2": "medium"}], [5_000, {"3": "off"}]]


def test_a_higher_quality_is_requested_at_once(run):
    assert run(BEGIN + """
        preferences.update({ 1: "low", 2: "off" });
        await time.advance(10_000);
        preferences.update({ 1: "medium" });
        preferences.update({ 2: "high" });
        await time.advance(10_000);
    """ + END) == [[1_000, {"1": "low"}], [5_000, {"2": "off"}], [10_050, {"1": "medium", "2": "high"}]]


def test_a_short_change_is_not_requested(run):
    """A tile that is scrolled by, or a window that is dragged."""
    assert run(BEGIN + """
        preferences.update({ 1: "low" });
        await time.advance(900);
        preferences.update({ 1: "high" });
        await time.advance(60_000);
    """ + END) == []


def test_every_change_begins_the_wait_again(run):
    assert run(BEGIN + """
        preferences.update({ 1: "low" });
        await time.advance(900);
        preferences.update({ 1: "medium" });
        await time.advance(900);
        // The same again is no change.
        preferences.update({ 1: "medium" });
        await time.advance(60_000);
    """ + END) == [[1_900, {"1": "medium"}]]


def test_one_request_at_a_time(run):
    assert run(BEGIN + """
        preferences.update({ 1: "low" });
        let finish;
        respond = (slots) => new Promise((resolve) => { finish = () => resolve(accept(slots)); });
        await time.advance(1_000);
        preferences.update({ 1: "high", 2: "low" });
        await time.advance(9_000);
        const during = sent.length;
        respond = accept;
        finish();
        await time.advance(60_000);
        sent.push(during);
    """ + END) == [[1_000, {"1": "low"}], [10_050, {"1": "high", "2": "low"}], 1]


def test_a_transient_error_is_retried(run):
    assert run(BEGIN + """
        respond = () => { throw new Problem({ type: "network" }); };
        preferences.update({ 1: "low" });
        await time.advance(1_500);
        respond = () => { throw new Problem({ type: "rate_limited", retryAfter: 7_000 }); };
        await time.advance(2_000);
        respond = accept;
        await time.advance(60_000);
    """ + END) == [[1_000, {"1": "low"}], [3_000, {"1": "low"}], [10_000, {"1": "low"}]]


def test_a_retry_has_the_latest_preference(run):
    assert run(BEGIN + """
        respond = () => { throw new Problem({ type: "timeout" }); };
        preferences.update({ 1: "low" });
        await time.advance(1_100);
        respond = accept;
        preferences.update({ 1: "high" });
        await time.advance(60_000);
    """ + END) == [[1_000, {"1": "low"}]]


def test_a_rejected_request_is_not_repeated(run):
    assert run(BEGIN + """
        respond = () => { throw new Problem({ type: "not_found", status: 404 }); };
        preferences.update({ 1: "low" });
        await time.advance(60_000);
        // A later change is a request of its own.
        respond = accept;
        preferences.update({ 1: "medium" });
        await time.advance(60_000);
    """ + END) == [[1_000, {"1": "low"}], [60_050, {"1": "medium"}]]


def test_the_server_has_the_last_word(run):
    """Its response may name another quality, and slots that this side does not know."""
    assert run(BEGIN + """
        respond = () => ({ slots: { 1: "medium", 9: "low" } });
        preferences.update({ 1: "low" });
        await time.advance(1_000);
        respond = accept;
        await time.advance(60_000);
    """ + END) == [[1_000, {"1": "low"}], [1_050, {"1": "low"}]]


def test_nothing_is_sent_after_closing(run):
    assert run(BEGIN + """
        preferences.update({ 1: "low" });
        preferences.close();
        preferences.update({ 1: "off" });
        await time.advance(60_000);
        sent.push(time.timerCount);
    """ + END) == [0]

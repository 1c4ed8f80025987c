"""connection/requests.js: which errors are retried, when and for how long."""

# Runs the rest with `attempts`, the milliseconds since the beginning of each, and `attempt(work, timeout, isWanted)`.
BEGIN = """
    const { withRetries } = await load("connection/requests.js");
    const { Problem } = await load("connection/problems.js");
    const { withVirtualTime } = await import("/tests/virtual-time.js");
    return withVirtualTime(async (time) => {
        const begin = performance.now();
        const attempts = [];
        const attempt = (work, timeout, isWanted) => withRetries(async (number) => {
            attempts.push(performance.now() - begin);
            return work(number);
        }, timeout, isWanted).catch((error) => error.type ?? error.message);
        const fail = (document) => () => { throw new Problem(document); };
"""
END = "});"


def test_success(run):
    script = BEGIN + "return [await attempt((number) => `attempt ${number}`, 0), attempts];" + END
    assert run(script) == ["attempt 0", [0]]


def test_exponential_backoff(run):
    """Each pause is at least 60 % of 300 ms, 600 ms, …, at most of 3 s."""
    assert run(BEGIN + """
        const result = attempt(fail({ type: "network" }), 10_000);
        await time.advance(60_000);
        return [await result, attempts];
    """ + END) == ["network", [0, 180, 540, 1_260, 2_700, 4_500, 6_300, 8_100, 9_900]]


def test_a_retry_succeeds(run):
    assert run(BEGIN + """
        const result = attempt((number) => {
            if (number < 2) throw new Problem({ type: "unavailable", status: 503 });
            return number;
        }, 10_000);
        await time.advance(60_000);
        return [await result, attempts];
    """ + END) == [2, [0, 180, 540]]


def test_the_server_says_when(run):
    assert run(BEGIN + """
        const result = attempt(fail({ type: "rate_limited", status: 429, retryAfter: 4_000 }), 10_000);
        await time.advance(60_000);
        return [await result, attempts];
    """ + END) == ["rate_limited", [0, 4_000, 8_000]]


def test_what_is_not_wanted_any_more_is_not_sent_again(run):
    assert run(BEGIN + """
        let isWanted = true;
        const result = attempt(fail({ type: "rate_limited", status: 429, retryAfter: 4_000 }), 30_000, () => isWanted);
        await time.advance(5_000);
        isWanted = false;
        await time.advance(60_000);
        return [await result, attempts];
    """ + END) == ["rate_limited", [0, 4_000]]


def test_a_pause_beyond_the_timeout_is_not_waited_for(run):
    assert run(BEGIN + """
        const result = await attempt(fail({ type: "rate_limited", status: 429, retryAfter: 60_000 }), 10_000);
        return [result, attempts];
    """ + END) == ["rate_limited", [0]]


def test_rejections_and_bugs_are_not_retried(run):
    assert run(BEGIN + """
        return [
            await attempt(fail({ type: "not_found", status: 404 }), 10_000),
            await attempt(fail({ type: "conflict", status: 409, retryAfter: 10 }), 10_000),
            await attempt(() => { throw new TypeError("undefined is not a function"); }, 10_000),
            attempts,
        ];
    """ + END) == ["not_found", "conflict", "undefined is not a function", [0, 0, 0]]

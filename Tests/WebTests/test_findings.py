"""diagnostics: what the results of the connection test mean, the report, server URLs and round trips."""

import pytest

LABELS = {"stun": "STUN over UDP", "udp": "TURN over UDP", "tcp": "TURN over TCP", "tls": "TURN over TLS"}
NOT_REACHED = {"code": 701, "text": ""}


def result_of(kind, outcome, *errors, port=3478, **rest):
    transport = "UDP" if kind in ("stun", "udp") else "TCP"
    server = {"kind": kind, "label": LABELS.get(kind, kind), "host": "turn.example.org", "port": port,
              "portName": f"{transport} port {port}", "url": f"{kind}:turn.example.org"}  # fmt: skip
    return {"server": server, "result": {"outcome": outcome, "candidates": [], "errors": list(errors), **rest}}


@pytest.fixture
def meaning(call):
    return lambda *test, **rest: call("diagnostics/findings.js", "meaning", result_of(*test, **rest))


@pytest.fixture
def verdict(call):
    return lambda *tests: call("diagnostics/findings.js", "verdict", list(tests))


# Errors that need a broken network or a full server.
@pytest.mark.parametrize(
    ("outcome", "kind", "code", "text"),
    [
        ("refused", "udp", 438, "out of date"),
        ("refused", "tcp", 508, "The relay is full."),
        ("refused", "udp", 600, "not a relay"),
        ("refused", "tcp", 699, "error 699"),
        ("silent", "tls", 0, "No secure connection"),
        ("unconnected", "udp", 0, "nothing came through"),
    ],
)
def test_messages(meaning, verdict, outcome, kind, code, text):
    errors = [NOT_REACHED, {"code": code, "text": ""}] if code else []
    found = meaning(kind, outcome, *errors)
    assert found["level"] == "bad"
    assert text in found["text"]
    assert found["help"]
    judged = verdict(result_of(kind, outcome, *errors))
    assert judged["level"] == "bad"
    assert judged["advice"]


@pytest.mark.parametrize(
    ("pings", "text"),
    [
        ({"sent": 20, "received": 20}, "The relay forwards data in both directions."),
        ({"sent": 20, "received": 19}, "The relay forwards data, but 5 % was lost: calls may stutter."),
        (None, "Nothing was sent through it"),
    ],
)
def test_a_relay_that_works(run, pings, text):
    script = """
        const { meaning } = await load("diagnostics/findings.js");
        test.result.pings = pings ?? undefined;
        return meaning(test);
    """
    found = run(script, test=result_of("udp", "works"), pings=pings)
    assert found["level"] == "good"
    assert text in found["text"]


def test_the_most_specific_error(meaning):
    """The server's own, then a wrong name, then that there is no response."""
    wrong_name = {"code": 701, "text": "TURN host lookup received error."}
    assert "is full" in meaning("udp", "refused", NOT_REACHED, wrong_name, {"code": 508, "text": ""})["text"]
    assert "“turn.example.org” is not known" in meaning("udp", "refused", NOT_REACHED, wrong_name)["text"]
    assert meaning("udp", "refused", NOT_REACHED)["text"] == "The relay does not respond over UDP."
    assert "error 699 (No luck)" in meaning("udp", "refused", {"code": 699, "text": "No luck"})["text"]
    # A kind of server that this page does not know.
    assert meaning("quic", "silent")["text"] == "The relay does not respond over UDP."


def test_servers_that_browsers_do_not_use(meaning):
    found = meaning("dtls", "unusable", {"code": 0, "text": "Not supported"})
    assert (found["level"], found["help"]) == ("unsure", "Not supported")
    assert meaning("dtls", "unusable")["level"] == "unsure"


def test_verdicts(verdict):
    stun, udp = result_of("stun", "works"), result_of("udp", "works")
    blocked_stun, blocked_udp = result_of("stun", "refused", NOT_REACHED), result_of("udp", "refused", NOT_REACHED)
    tcp, tls = result_of("tcp", "works", port=443), result_of("tls", "works", port=5349)
    closed_tcp = result_of("tcp", "silent", port=443)

    good = verdict(stun, udp, tcp)
    assert good == {
        "level": "good", "advice": [],
        "title": "Calls connect directly where they can, otherwise through the relay over UDP.",
    }  # fmt: skip
    without_stun = verdict(blocked_stun, udp, closed_tcp)
    assert (without_stun["level"], without_stun["title"]) == ("good", "Calls connect through the relay over UDP.")
    assert without_stun["advice"] == [
        "STUN does not work, so more calls than usual use the relay.",
        "TURN over TCP (port 443) does not work. It is needed only where UDP is blocked.",
    ]
    assert verdict(blocked_stun, blocked_udp, tcp, tls)["title"] == (
        "UDP seems to be blocked on this network: calls will use TCP on port 443.")  # fmt: skip
    assert verdict(blocked_stun, blocked_udp, closed_tcp, tls)["title"].endswith("calls will use TLS on port 5349.")
    # UDP itself is not blocked where STUN works or the relay responds.
    assert verdict(stun, blocked_udp, tcp)["title"].startswith("The relay does not work over UDP")
    full = result_of("udp", "refused", {"code": 508, "text": ""})
    assert verdict(blocked_stun, full, tcp)["title"].startswith("The relay does not work over UDP")
    assert verdict(stun, tcp)["title"].startswith("This server offers no relay over UDP")
    # Nothing works, with and without a known cause.
    assert verdict(stun, full)["title"].startswith("No relay works")
    assert verdict(stun, full)["advice"][0] == "The relay is full."
    none = verdict(blocked_stun, blocked_udp, closed_tcp)
    assert (none["level"], none["title"]) == ("bad", "Calls will not connect from this network.")
    assert "firewall" in none["advice"][0]
    assert verdict() == {"level": "unsure", "title": "This server has no relay to test.",
                         "advice": ["Send this report to the server’s operator."]}  # fmt: skip


@pytest.mark.parametrize(
    ("url", "kind", "host", "port", "port_name"),
    [
        ("stun:example.org", "stun", "example.org", 3478, "UDP port 3478"),
        ("turn:example.org", "udp", "example.org", 3478, "UDP port 3478"),
        ("turn:example.org:443?transport=tcp", "tcp", "example.org", 443, "TCP port 443"),
        ("turn:example.org?transport=udp", "udp", "example.org", 3478, "UDP port 3478"),
        ("turns:example.org", "tls", "example.org", 5349, "TCP port 5349"),
        ("turns:example.org:443?transport=udp", "dtls", "example.org", 443, "UDP port 443"),
        ("TURN:EXAMPLE.org?transport=TCP", "tcp", "EXAMPLE.org", 3478, "TCP port 3478"),
        ("turn:[2001:db8::1]:3479", "udp", "[2001:db8::1]", 3479, "UDP port 3479"),
        ("turn:[2001:db8::1]", "udp", "[2001:db8::1]", 3478, "UDP port 3478"),
    ],
)
def test_server_urls(call, url, kind, host, port, port_name):
    found = call("diagnostics/server-url.js", "parseServerURL", url)
    expected = {"url": url, "kind": kind, "host": host, "port": port, "portName": port_name}
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("url", ["", "https://example.org", "turn", "example.org:3478"])
def test_urls_of_something_else(call, url):
    found = call("diagnostics/server-url.js", "parseServerURL", url)
    assert (found["kind"], found["host"], found["port"]) == ("unknown", url, 0)


def test_flattened_servers(call):
    """`urls` is one URL or a list of them."""
    found = call("diagnostics/server-url.js", "flattenServers", [
        {"urls": "stun:a.example"},
        {"urls": ["turn:b.example", "turns:b.example"], "username": "ann", "credential": "secret"},
        {"urls": []},
    ])  # fmt: skip
    assert [(one["url"], one["kind"], one.get("username"), one.get("credential")) for one in found] == [
        ("stun:a.example", "stun", None, None),
        ("turn:b.example", "udp", "ann", "secret"),
        ("turns:b.example", "tls", "ann", "secret"),
    ]
    assert call("diagnostics/server-url.js", "flattenServers", []) == []


@pytest.mark.parametrize(
    ("values", "median"), [([], None), ([7], 7), ([3, 1, 2], 2), ([4, 1, 3, 2], 2.5), ([100, 9, 20], 20)]
)
def test_median(call, values, median):
    assert call("diagnostics/pings.js", "median", values) == median


# Runs with a channel that echoes after `delay` milliseconds what `echo` returns for each message.
PINGS = """
    const { exchangePings } = await load("diagnostics/pings.js");
    const { withVirtualTime } = await import("/tests/virtual-time.js");
    return withVirtualTime(async (time) => {
        const channel = { readyState: "open", send(data) {
            const answers = echo(data);
            for (const answer of answers) setTimeout(() => channel.onmessage({ data: answer }), 30);
        } };
        const signal = new AbortController();
        const exchanged = exchangePings(channel, signal.signal);
        await time.advance(5_000);
        return exchanged;
    });
"""


@pytest.mark.parametrize(
    ("echo", "expected"),
    [
        ("[data]", {"sent": 20, "received": 20, "median": 30}),
        ("Number(data) % 4 === 0 ? [] : [data]", {"sent": 20, "received": 15, "median": 30}),
        ("[]", {"sent": 20, "received": 0}),
        # Each message counts once, and what was never sent not at all.
        ("[data, data, '999', '-1', 'text', '']", {"sent": 20, "received": 20, "median": 30}),
    ],
)
def test_pings(run, echo, expected):
    found = run(f"const echo = (data) => {echo};" + PINGS)
    assert {name: value for name, value in found.items() if value is not None} == expected


def test_pings_over_a_channel_that_closes(run):
    assert run("const echo = (data) => data === '4' ? [] : [data];" + PINGS.replace(
        "const answers", "if (data === '4') channel.readyState = 'closed'; const answers"
    )) == {"sent": 5, "received": 4, "median": 30}  # fmt: skip


def test_pings_are_aborted(run):
    assert run("""
        const { exchangePings } = await load("diagnostics/pings.js");
        const controller = new AbortController();
        controller.abort();
        return exchangePings({ readyState: "open", send() {} }, controller.signal).catch((error) => error.name);
    """) == "AbortError"


def test_facts(run):
    found = run("""
        const { facts } = await load("diagnostics/report.js");
        const relay = { type: "relay", protocol: "UDP", family: "IPv4", relayProtocol: "TLS" };
        const own = { type: "srflx", protocol: "UDP", family: "IPv6", relayProtocol: "" };
        const other = { ...own, type: "something" };
        return [
            facts({ candidates: [] }),
            facts({ candidates: [relay, own, { ...relay }, other], first: 3.14159, gathering: 1234.5,
                pings: { sent: 20, received: 19, median: 12.5 } }),
            facts({ candidates: [], pings: { sent: 0, received: 0, median: undefined } }),
        ];
    """)
    assert found == [
        [],
        [
            ["Candidates", "relay UDP IPv4 over TLS, server-reflexive UDP IPv6, something UDP IPv6"],
            ["First candidate after", "3.1 ms"],
            ["Gathering took", "1235 ms"],
            ["Round trip", "13 ms (median of 19)"],
            ["Lost", "5 % of 20"],
        ],
        [["Round trip", "–"], ["Lost", "0 % of 0"]],
    ]


def test_report(call, origin):
    tests = [result_of("udp", "works", pings={"sent": 20, "received": 20, "median": 4.2}),
             result_of("tcp", "refused", NOT_REACHED, NOT_REACHED, {"code": 401, "text": "Unauthorized"})]  # fmt: skip
    text = call("diagnostics/report.js", "reportText", {
        "summary": {"title": "All is well.", "advice": ["Relax."]},
        "environment": {"microphone": {"word": "Allowed"}, "server": {"word": "Connected", "roundTrip": 12.3}},
        "tests": tests,
    })  # fmt: skip
    lines = text.splitlines()
    assert lines[0] == "Switchboard connection report"
    assert f"Server: {origin}" in lines
    assert lines[lines.index("Result: All is well.") + 1] == "  Relax."
    assert "Microphone: Allowed" in lines
    assert "Connection to the server: Connected; 12 ms" in lines
    assert "TURN over UDP, udp:turn.example.org: Works" in lines
    assert "  Round trip: 4.2 ms (median of 20)" in lines
    assert "  Error 401: Unauthorized" in lines
    assert lines.count("  Error 701") == 1

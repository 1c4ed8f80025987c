"""The connection test in a real browser, against the real relay: what works is marked good, failures say why."""

import pytest
from switchboard_tests.browsers.browser import DESK, PHONE, Browser
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.server import Server
from switchboard_tests.certificates import self_signed
from switchboard_tests.ports import free_port

# Nothing listens there, neither over UDP nor over TCP.
CLOSED_PORT = 20_999

# Changes the page's responses from `GET /v1/ice-servers`, until it is reloaded.
CHANGE_SERVERS = """
const native = window.fetch;
const change = new Function("text", arguments[0]);
window.fetch = async (path, options) => {
    const response = await native(path, options);
    if (!String(path).startsWith("/v1/ice-servers")) return response;
    return new Response(change(await response.text()), { status: response.status, headers: response.headers });
};
"""


@pytest.fixture(scope="module")
def browsers(whole_browsers):
    return whole_browsers


@pytest.fixture
def ann(browsers, url):
    """Ann alone, new to the server, signed in."""
    browsers[0].keep_one_tab()
    yield Person(browsers[0], url, "Ann Abel").sign_up()
    browsers[0].driver.get("about:blank")


def run_test(person):
    """Opens the page and waits for the end of the test."""
    person.go("diagnostics")
    finished(person)


def finished(person):
    person.browser.wait(
        "the connection test to finish",
        lambda: person.all("#verdict[aria-busy=false]") and person.all("[data-action=copy-report]:enabled"),
        60,
    )


def change_servers(person, script):
    person.driver.execute_script(CHANGE_SERVERS, script)


def probe(person, kind):
    """The page's result for the server of one kind, as `(level, text)`."""
    node = person.find(f"#probes [data-kind={kind}]")
    return node.get_attribute("data-level"), node.text


def levels(person):
    return {one.get_attribute("data-kind"): one.get_attribute("data-level") for one in person.all("#probes .probe")}


def report(person):
    """The text that "Copy report" copies to the clipboard."""
    allowed = {"permission": {"name": "clipboard-read"}, "setting": "granted"}
    person.driver.execute_cdp_cmd("Browser.setPermission", allowed)
    person.click("[data-action=copy-report]")
    person.says("#toasts", "Report copied.")
    return person.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")


def test_everything_works(ann, server):
    ann.click("[data-nav=diagnostics]")
    finished(ann)
    assert ann.attribute("#verdict", "data-level") == "good"
    assert "directly where they can" in ann.text("#verdict-title")
    assert set(levels(ann).values()) == {"good"}
    assert {"stun", "udp", "tcp"} <= levels(ann).keys()
    for kind in levels(ann).keys() - {"stun"}:
        _, text = probe(ann, kind)
        assert f"relay UDP IPv4 over {kind.upper()}" in text
        assert "(median of 20)" in text
        assert "0 % of 20" in text
    environment = {one.get_attribute("data-about"): one for one in ann.all("#environment .probe")}
    assert {name: one.get_attribute("data-level") for name, one in environment.items()} == {
        "microphone": "good", "camera": "good", "server": "good"}  # fmt: skip
    assert "Round trip" in environment["server"].text
    # The report has the verdict and the servers.
    text = report(ann)
    assert "Result: Calls connect directly where they can" in text
    assert f"TURN over UDP, turn:127.0.0.1:{server.relay_port if server else ''}" in text
    assert "0 % of 20" in text


def test_report_contains_no_credentials(ann):
    # Keeps the page's ICE servers, to search the report for their credentials.
    change_servers(ann, "window.received = JSON.parse(text); return text;")
    run_test(ann)
    credentials = ann.driver.execute_script("return window.received.iceServers.find((one) => one.credential)")
    text = report(ann)
    assert credentials["credential"] not in text
    assert credentials["username"] not in text


def test_blocked_udp(ann):
    """UDP gets no response, as behind a firewall that drops it: calls use TCP."""
    change_servers(
        ann,
        "return text.replace(/(stun:[^\"]*|turn:[^\"]*transport=udp)/g, "
        f"(url) => url.replace(/:\\d+(?=[?]|$)/, ':{CLOSED_PORT}'))",
    )
    run_test(ann)
    assert ann.attribute("#verdict", "data-level") == "unsure"
    port = ann.driver.execute_script("return /:(\\d+)[?]/.exec(arguments[0])[1]", probe(ann, "tcp")[1])
    assert ann.text("#verdict-title") == f"UDP seems to be blocked on this network: calls will use TCP on port {port}."
    level, text = probe(ann, "udp")
    assert level == "bad"
    assert "The relay does not respond over UDP." in text
    assert f"UDP port {CLOSED_PORT}" in text
    assert levels(ann)["tcp"] == "good"


def test_closed_tcp_port(ann):
    change_servers(
        ann,
        "return text.replace(/turn:[^\"]*transport=tcp/g, "
        f"(url) => url.replace(/:\\d+(?=[?]|$)/, ':{CLOSED_PORT}'))",
    )
    run_test(ann)
    level, text = probe(ann, "tcp")
    assert level == "bad"
    assert "The relay does not respond over TCP." in text
    assert f"TCP port {CLOSED_PORT}" in text
    # UDP is enough to call, and the verdict says so.
    assert ann.attribute("#verdict", "data-level") == "good"
    assert f"TURN over TCP (port {CLOSED_PORT}) does not work" in ann.text("#verdict")


def test_wrong_name(ann):
    change_servers(ann, "return text.replaceAll(/(stun|turn)(s?):[^:\"]+/g, '$1$2:no-such-relay.invalid')")
    run_test(ann)
    assert ann.attribute("#verdict", "data-level") == "bad"
    assert "Calls will not connect from this network." in ann.text("#verdict-title")
    assert "The name “no-such-relay.invalid” is not known." in ann.text("#verdict")
    assert set(levels(ann).values()) == {"bad"}
    assert "is not known" in probe(ann, "udp")[1]
    # Over TCP, browsers do not report name errors.
    assert "misspelt" in probe(ann, "tcp")[1]


def test_wrong_credentials(ann):
    change_servers(ann, "return text.replace(/\"credential\":\"[^\"]*\"/, '\"credential\":\"wrong\"')")
    run_test(ann)
    assert ann.attribute("#verdict", "data-level") == "bad"
    # STUN needs no password.
    assert levels(ann)["stun"] == "good"
    for kind in ("udp", "tcp"):
        level, text = probe(ann, kind)
        assert level == "bad"
        assert "does not accept the user name and password" in text
    assert "Error 401" in report(ann)


def test_quota(request, browsers, tmp_path):
    """Each account may have one allocation at a time: the test's second one is rejected with 486."""
    one = Server(request.config.getoption("--binary"), tmp_path, "  limits:\n    allocationsPerUser: 1\n").start()
    try:
        ann = Person(browsers[0], one.url, "Ann Abel").sign_up()
        run_test(ann)
        level, text = probe(ann, "udp")
        assert level == "bad"
        assert "You have too many relayed connections open already." in text
        assert "Error 486" in report(ann)
    finally:
        browsers[0].driver.get("about:blank")
        one.stop()


def test_again_after_a_failure(ann):
    change_servers(
        ann,
        "return window.isBroken ? text.replace(/\"credential\":\"[^\"]*\"/, '\"credential\":\"wrong\"') : text",
    )
    ann.driver.execute_script("window.isBroken = true")
    run_test(ann)
    assert ann.attribute("#verdict", "data-level") == "bad"
    ann.driver.execute_script("window.isBroken = false")
    ann.click("[data-action=test-again]")
    ann.browser.wait("a good verdict", lambda: ann.all("#verdict[data-level=good]"), 60)


def test_leaving_the_page_ends_the_test(ann):
    ann.go("diagnostics")
    ann.browser.wait("a probe to run", lambda: ann.all("#probes [data-level=testing]"))
    ann.go("people")
    closed = "return window.peers.every((one) => one.signalingState === 'closed')"
    ann.browser.wait("the connections to be closed", lambda: ann.driver.execute_script(closed))
    assert not ann.all("#verdict")


@pytest.fixture(params=["desk", "phone", "dark"])
def look(request, browsers):
    browsers[0].resize(PHONE if request.param == "phone" else DESK)
    browsers[0].set_dark(request.param == "dark")
    yield request.param
    browsers[0].resize(DESK)
    browsers[0].set_dark(False)


def test_pictures(look, ann, pictures):
    """Screenshots of a good and of a bad result. Nothing is wider than the screen."""
    run_test(ann)
    pictures(ann.browser, f"{look}-diagnostics")
    change_servers(ann, "return text.replace(/\"credential\":\"[^\"]*\"/, '\"credential\":\"wrong\"')")
    ann.click("[data-action=test-again]")
    ann.browser.wait("a bad verdict", lambda: ann.all("#verdict[data-level=bad]"), 60)
    pictures(ann.browser, f"{look}-diagnostics-failed")
    width = "return document.documentElement.scrollWidth <= innerWidth"
    assert ann.driver.execute_script(width)


def test_keyboard_and_screen_reader(ann):
    run_test(ann)
    ann.browser.wait(
        "the end to be announced",
        lambda: (
            "Connection test finished."
            in ann.driver.execute_script("return document.getElementById('announcer').textContent")
        ),
    )
    reached = set()
    for _ in range(30):
        ann.press("\ue004")
        reached.add(ann.driver.execute_script("return document.activeElement.dataset.action"))
    assert {"copy-report", "test-again"} <= reached
    # Every state has a word beside its icon, which screen readers skip.
    for row in ann.all("#probes .probe, #environment .probe"):
        assert row.find_element("css selector", ".probe-word").text
        assert row.find_element("css selector", ".mark").get_attribute("aria-hidden") == "true"


@pytest.fixture(scope="module")
def secure_server(request, tmp_path_factory):
    """A server whose relay also supports TLS, with a self-signed certificate."""
    folder = tmp_path_factory.mktemp("secure")
    certificate, key = self_signed(folder)
    tls_port = free_port()
    settings = f"  tlsPorts: [{tls_port}]\n  certificate: {certificate}\n  privateKey: {key}\n"
    one = Server(request.config.getoption("--binary"), folder, settings).start()
    yield one, tls_port
    one.stop()


def test_tls(secure_server, tmp_path):
    """A browser that trusts the certificate gets through over TLS."""
    server, port = secure_server
    browser = Browser("trusting", tmp_path, ["--ignore-certificate-errors"], is_whole=True)
    try:
        ann = Person(browser, server.url, "Ann Abel").sign_up()
        run_test(ann)
        assert probe(ann, "tls")[0] == "good"
        assert "relay UDP IPv4 over TLS" in probe(ann, "tls")[1]
        assert "0 % of 20" in probe(ann, "tls")[1]
        assert set(levels(ann).values()) == {"good"}
        # Only TLS works.
        change_servers(
            ann,
            f"return text.replace(/(stun:|turn:)([^\"]*)/g, (url) => url.replace(/:\\d+(?=[?]|$)/, ':{CLOSED_PORT}'))",
        )
        ann.click("[data-action=test-again]")
        ann.browser.wait("another verdict", lambda: ann.all("#verdict[data-level=unsure]"), 60)
        assert ann.text("#verdict-title").endswith(f"calls will use TLS on port {port}.")
    finally:
        browser.quit()


def test_untrusted_certificate(secure_server, browsers):
    server, port = secure_server
    ann = Person(browsers[0], server.url, "Ann Abel").sign_up()
    run_test(ann)
    level, text = probe(ann, "tls")
    assert level == "bad"
    assert "No secure connection to the relay could be made." in text
    assert "does not trust the relay’s certificate" in text
    assert ann.attribute("#verdict", "data-level") == "good"
    assert f"TURN over TLS (port {port}) does not work" in ann.text("#verdict")
    browsers[0].driver.get("about:blank")

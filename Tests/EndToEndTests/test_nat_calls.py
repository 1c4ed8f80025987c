"""Calls of the web client between browsers behind real NATs: network namespaces, and what firewalls leave open.

The browsers get all of the server's ICE URLs, and find out by ICE which of them work. The pages are served over HTTPS
from 20.0.0.2, and the relay is 20.0.0.1: both on port 443, as in a deployment for restrictive networks.
"""

import pytest
from switchboard_tests.browsers.pages import connect, connect_group, everybody_receives_media
from switchboard_tests.impaired_link import Impairments
from switchboard_tests.namespaces import EVERYTHING, NO_UDP, ONLY_443, PORT_RESTRICTED, SYMMETRIC

pytestmark = pytest.mark.alone

pytest_plugins = ["distant"]

# Chromium begins with its TCP candidates 50 ms after the relayed ones, and not at all if those have connected by then.
FAR = Impairments(latency=0.02)

CHOSEN = """
const done = arguments[arguments.length - 1];
window.peers.at(-1).getStats().then((stats) => {
    const reports = [...stats.values()];
    const transport = reports.find((one) => one.type === "transport");
    const pair = reports.find((one) => one.id === transport?.selectedCandidatePairId);
    const local = reports.find((one) => one.id === pair?.localCandidateId);
    done([local?.candidateType ?? null, local?.relayProtocol ?? local?.protocol ?? null, local?.url ?? null]);
});
"""


@pytest.fixture(scope="module")
def ben(make_person):
    """Somebody behind a NAT with address-and-port-dependent mapping."""
    with make_person("Ben Brook", SYMMETRIC) as one:
        yield one


@pytest.fixture(scope="module")
def cem(make_person):
    with make_person("Cem Can", PORT_RESTRICTED) as one:
        yield one


@pytest.fixture(autouse=True)
def at_rest(ben, cem):
    """Takes them out of the call that a failed test left behind."""
    yield
    for one in (ben, cem):
        one.leave_calls()


def hang_up(*people):
    people[0].hang_up()
    for one in people:
        one.phase("ended")
        one.leave_call_screen()


@pytest.mark.parametrize(
    "lets_out, transport",
    [(EVERYTHING, "udp"), (NO_UDP, "tcp"), (ONLY_443, "tls")],
    ids=["everything", "no-udp", "only-443"],
)
def test_a_call_uses_the_transport_that_the_firewall_allows(person, ben, cem, lets_out, transport):
    ann = person(f"Ann {transport}", SYMMETRIC, lets_out, seed=1)
    ann.browser.network.link.impair(up=FAR, down=FAR)
    connect(ann, ben)
    for one in (ann, ben):
        one.receives_audio()
    kind, protocol, url = ann.driver.execute_async_script(CHOSEN)
    # If Ben's relayed address is used instead of hers, her own candidate is the address that it saw of her NAT.
    if transport == "udp":
        assert "relay" in ann.path()
    else:
        assert (kind, protocol) == ("relay", transport), url
        assert transport != "tls" or url == "turns:20.0.0.1:443?transport=tcp"
    hang_up(ann, ben)

    # A group call: directly to the gateway over UDP or TCP, and through the relay where nothing else works.
    people = [ann, ben, cem]
    connect_group(*people)
    everybody_receives_media(people)
    # The first pair that works may be replaced: a relay may have been faster.
    def is_chosen():
        kind, protocol, url = ann.driver.execute_async_script(CHOSEN)
        if transport == "tls":
            return (kind, protocol, url) == ("relay", "tls", "turns:20.0.0.1:443?transport=tcp")
        return kind not in (None, "relay") and protocol == transport

    ann.browser.wait("the shortest path that works", is_chosen)
    for one in people:
        one.hang_up()
    for one in people:
        one.leave_call_screen()


@pytest.mark.parametrize("kind", [PORT_RESTRICTED, SYMMETRIC], ids=["port-restricted", "symmetric"])
def test_a_call_goes_on_from_another_address(person, ben, kind):
    """The NAT gets another public address during a call: an ICE restart finds the new path."""
    ann = person("Ann Abel", kind)
    connect(ann, ben)
    before = ann.browser.media()["ufrag"]
    ann.browser.network.move()
    ann.browser.wait("an ICE restart", lambda: ann.browser.media()["ufrag"] != before)
    assert ann.browser.media()["connections"] == 1
    for one in (ann, ben):
        one.is_connected(40)
        one.has_video()
        one.receives_audio()
    hang_up(ann, ben)


@pytest.mark.parametrize("lets_out", [EVERYTHING, NO_UDP], ids=["udp", "tcp"])
def test_a_group_call_goes_on_from_another_address(person, ben, cem, lets_out):
    """The gateway follows a leg to the source of its checks; over TCP the same leg reconnects."""
    ann = person("Ann Avery", PORT_RESTRICTED, lets_out)
    people = [ann, ben, cem]
    connect_group(*people)
    everybody_receives_media(people)
    before = ann.browser.media()["connections"]
    ann.browser.network.move()
    everybody_receives_media(people)
    for one in people:
        one.is_connected(limit=60)
    assert ann.browser.media()["connections"] == before
    for one in people:
        one.hang_up()
    for one in people:
        one.leave_call_screen()

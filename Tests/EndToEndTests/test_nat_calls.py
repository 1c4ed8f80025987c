"""Calls of the web client between browsers behind real NATs: network namespaces, and what firewalls leave open.

The browsers get every URL that the server gives, and find out for themselves which of them work. The pages come over HTTPS
from 20.0.0.2, and the relay is 20.0.0.1: both on 443, as one has it who wants to reach people in offices and hotels.
"""

import pytest

from namespaces import EVERYTHING, NO_UDP, ONLY_443, PORT_RESTRICTED, SYMMETRIC
from pages import connect, everybody_sees_and_hears, meet

pytest_plugins = ["distant"]

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
def ben(settle):
    """Somebody whose NAT takes another port for every destination."""
    with settle("Ben Brook", SYMMETRIC) as one:
        yield one


@pytest.fixture(scope="module")
def cem(settle):
    with settle("Cem Can", PORT_RESTRICTED) as one:
        yield one


def hang_up(*people):
    people[0].hang_up()
    for one in people:
        one.phase("ended")
        one.leave_call_screen()


@pytest.mark.parametrize(
    "lets_out, way", [(EVERYTHING, "udp"), (NO_UDP, "tcp"), (ONLY_443, "tls")], ids=["everything", "no-udp", "only-443"]
)
def test_a_call_takes_the_way_that_the_firewall_leaves(person, ben, cem, lets_out, way):
    ann = person(f"Ann {way}", SYMMETRIC, lets_out)
    connect(ann, ben)
    for one in (ann, ben):
        one.hears()
    kind, protocol, url = ann.driver.execute_async_script(CHOSEN)
    # Where Ben's relayed address is used instead of hers, her own candidate is what it saw of her NAT.
    if way == "udp":
        assert "relay" in ann.path()
    else:
        assert (kind, protocol) == ("relay", way), url
        assert way != "tls" or url == "turns:20.0.0.1:443?transport=tcp"
    hang_up(ann, ben)

    # A group call: straight to the gateway by UDP or TCP, and by the relay where only that gets through.
    people = [ann, ben, cem]
    meet(*people)
    everybody_sees_and_hears(people)
    # The first pair that works is not the last word: a relay may have been quicker.
    def is_chosen():
        kind, protocol, url = ann.driver.execute_async_script(CHOSEN)
        if way == "tls":
            return (kind, protocol, url) == ("relay", "tls", "turns:20.0.0.1:443?transport=tcp")
        return kind not in (None, "relay") and protocol == way

    ann.browser.wait("the shortest way that is open", is_chosen, 30)
    for one in people:
        one.hang_up()
    for one in people:
        one.leave_call_screen()


@pytest.mark.parametrize("kind", [PORT_RESTRICTED, SYMMETRIC], ids=["port-restricted", "symmetric"])
def test_a_call_goes_on_from_another_address(person, ben, kind):
    """The home gets another public address in the middle of a call: an ICE restart finds the new way."""
    ann = person("Ann Abel", kind)
    connect(ann, ben)
    before = ann.browser.media()["ufrag"]
    ann.browser.network.move()
    ann.browser.wait("an ICE restart", lambda: ann.browser.media()["ufrag"] != before, 40)
    assert ann.browser.media()["connections"] == 1
    for one in (ann, ben):
        one.is_connected(40)
        one.has_video()
        one.hears()
    hang_up(ann, ben)


@pytest.mark.parametrize("lets_out", [EVERYTHING, NO_UDP], ids=["udp", "tcp"])
def test_a_group_call_goes_on_from_another_address(person, ben, cem, lets_out):
    """The gateway follows a leg to where its checks come from; what TCP carried finds a new way with the same leg."""
    ann = person("Ann Avery", PORT_RESTRICTED, lets_out)
    people = [ann, ben, cem]
    meet(*people)
    everybody_sees_and_hears(people)
    before = ann.browser.media()["connections"]
    ann.browser.network.move()
    everybody_sees_and_hears(people)
    for one in people:
        one.is_connected(limit=60)
    assert ann.browser.media()["connections"] == before
    for one in people:
        one.hang_up()
    for one in people:
        one.leave_call_screen()

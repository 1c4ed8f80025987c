"""Each SRTP profile, forced in turn, between each pair of clients: one call with two Chromiums, a Firefox and aiortc,
in which everybody sees and hears everybody."""

import pathlib

import pytest
from switchboard_tests.browsers.browser import WATCH_PEERS
from switchboard_tests.browsers.firefox import firefox
from switchboard_tests.browsers.pages import Person, together
from switchboard_tests.browsers.peer import Peer
from switchboard_tests.browsers.server import Server

pytestmark = pytest.mark.alone

# The server's names, with those of browsers (RFC 4568 or RFC 5764) and OpenSSL.
PROFILES = {
    "AEAD-AES-128-GCM": {"AEAD_AES_128_GCM", "SRTP_AEAD_AES_128_GCM"},
    "AEAD-AES-256-GCM": {"AEAD_AES_256_GCM", "SRTP_AEAD_AES_256_GCM"},
    "AES128-CM-SHA1-80": {"AES_CM_128_HMAC_SHA1_80", "SRTP_AES128_CM_HMAC_SHA1_80", "SRTP_AES128_CM_SHA1_80"},
}

TRANSPORT = """
const done = arguments[arguments.length - 1];
const peer = window.peers.filter((one) => one.signalingState !== "closed").at(-1);
peer.getStats().then((stats) => {
    const { srtpCipher, dtlsState, tlsVersion } = [...stats.values()].find((one) => one.type === "transport") ?? {};
    done({ srtpCipher, dtlsState, tlsVersion, servers: peer.getConfiguration().iceServers.flatMap((one) => one.urls) });
}, (error) => done({ error: String(error) }));
"""


@pytest.fixture(scope="module")
def fox(tmp_path_factory):
    if not pathlib.Path("/usr/bin/firefox-esr").exists():
        pytest.skip("firefox-esr is not installed")
    with firefox(tmp_path_factory.mktemp("firefox")) as browser:
        yield browser


@pytest.fixture(params=PROFILES)
def forced(request, tmp_path):
    """A server with a single profile."""
    if request.config.getoption("--url"):
        pytest.skip("needs a server of its own")
    server = Server(
        request.config.getoption("--binary"), tmp_path, gateway=f"  srtpProfiles: [{request.param}]\n"
    ).start()
    yield request.param, server.url
    server.stop()


@pytest.fixture
def peer(forced):
    one = Peer(forced[1], "Pia Pine")
    yield one
    one.close()


def test_everybody_receives_everybody(forced, browsers, fox, peer):
    profile, url = forced
    pages = [
        Person(browser, url, name).sign_up(save_data=True)
        for browser, name in zip((*browsers, fox), ("Ann Abel", "Ben Brook", "Fay Fox"))
    ]
    ann, ben, fay = pages
    fay.driver.execute_script(WATCH_PEERS)
    ann.call_group([ben, fay, peer])
    for person in (ben, fay):
        person.rings(limit=60)
        person.answer()
    peer.answer(slots=3)
    for person in pages:
        person.is_connected(limit=60)

    def receives(person):
        person.sees(*(other for other in (*pages, peer) if other is not person))
        person.receives_voices(3)

    together(pages, receives)
    peer.receives_everybody(3)

    assert peer.protection in PROFILES[profile]
    for person in pages:
        transport = person.driver.execute_async_script(TRANSPORT)
        assert transport["srtpCipher"] in PROFILES[profile], transport
        schemes = {url.split(":")[0] for url in transport["servers"]}
        assert {"stun", "turn"} <= schemes, "the whole list of servers is set"
    for person in pages:
        person.hang_up()

"""Clients whose DTLS ClientHello is larger than a datagram, since it has a post-quantum key share."""

import pytest
from capture import X25519_MLKEM768, capture
from switchboard_tests.browsers.browser import Browser
from switchboard_tests.browsers.pages import Person
from switchboard_tests.browsers.peer import Peer

pytestmark = pytest.mark.alone

TRANSPORT = """
const done = arguments[arguments.length - 1];
window.peers.filter((one) => one.signalingState !== "closed").at(-1).getStats().then((stats) => {
    const reports = [...stats.values()];
    const transport = reports.find((one) => one.type === "transport");
    done({ version: transport?.tlsVersion });
});
"""


@pytest.fixture(scope="module")
def modern(tmp_path_factory):
    """libwebrtc offers X25519MLKEM768 first, beside X25519."""
    browser = Browser(
        "modern", tmp_path_factory.mktemp("modern"), ["--force-fieldtrials=WebRTC-EnableDtlsPqc/Enabled/"]
    )
    yield browser
    browser.quit()


@pytest.fixture
def peer(url):
    one = Peer(url, "Pia Pine")
    yield one
    one.close()


def test_a_post_quantum_hello(browsers, modern, peer, url):
    ann = Person(browsers[0], url, "Ann Abel").sign_up(save_data=True)
    mia = Person(modern, url, "Mia Moss").sign_up(save_data=True)
    with capture() as seen:
        # Two alone would talk directly.
        ann.call_group([mia, peer])
        mia.rings(limit=60)
        mia.answer()
        peer.answer(slots=2)
        for person, other in ((ann, mia), (mia, ann)):
            person.is_connected(limit=60)
            person.sees(other)
            person.receives_voices(2)
        transport = mia.driver.execute_async_script(TRANSPORT)
    # By what it offers: the port of the pair that is selected by now need not be that of the handshake.
    hellos = [one for one in seen.hellos() if X25519_MLKEM768 in one.key_shares]
    assert hellos, f"captured {({port: len(datagrams) for port, datagrams in seen.datagrams.items()})}"
    for hello in hellos:
        print(f"{len(hello.body)} bytes in {hello.datagrams} datagrams, key shares {hello.key_shares}, {transport}")
        # ML-KEM-768 has 1184 bytes, X25519 32.
        assert hello.key_shares[X25519_MLKEM768] == 1216
        assert hello.datagrams >= 2 and len(hello.body) > 1216
    assert transport["version"] == "FEFD", "The server speaks DTLS 1.2."
    for person in (ann, mia):
        person.hang_up()

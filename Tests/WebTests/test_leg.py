"""media/leg.js with a connection of the same page in the place of the gateway: ICE restarts whose requests fail."""

import pytest

# Runs the rest with a connected leg; `failures` are thrown by the next offers, `ufrags` are those of all offers.
BEGIN = """
    const { Leg } = await import("/scripts/media/leg.js");
    const { Emitter } = await import("/scripts/state/emitter.js");
    const { Problem } = await import("/scripts/connection/problems.js");
    const failures = [];
    const serverFailures = [];
    let serverRequests = 0;
    const ufrags = [];
    const gateway = new RTCPeerConnection();
    const until = async (what, condition) => {
        const end = performance.now() + 20_000;
        while (!condition()) {
            if (performance.now() > end) throw new Error(`waited for ${what}`);
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
    };
    const leg = new Leg({
        media: new Emitter(),
        epoch: 1,
        servers: async () => {
            serverRequests += 1;
            if (serverFailures.length > 0) throw serverFailures.shift();
            return [];
        },
        slotCounts: () => ({ audio: 1, video: 0 }),
        relayOnly: () => false,
        request: async () => {},
        qualityFor: () => "high",
        isFatal: () => false,
        offer: async (sdp) => {
            ufrags.push(/a=ice-ufrag:(\\S+)/.exec(sdp)[1]);
            if (failures.length > 0) throw failures.shift();
            await gateway.setRemoteDescription({ type: "offer", sdp });
            await gateway.setLocalDescription();
            await until("candidates", () => gateway.iceGatheringState === "complete");
            return { answer: { sdp: gateway.localDescription.sdp }, epoch: 1, slots: [] };
        },
    });
    const { connection } = leg;
    const offers = (count) => until(`${count} offers`, () => ufrags.length === count && connection.signalingState === "stable");
    try {
        await until("the connection", () => leg.state === "connected");
"""
END = "} finally { leg.close(); gateway.close(); }"


@pytest.fixture
def leg(run):
    return lambda script: run(BEGIN + script + END)


@pytest.mark.parametrize("state", ["connected", "reconnecting"])
@pytest.mark.parametrize("failure", ["network", "timeout", "unavailable"])
def test_a_restart_whose_request_fails_is_offered_again(leg, state, failure):
    """A change of network often breaks the socket under the very request that is to follow it."""
    assert leg(f"""
        leg.state = "{state}";
        failures.push(new Problem({{ type: "{failure}" }}), new Problem({{ type: "{failure}" }}));
        leg.restart();
        await offers(4);
        return [new Set(ufrags).size, leg.connection === connection];
    """) == [4, True]


def test_a_restart_without_servers_waits_before_it_asks_again(leg):
    assert leg("""
        leg.state = "reconnecting";
        for (const _ of [1, 2]) serverFailures.push(new Problem({ type: "rate_limited", retryAfter: 100 }));
        leg.restart();
        await offers(2);
        // Timers that were left over would offer again.
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        return [serverRequests, new Set(ufrags).size, ufrags.length, leg.connection === connection];
    """) == [4, 2, 2, True]


def test_another_offer_that_fails_does_not_restart_ice(leg):
    assert leg("""
        failures.push(new Problem({ type: "network" }));
        leg.renegotiate();
        await offers(3);
        return [new Set(ufrags).size, leg.connection === connection];
    """) == [1, True]


def test_a_rejected_restart_makes_a_new_connection(leg):
    assert leg("""
        failures.push(new Problem({ type: "not_found", status: 404 }));
        leg.restart();
        await until("another offer", () => ufrags.length === 3);
        return leg.connection === connection;
    """) is False

"""media/negotiation.js in both sides of a direct call: offers, glare, reloaded pages and unanswered offers."""

import pytest

# Runs the rest with `sides` (two-sides.js).
BEGIN = """
    const { TwoSides } = await import("/tests/two-sides.js");
    const sides = new TwoSides();
    const stable = () => sides.until("both to be stable", () => sides.isStable);
    const connected = () => sides.until("both to be connected",
        () => Object.values(sides.peers).every(({ state }) => state === "connected"));
    const kinds = (peer) => peer.connection.getTransceivers()
        .map(({ receiver, currentDirection }) => `${receiver.track.kind} ${currentDirection}`);
    try {
"""
END = "} finally { sides.close(); }"


@pytest.fixture
def negotiate(run):
    return lambda script: run(BEGIN + script + END)


def test_a_call(negotiate):
    found = negotiate("""
        await sides.connect("video");
        await connected();
        return { offers: sides.offers, matches: sides.doesMatch, a: kinds(sides.peers.a), b: kinds(sides.peers.b) };
    """)
    sections = ["audio sendrecv", "video sendrecv"]
    assert found == {"offers": [["a", 1]], "matches": True, "a": sections, "b": sections}


def test_candidates_that_overtake_their_description(negotiate):
    assert negotiate("""
        sides.held = [];
        const connecting = sides.connect();
        await sides.until("an offer and candidates", () => sides.held.some(([, { kind }]) => kind === "candidates"));
        const early = sides.held.filter(([to, { kind }]) => to === "b" && kind === "candidates")
            .flatMap(([, { payload }]) => payload.candidates);
        sides.held.reverse();
        sides.release();
        await connecting;
        await connected();
        const { sdp } = sides.peers.b.connection.remoteDescription;
        // By address and port.
        const isAdded = ({ candidate }) => sdp.includes(candidate.split(" ").slice(4, 6).join(" "));
        return early.length > 0 && early.every(isAdded);
    """) is True


def test_an_ice_restart_has_new_credentials(negotiate):
    assert negotiate("""
        await sides.connect();
        await connected();
        const { connection } = sides.peers.a;
        const ufrag = () => /a=ice-ufrag:(\\S+)/.exec(connection.localDescription.sdp)[1];
        const before = ufrag();
        sides.peers.a.restart();
        await sides.until("the restart", () => ufrag() !== before);
        await stable();
        await connected();
        return [sides.offers, sides.doesMatch, sides.peers.a.connection === connection];
    """) == [[["a", 1], ["a", 2]], True, True]


def test_of_two_colliding_offers_the_second_waits_for_the_first(negotiate):
    """Both restart at once: B's is rejected with A's, B answers A's and offers again."""
    found = negotiate("""
        await sides.connect();
        await connected();
        sides.held = [];
        sides.peers.a.restart();
        await sides.until("the offer of A", () => sides.generation >= 2);
        sides.peers.b.restart();
        await sides.until("the rejection", () => sides.rejections.length > 0);
        sides.release();
        await sides.until("the offer of B", () => sides.generation >= 3);
        await stable();
        await connected();
        return { offers: sides.offers, rejections: sides.rejections, matches: sides.doesMatch };
    """)
    assert found == {"offers": [["a", 1], ["a", 2], ["b", 3]], "rejections": [["b", 1]], "matches": True}


def test_both_add_video_at_once(negotiate):
    """The two become one section, not two."""
    found = negotiate("""
        const context = document.createElement("canvas");
        context.getContext("2d");
        const track = () => context.captureStream().getVideoTracks()[0];
        await sides.connect();
        for (const name of ["a", "b"]) {
            sides.media[name].video = track();
            sides.media[name].emit("tracks");
        }
        await sides.until("a further offer", () => sides.generation > 1);
        await sides.until("video in both directions", () => sides.isStable
            && Object.values(sides.peers).every((peer) => kinds(peer).includes("video sendrecv")));
        return [kinds(sides.peers.a), kinds(sides.peers.b), sides.doesMatch];
    """)
    sections = ["audio sendrecv", "video sendrecv"]
    assert found == [sections, sections, True]


def test_a_reloaded_page(negotiate):
    """Its offer is from another connection, so the other side answers with a new one, too."""
    found = negotiate("""
        await sides.connect();
        await connected();
        const [before, there] = [sides.peers.a.connection, sides.peers.b.connection];
        sides.open("a");
        await sides.peers.a.rejoin(sides.generation, "audio");
        await sides.until("the offer", () => sides.generation >= 2);
        await stable();
        await connected();
        return { offers: sides.offers, matches: sides.doesMatch, isNew: sides.peers.b.connection !== there,
            isClosed: there.signalingState === "closed" };
    """)
    assert found == {"offers": [["a", 1], ["a", 2]], "matches": True, "isNew": True, "isClosed": True}


def test_both_pages_are_reloaded(negotiate):
    found = negotiate("""
        await sides.connect();
        for (const name of ["a", "b"]) sides.open(name);
        await Promise.all(Object.values(sides.peers).map((peer) => peer.rejoin(sides.generation, "audio")));
        await sides.until("a further offer", () => sides.generation > 1);
        await sides.until("a match", () => sides.isStable && sides.doesMatch);
        await connected();
        return sides.doesMatch;
    """)
    assert found is True


def test_a_page_is_reloaded_during_an_offer(negotiate):
    """The answer is from another connection than before: both were replaced at once, and this side offers once more."""
    found = negotiate("""
        await sides.connect();
        await connected();
        const { connection } = sides.peers.a;
        sides.open("b");
        sides.held = [];
        sides.peers.a.restart();
        await sides.until("the offer of A", () => sides.generation >= 2);
        await sides.peers.b.rejoin(1, "audio");
        await sides.until("the rejection", () => sides.rejections.length > 0);
        sides.release();
        await sides.until("a match", () => sides.generation > 2 && sides.isStable && sides.doesMatch);
        await connected();
        return { isNew: sides.peers.a.connection !== connection, isClosed: connection.signalingState === "closed" };
    """)
    assert found == {"isNew": True, "isClosed": True}


def test_a_replaced_connection(negotiate):
    assert negotiate("""
        await sides.connect("video");
        const { connection } = sides.peers.a;
        sides.peers.a.renew();
        await sides.until("the offer", () => sides.generation >= 2);
        await stable();
        await connected();
        return [sides.peers.a.connection !== connection, kinds(sides.peers.a), sides.doesMatch];
    """) == [True, ["audio sendrecv", "video sendrecv"], True]


def test_an_offer_of_this_tab_before_it_was_reloaded(run):
    """The winner is this tab's own: nobody can answer it, so the next offer builds on it."""
    assert run("""
        const { Negotiation } = await load("media/negotiation.js");
        const { Problem } = await load("connection/problems.js");
        const { endpoint } = await load("connection/identity.js");
        await endpoint.claim();
        let connection;
        const rebuild = async () => {
            connection?.close();
            connection = new RTCPeerConnection();
            connection.addTransceiver("audio");
            negotiation?.watch(connection);
        };
        const bases = [];
        let finish;
        const finished = new Promise((resolve) => { finish = resolve; });
        let negotiation;
        await rebuild();
        negotiation = new Negotiation({
            get connection() { return connection; },
            configure: async () => {}, attach: async () => {}, isConnected: () => false, rebuild, tracksChanged() {}, settled() {},
            async send(kind, base) {
                if (kind !== "offer") return {};
                bases.push(base);
                const winner = { from: { endpoint: endpoint.id }, generation: 5 };
                if (base < 5) throw new Problem({ type: "conflict", winner });
                setTimeout(finish);
                return { generation: 6 };
            },
        });
        negotiation.watch(connection);
        negotiation.rejoin(2);
        await finished;
        await negotiation.step(async () => {});
        const { generation } = negotiation;
        negotiation.close();
        connection.close();
        return [bases, generation];
    """) == [[2, 5], 6]


def test_late_and_repeated_signals_change_nothing(negotiate):
    found = negotiate("""
        const signals = [];
        sides.filter = (to, signal) => signals.push([to, signal]);
        await sides.connect();
        await connected();
        sides.peers.a.restart();
        await sides.until("the restart", () => sides.generation >= 2 && sides.isStable);
        // Without the candidates, which may still be gathered.
        const states = () => Object.values(sides.peers)
            .map(({ connection }) => connection.localDescription.sdp.match(/^(o=|a=ice-ufrag:).*/gm).join());
        const before = states();
        for (const [to, signal] of [...signals]) await sides.peers[to].receive(signal);
        const isSame = states().every((sdp, index) => sdp === before[index]);
        return { offers: sides.offers, isStable: sides.isStable, isSame, matches: sides.doesMatch };
    """)
    assert found == {"offers": [["a", 1], ["a", 2]], "isStable": True, "isSame": True, "matches": True}


def test_a_broken_offer_does_not_stop_the_negotiation(negotiate):
    found = negotiate("""
        const warnings = [];
        const native = console.warn;
        console.warn = (...words) => warnings.push(words[0]);
        try {
            await sides.connect();
            for (const sdp of ["", "v=0", "no description"]) {
                await sides.peers.b.receive({ kind: "answer", generation: 1, payload: { sdp } });
                await sides.peers.b.receive({ kind: "offer", generation: 2, payload: { sdp } });
            }
            const candidates = [{ candidate: "none", sdpMid: "0" }];
            await sides.peers.b.receive({ kind: "candidates", generation: 1, payload: { candidates } });
        } finally { console.warn = native; }
        sides.peers.a.restart();
        await sides.until("a match", () => sides.generation > 1 && sides.isStable && sides.doesMatch);
        await connected();
        return warnings;
    """)
    assert found == ["negotiation:"] * 3


def test_a_connection_that_never_begins_is_restarted(run):
    """Without candidates it neither connects nor fails."""
    assert run("""
        const { TwoSides } = await import("/tests/two-sides.js");
        const { withVirtualTime } = await import("/tests/virtual-time.js");
        const wait = setTimeout.bind(window);
        return withVirtualTime(async (time) => {
            const sides = new TwoSides();
            sides.filter = (to, signal) => signal.kind !== "candidates";
            sides.connect();
            let seconds = 0;
            for (; sides.generation < 2; seconds += 1) {
                await time.advance(1_000);
                // Descriptions are made in real time.
                await new Promise((resolve) => { wait(resolve, 20); });
            }
            sides.close();
            return seconds >= 15;
        });
    """) is True


# Runs the rest with a negotiation of one side, whose connection is already described, in virtual time. `offers` has
# [seconds since the beginning, the generation it builds on], `restarts` the same for ICE restarts.
ONE_SIDE = """
    const { Negotiation } = await load("media/negotiation.js");
    const { Problem } = await load("connection/problems.js");
    const { withVirtualTime } = await import("/tests/virtual-time.js");
    const offer = (ufrag) => `v=0\\r\\no=- 1 1 IN IP4 127.0.0.1\\r\\na=ice-ufrag:${ufrag}\\r\\n`;
    return withVirtualTime(async (time) => {
        const offers = [];
        let restartCount = 0;
        let respond = (base) => ({ generation: base + 1 });
        let isConnected = true;
        const connection = {
            signalingState: "stable",
            localDescription: null,
            remoteDescription: { type: "answer", sdp: offer("there") },
            async setLocalDescription(description) {
                const isOffer = this.signalingState === "stable" && description?.type !== "rollback";
                this.signalingState = isOffer ? "have-local-offer" : "stable";
                this.localDescription = { type: "offer", sdp: offer("here") };
            },
            async setRemoteDescription(description) {
                this.signalingState = description.type === "offer" ? "have-remote-offer" : "stable";
                this.remoteDescription = description;
            },
            getTransceivers: () => [],
            restartIce() { restartCount += 1; },
        };
        const begin = performance.now();
        const negotiation = new Negotiation({
            connection, isConnected: () => isConnected,
            async configure() {}, async attach() {}, async rebuild() {}, tracksChanged() {}, settled() {},
            async send(kind, base) {
                if (kind !== "offer") return {};
                offers.push([(performance.now() - begin) / 1_000, base]);
                return respond(base);
            },
        });
        negotiation.watch(connection);
"""


def test_an_offer_that_is_not_answered_is_repeated(run):
    assert run(ONE_SIDE + """
        negotiation.rejoin(4);
        await time.advance(25_000);
        negotiation.close();
        await time.advance(60_000);
        return [offers, restartCount];
    });""") == [[[0, 4], [11, 5], [22, 6]], 1]


def test_an_offer_that_is_not_answered_restarts_ice_when_disconnected(run):
    assert run(ONE_SIDE + """
        isConnected = false;
        negotiation.rejoin(4);
        await time.advance(25_000);
        negotiation.close();
        return restartCount;
    });""") == 3


def test_an_offer_that_cannot_be_sent_is_repeated_with_its_restart(run):
    assert run(ONE_SIDE + """
        respond = () => { throw new Problem({ type: "network" }); };
        negotiation.rejoin(4);
        await time.advance(7_000);
        respond = (base) => ({ generation: base + 1 });
        await time.advance(9_000);
        const state = connection.signalingState;
        negotiation.close();
        return [offers, restartCount, state];
    });""") == [[[0, 4], [5, 4], [10, 4]], 3, "have-local-offer"]


def test_the_loser_of_a_collision_answers_and_offers_again(run):
    assert run(ONE_SIDE + """
        const winner = { from: { endpoint: "there" }, generation: 5, payload: { sdp: offer("restarted") } };
        respond = (base) => {
            if (base === 4) throw new Problem({ type: "conflict", winner });
            return { generation: base + 1 };
        };
        negotiation.rejoin(4);
        await time.advance(1_000);
        const [{ generation }, { sdp }] = [negotiation, connection.remoteDescription];
        negotiation.close();
        return [offers, generation, sdp === winner.payload.sdp];
    });""") == [[[0, 4], [0, 5]], 6, True]


def test_a_rejected_offer_is_not_repeated(run):
    assert run(ONE_SIDE + """
        respond = () => { throw new Problem({ type: "call_ended", status: 409 }); };
        negotiation.rejoin(4);
        await time.advance(60_000);
        const state = connection.signalingState;
        negotiation.close();
        return [offers, state];
    });""") == [[[0, 4]], "stable"]


def test_offers_during_an_offer_become_one(run):
    assert run(ONE_SIDE + """
        negotiation.rejoin(4);
        await time.advance(1_000);
        negotiation.offer();
        negotiation.restart();
        await time.advance(5_000);
        const during = [...offers];
        // This is the first answer: a later one from another connection would replace this one.
        connection.remoteDescription = null;
        await negotiation.receive({ kind: "answer", generation: 5, payload: { sdp: offer("there") } });
        await time.advance(5_000);
        negotiation.close();
        return [during, offers];
    });""") == [[[0, 4]], [[0, 4], [6, 5]]]


def test_nothing_happens_after_closing(run):
    assert run(ONE_SIDE + """
        negotiation.close();
        negotiation.rejoin(4);
        await negotiation.receive({ kind: "offer", generation: 9, payload: { sdp: offer("there") } });
        await time.advance(60_000);
        return [offers, negotiation.generation, connection.signalingState];
    });""") == [[], 4, "stable"]

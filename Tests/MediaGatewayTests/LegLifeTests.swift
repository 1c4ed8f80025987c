import Gateway
import ICE
import MediaGateway
import OpenSSLCrypto
import SecureMedia
import Testing
import Wire

@Suite("The lifetime of legs")
struct LegLifeTests {
    @Test("two legs of a call receive each other's audio, with each profile", arguments: SRTPProfile.allCases)
    func conversation(profile: SRTPProfile) throws {
        let harness = try MediaGatewayHarness(profiles: [profile])
        let (ann, ben) = try harness.pair(benByStream: true)
        for word in 1...20 as ClosedRange<UInt8> {
            ann.sendAudio(word)
            ben.sendAudio(100 + word)
            harness.settle([ann, ben])
        }
        #expect(ben.received.map(\.word) == Array(1...20))
        #expect(ann.received.map(\.word) == Array(101...120))
        #expect(harness.aliveCount(of: "ann") == 0)
        harness.pass(milliseconds: 500)
        #expect(harness.aliveCount(of: "ann") == 1 && harness.aliveCount(of: "ben") == 1)
        for client in [ann, ben] { try harness.close(client) }
        harness.settle([ann, ben])
        #expect(ann.outcomes == [.closed] && ben.outcomes == [.closed])
        #expect(harness.ends(of: "ann") == [.left])
        #expect(harness.isEmpty)
    }

    @Test("a microphone that is replaced again and again is received each time, beyond SRTP's limit of sources")
    func replacedTracks() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 1_000, to: harness.address)
        let ben = try LegClient("ben", ssrc: 22, to: harness.address)
        for client in [ann, ben] { try harness.connect(client) }
        for word in 1...200 as ClosedRange<UInt8> {
            ann.ssrc += 1
            try harness.renegotiate(ann)
            ann.sendAudio(word)
            if word % 20 == 0 { for client in [ann, ben] { client.check() } }
            harness.settle([ann, ben])
            harness.pass(milliseconds: 500)
        }
        #expect(ben.received.map(\.word) == Array(1...200))
        #expect(harness.stats.tracks == 2 && harness.stats.dropped.secured == 0)
    }

    @Test("a slot that was inactive for a while is received again, each time", arguments: [1, 7])
    func returningSlots(seconds: Int) throws {
        let harness = try MediaGatewayHarness()
        let (ann, ben) = try harness.pair()
        for word in 1...12 as ClosedRange<UInt8> {
            ann.sendAudio(word)
            harness.settle([ann, ben])
            #expect(ben.received.last?.word == word)
            ben.isInactive = true
            try harness.renegotiate(ben)
            // After five seconds SRTP has given the sources up.
            harness.pass(seconds: seconds, checking: [ann, ben])
            ben.isInactive = false
            try harness.renegotiate(ben)
        }
        harness.pass(milliseconds: 300)
        #expect(harness.stats.packetsRejected == 0)
    }

    @Test("the first leg after a quiet time is served as soon as others")
    func firstLeg() throws {
        let harness = try MediaGatewayHarness()
        harness.pass(milliseconds: 1_000)
        harness.pass(milliseconds: 10)
        #expect(harness.nanosecondsUntilTick > 500_000_000)
        try harness.open(try LegClient("ann", ssrc: 11, to: harness.address))
        #expect(harness.nanosecondsUntilTick <= GatewayEngine.tickNanoseconds)
    }

    @Test("a leg without checks ends after thirty seconds")
    func neverComes() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address)
        try harness.open(ann)
        // A stranger's check, with another password, is nothing.
        let guessed: LocalCredentials = try #require(LocalCredentials.random(ann))
        ann.check(nominates: true, with: guessed)
        harness.pass(seconds: 29)
        #expect(harness.ends(of: "ann").isEmpty && harness.stats.legs == 1 && harness.stats.dropped.check == 1)
        harness.pass(seconds: 2)
        #expect(harness.ends(of: "ann") == [.neverConnected])
        #expect(harness.isEmpty)
    }

    @Test("a handshake that does not end in thirty seconds ends the leg, wherever it stalls", arguments: [0, 1])
    func stalls(datagrams: Int) throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address)
        try harness.open(ann)
        ann.check(nominates: true)
        harness.settle([ann])
        ann.handshakeDatagrams = datagrams
        ann.startHandshake()
        harness.pass(seconds: 29, checking: [ann])
        #expect(harness.ends(of: "ann").isEmpty && harness.stats.connectedLegs == 0 && harness.stats.flows == 1)
        harness.pass(seconds: 2, checking: [ann])
        #expect(harness.ends(of: "ann") == [.handshakeFailed])
        #expect(harness.handshakeFailures == ["ann: not complete after 30 s"])
        #expect(harness.isEmpty)
    }

    @Test("media without checks is no consent: the leg ends after thirty seconds")
    func consent() throws {
        let harness = try MediaGatewayHarness()
        let ann = try harness.connected("ann")
        for second in 0..<29 as Range<UInt8> {
            ann.sendAudio(second)
            harness.pass(seconds: 1)
        }
        #expect(harness.ends(of: "ann").isEmpty)
        ann.check()
        harness.pass(seconds: 29, checking: [])
        #expect(harness.ends(of: "ann").isEmpty, "The last check counts.")
        ann.sendAudio(1)
        harness.pass(seconds: 2)
        #expect(harness.ends(of: "ann") == [.connectionLost])
        #expect(harness.isEmpty)
    }

    @Test("a certificate that does not match the offer ends the leg without keys")
    func wrongCertificate() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address)
        ann.claimed = try #require(MediaIdentity.make()?.fingerprint())
        try harness.open(ann)
        ann.check(nominates: true)
        harness.settle([ann])
        ann.startHandshake()
        harness.settle([ann])
        #expect(harness.ends(of: "ann") == [.wrongCertificate])
        #expect(harness.stats.handshakes == 0)
        #expect(harness.isEmpty)
    }

    @Test("a client that closes its PeerConnection ends its leg and leaves its slots to others")
    func closes() throws {
        let harness = try MediaGatewayHarness()
        let (ann, ben) = try harness.pair()
        ann.close()
        harness.settle([ann, ben])
        harness.pass(milliseconds: 500)
        #expect(harness.ends(of: "ann") == [.closed] && harness.ends(of: "ben").isEmpty)
        #expect(
            harness.stats.legs == 1 && harness.stats.tracks == 1 && harness.stats.flows == 1
                && harness.stats.ufrags == 1)
        try harness.close(ben)
        #expect(harness.isEmpty)
    }

    @Test("when the worker stops, every leg ends with a close_notify")
    func stops() throws {
        let harness = try MediaGatewayHarness()
        let (ann, ben) = try harness.pair(benByStream: true)
        harness.stop()
        _ = ann.takeAll() + ben.takeAll()
        #expect(ann.outcomes == [.closed] && ben.outcomes == [.closed])
        #expect(harness.ends(of: "ann") == [.stopped] && harness.stats.legs == 0 && harness.stats.flows == 0)
    }

    @Test(
        "a stall of the worker takes nobody's time: consent, handshakes and new connections go on from where they were")
    func stalls() throws {
        let harness = try MediaGatewayHarness()
        let (ann, ben) = try harness.pair(benByStream: true)
        let handshaking = try LegClient("cleo", ssrc: 33, to: harness.address)
        try harness.open(handshaking)
        handshaking.check(nominates: true)
        harness.settle([handshaking])
        let unchecked = try LegClient("dora", ssrc: 44, to: harness.streamAddress, isStream: true)
        try harness.open(unchecked)
        harness.pass(seconds: 8)
        // One turn comes four minutes late. Nothing waits in the sockets of any of them.
        harness.pass(milliseconds: 240_000)
        harness.settle([ann, ben, handshaking, unchecked])
        harness.pass(milliseconds: 1_000)
        #expect(["ann", "ben", "cleo", "dora"].flatMap { harness.ends(of: $0) }.isEmpty)
        handshaking.startHandshake()
        unchecked.check(nominates: true)
        harness.settle([handshaking, unchecked])
        #expect(handshaking.isConnected && unchecked.responses == 1)
        ann.sendAudio(1)
        harness.settle([ann, ben])
        #expect(ben.received.map(\.word) == [1])
        // From here on their time passes again.
        harness.pass(seconds: 20)
        #expect(harness.ends(of: "ann").isEmpty)
        harness.pass(seconds: 2)
        #expect(harness.ends(of: "ann") == [.connectionLost] && harness.ends(of: "ben") == [.connectionLost])
        harness.pass(seconds: 10)
        #expect(harness.ends(of: "cleo") == [.connectionLost] && harness.ends(of: "dora") == [.handshakeFailed])
        #expect(harness.isEmpty)
    }

    @Test("after a stall everything that waits is read before timers run, even more than one turn reads")
    func readsDry() throws {
        let harness = try MediaGatewayHarness()
        let (ann, ben) = try harness.pair()
        let before = harness.stats.packetsReceived
        for _ in 0..<600 { ann.sendAudio(1) }
        ben.check()
        harness.pass(milliseconds: 240_000)
        harness.pass(milliseconds: 200)
        #expect(harness.stats.packetsReceived - before >= 601)
        #expect(harness.ends(of: "ann").isEmpty && harness.ends(of: "ben").isEmpty)
    }
}

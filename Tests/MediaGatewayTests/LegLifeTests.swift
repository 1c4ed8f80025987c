import ICE
import MediaGateway
import OpenSSLCrypto
import SecureMedia
import Testing
import Wire

@Suite("How legs live and end")
struct LegLifeTests {
    @Test("two legs of a call hear each other, with each profile", arguments: SRTPProfile.allCases)
    func conversation(profile: SRTPProfile) throws {
        let lab = try GatewayLab(profiles: [profile])
        let (ann, ben) = try lab.pair(benByStream: true)
        for word in 1...20 as ClosedRange<UInt8> {
            ann.say(word)
            ben.say(100 + word)
            lab.settle([ann, ben])
        }
        #expect(ben.heard.map(\.word) == Array(1...20))
        #expect(ann.heard.map(\.word) == Array(101...120))
        #expect(lab.aliveCount(of: "ann") == 0)
        lab.pass(milliseconds: 500)
        #expect(lab.aliveCount(of: "ann") == 1 && lab.aliveCount(of: "ben") == 1)
        for client in [ann, ben] { try lab.close(client) }
        lab.settle([ann, ben])
        #expect(ann.outcomes == [.closed] && ben.outcomes == [.closed])
        #expect(lab.ends(of: "ann") == [.left])
        #expect(lab.isEmpty)
    }

    @Test("a microphone that is replaced again and again is heard each time, longer than SRTP has room for sources")
    func replacedTracks() throws {
        let lab = try GatewayLab()
        let ann = try LegClient("ann", ssrc: 1_000, to: lab.address)
        let ben = try LegClient("ben", ssrc: 22, to: lab.address)
        for client in [ann, ben] { try lab.connect(client) }
        for word in 1...200 as ClosedRange<UInt8> {
            ann.ssrc += 1
            try lab.renegotiate(ann)
            ann.say(word)
            if word % 20 == 0 { for client in [ann, ben] { client.check() } }
            lab.settle([ann, ben])
            lab.pass(milliseconds: 500)
        }
        #expect(ben.heard.map(\.word) == Array(1...200))
        #expect(lab.figures.tracks == 2 && lab.figures.dropped.secured == 0)
    }

    @Test("a slot that was inactive for a while is heard again, each time", arguments: [1, 7])
    func returningSlots(seconds: Int) throws {
        let lab = try GatewayLab()
        let (ann, ben) = try lab.pair()
        for word in 1...12 as ClosedRange<UInt8> {
            ann.say(word)
            lab.settle([ann, ben])
            #expect(ben.heard.last?.word == word)
            ben.isDeaf = true
            try lab.renegotiate(ben)
            // After five seconds SRTP has given the sources up.
            lab.pass(seconds: seconds, checking: [ann, ben])
            ben.isDeaf = false
            try lab.renegotiate(ben)
        }
        lab.pass(milliseconds: 300)
        #expect(lab.figures.packetsRefused == 0)
    }

    @Test("a leg that nobody comes to ends after thirty seconds")
    func neverComes() throws {
        let lab = try GatewayLab()
        let ann = try LegClient("ann", ssrc: 11, to: lab.address)
        try lab.open(ann)
        // A stranger's check, with another password, is nothing.
        ann.check(nominates: true, with: try #require(LocalCredentials.random(ann)))
        lab.pass(seconds: 29)
        #expect(lab.ends(of: "ann").isEmpty && lab.figures.legs == 1 && lab.figures.dropped.check == 1)
        lab.pass(seconds: 2)
        #expect(lab.ends(of: "ann") == [.neverConnected])
        #expect(lab.isEmpty)
    }

    @Test("a handshake that does not end in thirty seconds ends the leg, wherever it stalls", arguments: [0, 1])
    func stalls(datagrams: Int) throws {
        let lab = try GatewayLab()
        let ann = try LegClient("ann", ssrc: 11, to: lab.address)
        try lab.open(ann)
        ann.check(nominates: true)
        lab.settle([ann])
        ann.handshakeDatagrams = datagrams
        ann.greet()
        lab.pass(seconds: 29, checking: [ann])
        #expect(lab.ends(of: "ann").isEmpty && lab.figures.connectedLegs == 0 && lab.figures.flows == 1)
        lab.pass(seconds: 2, checking: [ann])
        #expect(lab.ends(of: "ann") == [.handshakeFailed])
        #expect(lab.isEmpty)
    }

    @Test("media without checks is no consent: after thirty seconds the leg is lost")
    func consent() throws {
        let lab = try GatewayLab()
        let ann = try lab.connected("ann")
        for second in 0..<29 as Range<UInt8> {
            ann.say(second)
            lab.pass(seconds: 1)
        }
        #expect(lab.ends(of: "ann").isEmpty)
        ann.check()
        lab.pass(seconds: 29, checking: [])
        #expect(lab.ends(of: "ann").isEmpty, "The last check counts.")
        ann.say(1)
        lab.pass(seconds: 2)
        #expect(lab.ends(of: "ann") == [.connectionLost])
        #expect(lab.isEmpty)
    }

    @Test("a certificate that the offer did not name ends the leg without keys")
    func wrongCertificate() throws {
        let lab = try GatewayLab()
        let ann = try LegClient("ann", ssrc: 11, to: lab.address)
        ann.claimed = try #require(MediaIdentity.make()?.fingerprint())
        try lab.open(ann)
        ann.check(nominates: true)
        lab.settle([ann])
        ann.greet()
        lab.settle([ann])
        #expect(lab.ends(of: "ann") == [.wrongCertificate])
        #expect(lab.figures.handshakes == 0)
        #expect(lab.isEmpty)
    }

    @Test("a client that closes its PeerConnection ends its leg and leaves its slots to others")
    func closes() throws {
        let lab = try GatewayLab()
        let (ann, ben) = try lab.pair()
        ann.close()
        lab.settle([ann, ben])
        lab.pass(milliseconds: 500)
        #expect(lab.ends(of: "ann") == [.closed] && lab.ends(of: "ben").isEmpty)
        #expect(lab.figures.legs == 1 && lab.figures.tracks == 1 && lab.figures.flows == 1 && lab.figures.names == 1)
        try lab.close(ben)
        #expect(lab.isEmpty)
    }

    @Test("when the worker stops, every leg ends with a goodbye")
    func stops() throws {
        let lab = try GatewayLab()
        let (ann, ben) = try lab.pair(benByStream: true)
        lab.stop()
        _ = ann.takeAll() + ben.takeAll()
        #expect(ann.outcomes == [.closed] && ben.outcomes == [.closed])
        #expect(lab.ends(of: "ann") == [.stopped] && lab.figures.legs == 0 && lab.figures.flows == 0)
    }

    @Test(
        "a stall of the worker takes nobody's time: consent, handshakes and new connections go on from where they were")
    func stalls() throws {
        let lab = try GatewayLab()
        let (ann, ben) = try lab.pair(benByStream: true)
        let shaking = try LegClient("cleo", ssrc: 33, to: lab.address)
        try lab.open(shaking)
        shaking.check(nominates: true)
        lab.settle([shaking])
        let unchecked = try LegClient("dora", ssrc: 44, to: lab.entrance, isStream: true)
        try lab.open(unchecked)
        lab.pass(seconds: 8)
        // One turn comes four minutes late. Nothing waits in the sockets of any of them.
        lab.pass(milliseconds: 240_000)
        lab.settle([ann, ben, shaking, unchecked])
        lab.pass(milliseconds: 1_000)
        #expect(["ann", "ben", "cleo", "dora"].flatMap { lab.ends(of: $0) }.isEmpty)
        shaking.greet()
        unchecked.check(nominates: true)
        lab.settle([shaking, unchecked])
        #expect(shaking.isConnected && unchecked.answers == 1)
        ann.say(1)
        lab.settle([ann, ben])
        #expect(ben.heard.map(\.word) == [1])
        // From here on their time passes again.
        lab.pass(seconds: 20)
        #expect(lab.ends(of: "ann").isEmpty)
        lab.pass(seconds: 2)
        #expect(lab.ends(of: "ann") == [.connectionLost] && lab.ends(of: "ben") == [.connectionLost])
        lab.pass(seconds: 10)
        #expect(lab.ends(of: "cleo") == [.connectionLost] && lab.ends(of: "dora") == [.handshakeFailed])
        #expect(lab.isEmpty)
    }

    @Test("after a stall everything that waits is read before time goes on, more than one turn reads of a socket")
    func readsDry() throws {
        let lab = try GatewayLab()
        let (ann, ben) = try lab.pair()
        let before = lab.figures.packetsReceived
        for _ in 0..<600 { ann.say(1) }
        ben.check()
        lab.pass(milliseconds: 240_000)
        lab.pass(milliseconds: 200)
        #expect(lab.figures.packetsReceived - before >= 601)
        #expect(lab.ends(of: "ann").isEmpty && lab.ends(of: "ben").isEmpty)
    }
}

import Gateway
import Glibc
import MediaGateway
import SDP
import SecureMedia
import Testing
import Wire

/// Clients that wait for the handshake, and encoders that send one check and then media.
@Suite("Legs of which the gateway begins the handshake")
struct PassiveClientTests {
    private static let narrow = WorkBudget(perSecond: 250_000_000, burst: 1)

    @Test("their media goes to and fro, over UDP and TCP", arguments: [false, true])
    func media(byStream: Bool) throws {
        let harness = try MediaGatewayHarness()
        let ben = try harness.connected("ben")
        let ann = try LegClient(
            "ann", ssrc: 11, to: byStream ? harness.streamAddress : harness.address, isStream: byStream, isPassive: true
        )
        try harness.connect(ann)
        #expect(ann.offer.contains("a=setup:passive"))
        for word: UInt8 in 1...5 {
            ann.sendAudio(word)
            ben.sendAudio(word + 10)
            harness.settle([ann, ben])
        }
        #expect(ben.received.map(\.word) == [1, 2, 3, 4, 5] && ann.received.map(\.word) == [11, 12, 13, 14, 15])
        // The role is that of the first offer: an ICE restart and offers that leave it open keep it.
        try harness.restart(ann)
        ann.setup = "actpass"
        try harness.renegotiate(ann)
        #expect(throws: OfferError.self) {
            ann.setup = "active"
            try harness.renegotiate(ann)
        }
        ann.check(nominates: true)
        harness.settle([ann])
        ann.sendAudio(6)
        ben.sendAudio(16)
        harness.settle([ann, ben])
        #expect(ben.received.last?.word == 6 && ann.received.last?.word == 16)
        ann.close()
        harness.settle([ann, ben])
        #expect(harness.ends(of: "ann") == [.closed])
        try harness.close(ben)
        #expect(harness.isEmpty)
    }

    @Test("it begins when a pair is nominated, and what comes before is nothing")
    func nomination() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address, isPassive: true)
        try harness.open(ann)
        ann.startHandshake()
        ann.check()
        harness.settle([ann])
        harness.pass(seconds: 20, checking: [ann])
        // Nothing that a client sends by itself has a place in it.
        ann.send([22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0])
        harness.settle([ann])
        harness.pass(milliseconds: 300)
        #expect(!ann.isConnected && harness.stats.connectedLegs == 0 && harness.stats.dropped.record == 1)
        ann.check(nominates: true)
        harness.settle([ann])
        #expect(ann.isConnected)
        harness.pass(milliseconds: 300)
        #expect(harness.stats.connectedLegs == 1)
        try harness.close(ann)
        #expect(harness.isEmpty)
    }

    @Test("its flights are sent again until they arrive")
    func retransmission() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address, isPassive: true)
        try harness.open(ann)
        ann.check(nominates: true)
        // It does not listen yet.
        harness.settle([ann])
        harness.pass(seconds: 2)
        #expect(!ann.isConnected)
        _ = ann.takeAll()
        ann.startHandshake()
        // OpenSSL has a clock of its own.
        for _ in 0..<2_000 where !ann.isConnected {
            usleep(5_000)
            harness.pass(milliseconds: 5)
            harness.settle([ann])
        }
        #expect(ann.isConnected)
        try harness.close(ann)
        #expect(harness.isEmpty)
    }

    @Test("a wrong certificate ends the leg")
    func wrongCertificate() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address, isPassive: true)
        let other = try LegClient("other", ssrc: 12, to: harness.address)
        ann.claimed = other.claimed
        try harness.open(ann)
        ann.startHandshake()
        ann.check(nominates: true)
        harness.settle([ann])
        #expect(harness.ends(of: "ann") == [.wrongCertificate])
        #expect(harness.isEmpty)
    }

    @Test("many at once take turns, and none is rejected")
    func crowd() throws {
        let harness = try MediaGatewayHarness(handshakes: Self.narrow)
        var clients: [LegClient] = []
        for number in 0..<6 as Range<UInt32> {
            let client = try LegClient(
                "client \(number)", ssrc: 100 + number, to: harness.address, isPassive: number % 2 == 0)
            try harness.open(client)
            if client.isPassive { client.startHandshake() }
            clients.append(client)
        }
        for client in clients { client.check(nominates: true) }
        harness.settle(clients)
        for client in clients where !client.isPassive { client.startHandshake() }
        var steps = 0
        while harness.stats.connectedLegs < 6, steps < 1000 {
            harness.pass(milliseconds: 10)
            harness.settle(clients)
            steps += 1
        }
        #expect(clients.allSatisfy(\.isConnected) && harness.stats.connectedLegs == 6)
        #expect(harness.stats.handshakesDelayed >= 2)
        #expect(harness.stats.ended.isEmpty)
    }

    @Test(
        "a client that only sends lives by its media, and one that also receives by its checks",
        arguments: [true, false])
    func consent(onlySends: Bool) throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address, isPassive: true)
        ann.onlySends = onlySends
        try harness.connect(ann)
        for word: UInt8 in 1...80 {
            ann.sendAudio(word)
            harness.settle([ann])
            harness.pass(milliseconds: 500)
        }
        #expect(harness.ends(of: "ann") == (onlySends ? [] : [.connectionLost]))
        guard onlySends else { return }
        // From elsewhere the same is no sign of life; nor is what cannot be authenticated.
        let last = ann.sent.last ?? []
        try ann.move()
        for _ in 0..<70 {
            ann.send(last)
            harness.settle([ann])
            harness.pass(milliseconds: 500)
        }
        #expect(harness.ends(of: "ann") == [.connectionLost])
        #expect(harness.isEmpty)
    }
}

import Gateway
import ICE
import MediaGateway
import Testing
import Wire

@Suite("Unauthenticated packets")
struct HostileTests {
    /// What a worker holds and did but for what it counts of datagrams.
    private func state(_ harness: MediaGatewayHarness) -> [Int] {
        harness.pass(milliseconds: 300)
        let held = harness.stats
        return [
            held.legs, held.connectedLegs, held.flows, held.connections, held.ufrags, held.calls, held.tracks,
            Int(held.handshakes), Int(held.counters.received), Int(held.counters.forwarded), harness.events.count,
        ]
    }

    @Test("replaying everything that a client sent, from its address or another, changes nothing")
    func replays() throws {
        let harness = try MediaGatewayHarness()
        let (ann, ben) = try harness.pair()
        for word in 1...5 as ClosedRange<UInt8> { ann.sendAudio(word) }
        ann.send(try #require(ann.reportPacket()))
        harness.settle([ann, ben])
        harness.pass(seconds: 6)
        let recorded = ann.sent
        let (before, received, alive) = (state(harness), ben.received.count, harness.aliveCount(of: "ann"))
        let dropped = harness.stats.dropped
        try ann.move()
        for socketIndex in 0...1 {
            ann.socketIndex = socketIndex
            for packet in recorded { ann.sockets[socketIndex].send(packet) }
            harness.settle([ann, ben])
        }
        harness.pass(seconds: 6)
        #expect(state(harness) == before && ben.received.count == received && harness.aliveCount(of: "ann") == alive)
        let now = harness.stats.dropped
        #expect(now.secured == dropped.secured + 6, "From its own address.")
        #expect(now.record > dropped.record)
        #expect(now.check > dropped.check && now.unknownFlow > dropped.unknownFlow, "From elsewhere.")
        // Twenty-five seconds after its last own check the leg is lost: nothing of this was consent.
        harness.pass(seconds: 20)
        #expect(harness.ends(of: "ann") == [.connectionLost])
    }

    @Test("corrupted, truncated and extended packets of a client change nothing", arguments: [false, true])
    func damaged(isStream: Bool) throws {
        let harness = try MediaGatewayHarness()
        let (ann, ben) = try harness.pair(annByStream: isStream)
        let packets = [
            try #require(ann.audioPacket(1)), try #require(ann.reportPacket()), ann.checkBytes(nominates: true),
        ]
        harness.pass(seconds: 6)
        let before = state(harness)
        let counted = harness.stats.dropped.total
        var sent = 0
        for packet in packets {
            for index in packet.indices {
                ann.sockets[0].send(Array(packet.dropLast(index + 1)) + (index + 1 == packet.count ? [0xFF] : []))
                for bit in [UInt8(1), 0x80] {
                    var changed = packet
                    changed[index] ^= bit
                    ann.sockets[0].send(changed)
                }
                sent += 3
                harness.settle([ann, ben])
            }
            ann.sockets[0].send(packet + [0])
            ann.sockets[0].send(packet + [UInt8](repeating: 7, count: 9000 - packet.count))
            sent += 2
            harness.settle([ann, ben])
        }
        #expect(state(harness) == before && ben.received.isEmpty)
        #expect(harness.stats.dropped.total == counted + UInt64(sent))
        // The packets themselves are as good as ever.
        for packet in packets { ann.send(packet) }
        harness.settle([ann, ben])
        #expect(ben.received.map(\.word) == [1])
    }

    @Test("without the password nothing behind ICE can be reached, and there are no responses")
    func forwardedFlows() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address)
        let eve = try LegClient("eve", ssrc: 66, to: harness.address)
        try harness.connect(ann)
        let guessed: LocalCredentials = try #require(LocalCredentials.random(eve))
        eve.remote = guessed
        eve.expected = ann.expected
        harness.pass(seconds: 6)
        let before = state(harness)
        eve.startHandshake()
        eve.check(nominates: true)
        eve.send([0x80, 111] + [UInt8](repeating: 0, count: 60))
        eve.send([0xFF, 1, 2])
        harness.settle([ann])
        #expect(eve.takeAll() == 0, "Not a byte for strangers.")
        #expect(state(harness) == before)
        let dropped = harness.stats.dropped
        #expect(dropped.check == 1 && dropped.unknownFlow >= 2 && dropped.unknownKind == 1)
    }

    @Test("a client cannot make the gateway remember ever more sources")
    func sources() throws {
        let harness = try MediaGatewayHarness()
        let ann = try harness.connected("ann")
        for source in 0..<1000 as Range<UInt32> {
            if let packet = ann.audioPacket(1, from: 1000 + source) { ann.send(packet) }
            harness.turn()
        }
        harness.pass(milliseconds: 500)
        #expect(
            harness.stats.counters.unknownStream == 128, "As many as a session has; one is its microphone's, unused.")
        #expect(harness.stats.dropped.secured == 872)
        #expect(harness.stats.tracks == 1)
    }
}

import Gateway
import ICE
import MediaGateway
import Testing
import Wire

@Suite("What is not authentic")
struct HostileTests {
    /// What a worker holds and did but for what it counts of datagrams.
    private func state(_ lab: GatewayLab) -> [Int] {
        lab.pass(milliseconds: 300)
        let held = lab.figures
        return [
            held.legs, held.connectedLegs, held.flows, held.connections, held.names, held.calls, held.tracks,
            Int(held.handshakes), Int(held.tally.received), Int(held.tally.forwarded), lab.events.count,
        ]
    }

    @Test("replayed, from where it came or from elsewhere, everything that a client ever sent changes nothing")
    func replays() throws {
        let lab = try GatewayLab()
        let (ann, ben) = try lab.pair()
        for word in 1...5 as ClosedRange<UInt8> { ann.say(word) }
        ann.send(try #require(ann.reported()))
        lab.settle([ann, ben])
        lab.pass(seconds: 6)
        let recorded = ann.sent
        let (before, heard, alive) = (state(lab), ben.heard.count, lab.aliveCount(of: "ann"))
        let dropped = lab.figures.dropped
        try ann.move()
        for wire in 0...1 {
            ann.wire = wire
            for packet in recorded { ann.wires[wire].send(packet) }
            lab.settle([ann, ben])
        }
        lab.pass(seconds: 6)
        #expect(state(lab) == before && ben.heard.count == heard && lab.aliveCount(of: "ann") == alive)
        let now = lab.figures.dropped
        #expect(now.secured == dropped.secured + 6, "From its own address.")
        #expect(now.record > dropped.record)
        #expect(now.check > dropped.check && now.unknownFlow > dropped.unknownFlow, "From elsewhere.")
        // Twenty-five seconds after its last own check the leg is lost: nothing of this was consent.
        lab.pass(seconds: 20)
        #expect(lab.ends(of: "ann") == [.connectionLost])
    }

    @Test("flipped, cut and lengthened packets of a client change nothing", arguments: [false, true])
    func damaged(isStream: Bool) throws {
        let lab = try GatewayLab()
        let (ann, ben) = try lab.pair(annByStream: isStream)
        let packets = [try #require(ann.spoken(1)), try #require(ann.reported()), ann.checkBytes(nominates: true)]
        lab.pass(seconds: 6)
        let before = state(lab)
        let counted = lab.figures.dropped.total
        var sent = 0
        for packet in packets {
            for index in packet.indices {
                ann.wires[0].send(Array(packet.dropLast(index + 1)) + (index + 1 == packet.count ? [0xFF] : []))
                for bit in [UInt8(1), 0x80] {
                    var changed = packet
                    changed[index] ^= bit
                    ann.wires[0].send(changed)
                }
                sent += 3
                lab.settle([ann, ben])
            }
            ann.wires[0].send(packet + [0])
            ann.wires[0].send(packet + [UInt8](repeating: 7, count: 9000 - packet.count))
            sent += 2
            lab.settle([ann, ben])
        }
        #expect(state(lab) == before && ben.heard.isEmpty)
        #expect(lab.figures.dropped.total == counted + UInt64(sent))
        // The packets themselves are as good as ever.
        for packet in packets { ann.send(packet) }
        lab.settle([ann, ben])
        #expect(ben.heard.map(\.word) == [1])
    }

    @Test("without the password nothing behind ICE can be reached, and nothing is answered")
    func strangers() throws {
        let lab = try GatewayLab()
        let ann = try LegClient("ann", ssrc: 11, to: lab.address)
        let eve = try LegClient("eve", ssrc: 66, to: lab.address)
        try lab.connect(ann)
        eve.remote = try #require(LocalCredentials.random(eve))
        eve.expected = ann.expected
        lab.pass(seconds: 6)
        let before = state(lab)
        eve.greet()
        eve.check(nominates: true)
        eve.send([0x80, 111] + [UInt8](repeating: 0, count: 60))
        eve.send([0xFF, 1, 2])
        lab.settle([ann])
        #expect(eve.takeAll() == 0, "Not a byte for strangers.")
        #expect(state(lab) == before)
        let dropped = lab.figures.dropped
        #expect(dropped.check == 1 && dropped.unknownFlow >= 2 && dropped.unknownKind == 1)
    }

    @Test("a client cannot make the gateway remember ever more sources")
    func sources() throws {
        let lab = try GatewayLab()
        let ann = try lab.connected("ann")
        for source in 0..<1000 as Range<UInt32> {
            if let packet = ann.spoken(1, from: 1000 + source) { ann.send(packet) }
            lab.turn()
        }
        lab.pass(milliseconds: 500)
        #expect(lab.figures.tally.unknownStream == 128, "As many as a session has; one is its microphone's, unused.")
        #expect(lab.figures.dropped.secured == 872)
        #expect(lab.figures.tracks == 1)
    }
}

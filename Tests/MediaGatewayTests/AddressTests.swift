import Gateway
import MediaGateway
import Testing
import Wire

@Suite("Legs with changing addresses")
struct AddressTests {
    @Test("a client that changes paths continues without a gap, over UDP and TCP")
    func moves() throws {
        let harness = try MediaGatewayHarness()
        let (ann, ben) = try harness.pair()
        var word: UInt8 = 0
        func talk(_ count: Int) {
            for _ in 0..<count {
                word += 1
                ann.sendAudio(word)
                ben.sendAudio(word)
                harness.settle([ann, ben])
            }
        }
        for (socketIndex, isStream) in [(1, false), (2, true), (3, false)] {
            talk(5)
            try ann.move(to: isStream ? harness.streamAddress : harness.address, isStream: isStream)
            ann.check()
            harness.settle([ann])
            talk(5)
            #expect(ann.received.last?.socketIndex == socketIndex - 1, "Not nominated yet, but heard.")
            ann.check(nominates: true)
            harness.settle([ann])
            talk(5)
            #expect(ann.received.last?.socketIndex == socketIndex)
        }
        #expect(ben.received.map(\.word) == Array(1...45))
        #expect(ann.received.map(\.word) == Array(1...45))
        // The ways that are not checked any more are given up, and the leg stays.
        harness.pass(seconds: 31, checking: [ann, ben])
        #expect(harness.stats.flows == 2 && harness.stats.connections == 0 && harness.stats.legs == 2)
    }

    @Test("an ICE restart keeps the media on the old path until the new one is nominated")
    func restart() throws {
        let harness = try MediaGatewayHarness()
        let (ann, ben) = try harness.pair()
        let (old, oldName) = (try #require(ann.remote), ann.ufrag)
        try harness.restart(ann)
        harness.pass(milliseconds: 500)
        #expect(harness.stats.ufrags == 3)
        try ann.move()
        ann.check()
        ben.sendAudio(1)
        harness.settle([ann, ben])
        #expect(ann.received.map(\.socketIndex) == [0])
        ann.check(nominates: true)
        harness.settle([ann, ben])
        ben.sendAudio(2)
        harness.settle([ann, ben])
        #expect(ann.received.map(\.socketIndex) == [0, 1] && ann.received.map(\.word) == [1, 2])
        // The old credentials are over.
        let responses = ann.responses
        ann.check(nominates: true, with: old, as: oldName)
        harness.settle([ann])
        harness.pass(milliseconds: 500)
        #expect(ann.responses == responses && harness.stats.dropped.check == 1 && harness.stats.ufrags == 2)
        // Restarts that nobody follows leave nothing behind.
        for _ in 0..<50 { try harness.restart(ann) }
        harness.pass(milliseconds: 500)
        #expect(harness.stats.ufrags == 3)
        for client in [ann, ben] { try harness.close(client) }
        #expect(harness.isEmpty)
    }

    @Test("a leg has at most sixteen paths, and keeps the one with the media")
    func bounds() throws {
        let harness = try MediaGatewayHarness()
        let ann = try harness.connected("ann")
        for _ in 0..<40 {
            try ann.move()
            ann.check()
            harness.pass(milliseconds: 10)
        }
        harness.pass(milliseconds: 500)
        #expect(harness.stats.flows == 16)
        ann.socketIndex = 0
        ann.sendAudio(1)
        harness.pass(milliseconds: 500)
        #expect(harness.stats.dropped.unknownFlow == 0 && harness.stats.counters.received == 1)
        try harness.close(ann)
        #expect(harness.isEmpty)
    }

    @Test("an address belongs to the leg whose password came from it last")
    func takeover() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address)
        let ben = try LegClient("ben", ssrc: 22, to: harness.address)
        try harness.connect(ann)
        try harness.open(ben)
        ben.sockets[0] = ann.sockets[0]
        ben.check(nominates: true)
        harness.pass(milliseconds: 500)
        #expect(harness.stats.flows == 1)
        ann.sendAudio(1)
        harness.pass(milliseconds: 500)
        #expect(harness.stats.dropped.secured == 1, "It is Ben's now, and he has no keys.")
        ann.check(nominates: true)
        ann.sendAudio(2)
        harness.pass(milliseconds: 500)
        #expect(harness.stats.dropped.secured == 1 && harness.stats.counters.received == 1)
        for client in [ann, ben] { try harness.close(client) }
        #expect(harness.isEmpty)
    }
}

import Gateway
import MediaGateway
import Testing
import Wire

@Suite("Legs whose addresses change")
struct AddressTests {
    @Test("a client that moves goes on without a gap, whatever ways it goes between")
    func moves() throws {
        let lab = try GatewayLab()
        let (ann, ben) = try lab.pair()
        var word: UInt8 = 0
        func talk(_ count: Int) {
            for _ in 0..<count {
                word += 1
                ann.say(word)
                ben.say(word)
                lab.settle([ann, ben])
            }
        }
        for (wire, isStream) in [(1, false), (2, true), (3, false)] {
            talk(5)
            try ann.move(to: isStream ? lab.entrance : lab.address, isStream: isStream)
            ann.check()
            lab.settle([ann])
            talk(5)
            #expect(ann.heard.last?.wire == wire - 1, "Not nominated yet, but heard.")
            ann.check(nominates: true)
            lab.settle([ann])
            talk(5)
            #expect(ann.heard.last?.wire == wire)
        }
        #expect(ben.heard.map(\.word) == Array(1...45))
        #expect(ann.heard.map(\.word) == Array(1...45))
        // The ways that are not checked any more are given up, and the leg stays.
        lab.pass(seconds: 31, checking: [ann, ben])
        #expect(lab.figures.flows == 2 && lab.figures.connections == 0 && lab.figures.legs == 2)
    }

    @Test("a restart of ICE keeps the media on the old way until the new one is nominated")
    func restart() throws {
        let lab = try GatewayLab()
        let (ann, ben) = try lab.pair()
        let (old, oldName) = (try #require(ann.remote), ann.ufrag)
        try lab.restart(ann)
        lab.pass(milliseconds: 500)
        #expect(lab.figures.names == 3)
        try ann.move()
        ann.check()
        ben.say(1)
        lab.settle([ann, ben])
        #expect(ann.heard.map(\.wire) == [0])
        ann.check(nominates: true)
        lab.settle([ann, ben])
        ben.say(2)
        lab.settle([ann, ben])
        #expect(ann.heard.map(\.wire) == [0, 1] && ann.heard.map(\.word) == [1, 2])
        // The old credentials are over.
        let answers = ann.answers
        ann.check(nominates: true, with: old, as: oldName)
        lab.settle([ann])
        lab.pass(milliseconds: 500)
        #expect(ann.answers == answers && lab.figures.dropped.check == 1 && lab.figures.names == 2)
        // Restarts that nobody follows leave nothing behind.
        for _ in 0..<50 { try lab.restart(ann) }
        lab.pass(milliseconds: 500)
        #expect(lab.figures.names == 3)
        for client in [ann, ben] { try lab.close(client) }
        #expect(lab.isEmpty)
    }

    @Test("a leg has sixteen ways at most, and keeps the one with the media")
    func bounds() throws {
        let lab = try GatewayLab()
        let ann = try lab.connected("ann")
        for _ in 0..<40 {
            try ann.move()
            ann.check()
            lab.pass(milliseconds: 10)
        }
        lab.pass(milliseconds: 500)
        #expect(lab.figures.flows == 16)
        ann.wire = 0
        ann.say(1)
        lab.pass(milliseconds: 500)
        #expect(lab.figures.dropped.unknownFlow == 0 && lab.figures.tally.received == 1)
        try lab.close(ann)
        #expect(lab.isEmpty)
    }

    @Test("an address belongs to the leg whose password came from it last")
    func takeover() throws {
        let lab = try GatewayLab()
        let ann = try LegClient("ann", ssrc: 11, to: lab.address)
        let ben = try LegClient("ben", ssrc: 22, to: lab.address)
        try lab.connect(ann)
        try lab.open(ben)
        ben.wires[0] = ann.wires[0]
        ben.check(nominates: true)
        lab.pass(milliseconds: 500)
        #expect(lab.figures.flows == 1)
        ann.say(1)
        lab.pass(milliseconds: 500)
        #expect(lab.figures.dropped.secured == 1, "It is Ben's now, and he has no keys.")
        ann.check(nominates: true)
        ann.say(2)
        lab.pass(milliseconds: 500)
        #expect(lab.figures.dropped.secured == 1 && lab.figures.tally.received == 1)
        for client in [ann, ben] { try lab.close(client) }
        #expect(lab.isEmpty)
    }
}

import Gateway
import MediaGateway
import Testing
import Wire

@Suite("Legs over TCP")
struct ConnectionTests {
    @Test("packets are found wherever the stream is cut")
    func cuts() throws {
        let lab = try GatewayLab()
        let ann = try lab.connected("ann", byStream: true)
        var length = 1
        var cut = 1
        while cut < length {
            let (packet, check) = (try #require(ann.spoken(1)), ann.checkBytes())
            let stream = TestWire.framed(packet) + [0, 0] + TestWire.framed(check)
            length = stream.count
            let (received, answers) = (lab.figures.tally.received, ann.answers)
            ann.wires[0].sendRaw(Array(stream[..<cut]))
            lab.turn()
            ann.wires[0].sendRaw(Array(stream[cut...]))
            lab.settle([ann])
            lab.pass(milliseconds: 300)
            #expect(lab.figures.tally.received == received + 1 && ann.answers == answers + 1, "cut at \(cut)")
            cut += 1
        }
        #expect(lab.figures.dropped.unknownKind == UInt64(length - 1), "The empty packets, and nothing else.")
    }

    @Test("a whole handshake, byte by byte")
    func drips() throws {
        let lab = try GatewayLab()
        let ann = try LegClient("ann", ssrc: 11, to: lab.entrance, isStream: true)
        ann.wires[0].drips = { lab.turn() }
        try lab.connect(ann)
        #expect(lab.figures.connectedLegs == 1 || lab.figures.legs == 1)
    }

    @Test("who shows no password is cut off: garbage at once, silence and a slow hand after ten seconds")
    func strangers() throws {
        let lab = try GatewayLab()
        let ann = try lab.connected("ann", byStream: true)
        let silent = try TestWire(to: lab.entrance, isStream: true)
        let slow = try TestWire(to: lab.entrance, isStream: true)
        let browser = try TestWire(to: lab.entrance, isStream: true)
        browser.sendRaw(Array("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".utf8))
        for _ in 0..<3 { lab.pass(milliseconds: 300) }
        #expect(browser.take().isEmpty && browser.isClosed)
        #expect(lab.figures.connections == 3)
        for _ in 0..<9 {
            slow.sendRaw([0])
            lab.pass(seconds: 1, checking: [ann])
        }
        #expect(lab.figures.connections == 3)
        lab.pass(seconds: 2, checking: [ann])
        _ = (silent.take(), slow.take())
        #expect(silent.isClosed && slow.isClosed && !ann.wires[0].isClosed)
        #expect(lab.figures.connections == 1)
        try lab.close(ann)
        #expect(lab.isEmpty)
    }

    @Test("a client that never reads loses its packets, and nobody else does")
    func neverReads() throws {
        let lab = try GatewayLab()
        let ann = try LegClient("ann", ssrc: 11, to: lab.address)
        let ben = try LegClient("ben", ssrc: 22, to: lab.entrance, isStream: true)
        let cleo = try LegClient("cleo", ssrc: 33, to: lab.address)
        for client in [ann, ben, cleo] { try lab.connect(client) }
        ann.padding = 1100
        let words = 12_000
        for word in 0..<words {
            ann.say(UInt8(truncatingIfNeeded: word))
            lab.turn()
            if word % 50 == 0 { lab.settle([ann, cleo]) }
        }
        lab.settle([ann, cleo])
        #expect(cleo.heard.count == words)
        lab.pass(milliseconds: 500)
        #expect(lab.figures.packetsLost > 0, "What no stream takes is counted.")
        // It reads again, and is well.
        lab.settle([ann, ben, cleo])
        let before = ben.heard.count
        ann.say(1)
        lab.settle([ann, ben, cleo])
        #expect(ben.heard.count == before + 1)
    }

    @Test("a connection that breaks leaves thirty seconds to come back by another way")
    func breaks() throws {
        let lab = try GatewayLab()
        let (ann, ben) = try lab.pair(annByStream: true)
        lab.pass(seconds: 40, checking: [ann, ben])
        ann.dropWires()
        lab.pass(seconds: 20, checking: [ben])
        #expect(lab.ends(of: "ann").isEmpty && lab.figures.connections == 0 && lab.figures.flows == 1)
        try ann.move(to: lab.address)
        ann.check(nominates: true)
        lab.settle([ann, ben])
        ben.say(9)
        lab.settle([ann, ben])
        #expect(ann.heard.last?.word == 9)
        ann.dropWires()
        lab.pass(seconds: 31, checking: [ben])
        #expect(lab.ends(of: "ann") == [.connectionLost] && lab.ends(of: "ben").isEmpty)
    }

    @Test("connections that say nothing keep nobody out, however many there are")
    func crowd() throws {
        let lab = try GatewayLab(connections: 4)
        let ann = try lab.connected("ann", byStream: true)
        var crowd: [TestWire] = []
        for _ in 0..<10 {
            crowd.append(try TestWire(to: lab.entrance, isStream: true))
            lab.pass(milliseconds: 10)
        }
        let ben = try lab.connected("ben", byStream: true)
        lab.pass(milliseconds: 300)
        #expect(lab.figures.connections == 4 && lab.figures.connectedLegs == 2)
        for wire in crowd { _ = wire.take() }
        #expect(crowd.map(\.isClosed) == Array(repeating: true, count: 8) + [false, false])
        ann.say(1)
        lab.settle([ann, ben])
        #expect(ben.heard.map(\.word) == [1])
    }

    @Test("one host holds a quarter, and loses its own when it takes more")
    func share() throws {
        let lab = try GatewayLab(connections: 40)
        let ann = try lab.connected("ann", byStream: true)
        let mine = try (0..<9).map { _ in try TestWire(to: lab.entrance, isStream: true) }
        lab.pass(milliseconds: 10)
        var crowd: [TestWire] = []
        for _ in 0..<30 {
            crowd.append(try TestWire(to: lab.entrance, isStream: true, from: IPAddress(ipv4: 0x7F00_0002)))
            lab.pass(milliseconds: 10)
        }
        lab.pass(milliseconds: 300)
        #expect(lab.figures.connections == 20 && lab.figures.connectionsRefused == 0)
        for wire in mine + crowd { _ = wire.take() }
        #expect(crowd.map(\.isClosed) == Array(repeating: true, count: 20) + Array(repeating: false, count: 10))
        #expect(!mine.contains { $0.isClosed })
        // The tenth of this host is ann's, whose leg it is: another costs one that has said nothing.
        let ben = try lab.connected("ben", byStream: true)
        ann.say(1)
        lab.settle([ann, ben])
        #expect(ben.heard.map(\.word) == [1])
        _ = mine.map { $0.take() }
        #expect(mine.map(\.isClosed) == [true] + Array(repeating: false, count: 8))
    }
}

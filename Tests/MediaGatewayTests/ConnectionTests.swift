import Gateway
import MediaGateway
import Testing
import Wire

@Suite("Legs over TCP")
struct ConnectionTests {
    @Test("packets are framed wherever the stream is split")
    func cuts() throws {
        let harness = try MediaGatewayHarness()
        let ann = try harness.connected("ann", byStream: true)
        var length = 1
        var cut = 1
        while cut < length {
            let (packet, check) = (try #require(ann.audioPacket(1)), ann.checkBytes())
            let stream = TestSocket.framed(packet) + [0, 0] + TestSocket.framed(check)
            length = stream.count
            let (received, responses) = (harness.stats.counters.received, ann.responses)
            ann.sockets[0].sendRaw(Array(stream[..<cut]))
            harness.turn()
            ann.sockets[0].sendRaw(Array(stream[cut...]))
            harness.settle([ann])
            harness.pass(milliseconds: 300)
            #expect(harness.stats.counters.received == received + 1 && ann.responses == responses + 1, "cut at \(cut)")
            cut += 1
        }
        #expect(harness.stats.dropped.unknownKind == UInt64(length - 1), "The empty packets, and nothing else.")
    }

    @Test("a whole handshake, byte by byte")
    func onByteSent() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.streamAddress, isStream: true)
        ann.sockets[0].onByteSent = { harness.turn() }
        try harness.connect(ann)
        #expect(harness.stats.connectedLegs == 1 || harness.stats.legs == 1)
    }

    @Test("connections without a valid check are closed: with garbage at once, silent or slow ones after ten seconds")
    func forwardedFlows() throws {
        let harness = try MediaGatewayHarness()
        let ann = try harness.connected("ann", byStream: true)
        let silent = try TestSocket(to: harness.streamAddress, isStream: true)
        let slow = try TestSocket(to: harness.streamAddress, isStream: true)
        let browser = try TestSocket(to: harness.streamAddress, isStream: true)
        browser.sendRaw(Array("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".utf8))
        for _ in 0..<3 { harness.pass(milliseconds: 300) }
        #expect(browser.take().isEmpty && browser.isClosed)
        #expect(harness.stats.connections == 3)
        for _ in 0..<9 {
            slow.sendRaw([0])
            harness.pass(seconds: 1, checking: [ann])
        }
        #expect(harness.stats.connections == 3)
        harness.pass(seconds: 2, checking: [ann])
        _ = (silent.take(), slow.take())
        #expect(silent.isClosed && slow.isClosed && !ann.sockets[0].isClosed)
        #expect(harness.stats.connections == 1)
        try harness.close(ann)
        #expect(harness.isEmpty)
    }

    @Test("a client that never reads loses its packets, and nobody else does")
    func neverReads() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address)
        let ben = try LegClient("ben", ssrc: 22, to: harness.streamAddress, isStream: true)
        let cleo = try LegClient("cleo", ssrc: 33, to: harness.address)
        for client in [ann, ben, cleo] { try harness.connect(client) }
        ann.padding = 1100
        let words = 12_000
        for word in 0..<words {
            ann.sendAudio(UInt8(truncatingIfNeeded: word))
            harness.turn()
            if word % 50 == 0 { harness.settle([ann, cleo]) }
        }
        harness.settle([ann, cleo])
        #expect(cleo.received.count == words)
        harness.pass(milliseconds: 500)
        #expect(harness.stats.packetsLost > 0, "What no stream takes is counted.")
        // It reads again, and is well.
        harness.settle([ann, ben, cleo])
        let before = ben.received.count
        ann.sendAudio(1)
        harness.settle([ann, ben, cleo])
        #expect(ben.received.count == before + 1)
    }

    @Test("a broken connection leaves thirty seconds to return on another path")
    func breaks() throws {
        let harness = try MediaGatewayHarness()
        let (ann, ben) = try harness.pair(annByStream: true)
        harness.pass(seconds: 40, checking: [ann, ben])
        ann.dropSockets()
        harness.pass(seconds: 20, checking: [ben])
        #expect(harness.ends(of: "ann").isEmpty && harness.stats.connections == 0 && harness.stats.flows == 1)
        try ann.move(to: harness.address)
        ann.check(nominates: true)
        harness.settle([ann, ben])
        ben.sendAudio(9)
        harness.settle([ann, ben])
        #expect(ann.received.last?.word == 9)
        ann.dropSockets()
        harness.pass(seconds: 31, checking: [ben])
        #expect(harness.ends(of: "ann") == [.connectionLost] && harness.ends(of: "ben").isEmpty)
    }

    @Test("silent connections keep nobody out, however many there are")
    func crowd() throws {
        let harness = try MediaGatewayHarness(connections: 4)
        let ann = try harness.connected("ann", byStream: true)
        var crowd: [TestSocket] = []
        for _ in 0..<10 {
            crowd.append(try TestSocket(to: harness.streamAddress, isStream: true))
            harness.pass(milliseconds: 10)
        }
        let ben = try harness.connected("ben", byStream: true)
        harness.pass(milliseconds: 300)
        #expect(harness.stats.connections == 4 && harness.stats.connectedLegs == 2)
        for socketIndex in crowd { _ = socketIndex.take() }
        #expect(crowd.map(\.isClosed) == Array(repeating: true, count: 8) + [false, false])
        ann.sendAudio(1)
        harness.settle([ann, ben])
        #expect(ben.received.map(\.word) == [1])
    }

    @Test("one host gets a quarter, and beyond that replaces its own connections")
    func share() throws {
        let harness = try MediaGatewayHarness(connections: 40)
        let ann = try harness.connected("ann", byStream: true)
        let mine = try (0..<9).map { _ in try TestSocket(to: harness.streamAddress, isStream: true) }
        harness.pass(milliseconds: 10)
        var crowd: [TestSocket] = []
        for _ in 0..<30 {
            crowd.append(try TestSocket(to: harness.streamAddress, isStream: true, from: IPAddress(ipv4: 0x7F00_0002)))
            harness.pass(milliseconds: 10)
        }
        harness.pass(milliseconds: 300)
        #expect(harness.stats.connections == 20 && harness.stats.connectionsRejected == 0)
        for socketIndex in mine + crowd { _ = socketIndex.take() }
        #expect(crowd.map(\.isClosed) == Array(repeating: true, count: 20) + Array(repeating: false, count: 10))
        #expect(!mine.contains { $0.isClosed })
        // The tenth of this host is ann's, which belongs to a leg: another one replaces a silent one.
        let ben = try harness.connected("ben", byStream: true)
        ann.sendAudio(1)
        harness.settle([ann, ben])
        #expect(ben.received.map(\.word) == [1])
        _ = mine.map { $0.take() }
        #expect(mine.map(\.isClosed) == [true] + Array(repeating: false, count: 8))
    }
}

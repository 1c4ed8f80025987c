import STUN
import TURN
import Testing
import Wire

@Suite("TCP allocations")
struct PeerConnectionTests {
    private static let tcp = UInt32(6) << 24

    private func makeHarness(allowed: [String] = []) throws -> RelayHarness {
        let harness = try RelayHarness(allowed: allowed)
        harness.engine.worker = 5
        return harness
    }

    private func allocate(
        _ harness: RelayHarness, _ client: inout TestClient, _ extra: (inout MessageWriter) -> Void = { _ in }
    ) throws -> Response {
        if client.nonce.isEmpty { try client.fetchNonce(harness) }
        let bytes = client.request(.allocate, harness) { writer in
            writer.append(.requestedTransport, integer: Self.tcp)
            extra(&writer)
        }
        return try Response(harness.receive(bytes, on: client.flow))
    }

    /// Lets the engine see a request and returns what it asked of its host.
    private func ask(
        _ harness: RelayHarness, _ client: TestClient, _ method: Method, _ extra: (inout MessageWriter) -> Void
    )
        -> Recorder
    {
        let bytes = client.request(method, harness, extra: extra)
        var recorder = Recorder()
        _ = harness.engine.receive(bytes.span.bytes, on: client.flow, at: harness.now, into: &recorder)
        return recorder
    }

    private func connect(_ harness: RelayHarness, _ client: TestClient, _ peer: TransportAddress) -> Recorder {
        ask(harness, client, .connect) { $0.append(.xorPeerAddress, xor: peer) }
    }

    private func error(_ recorder: borrowing Recorder) throws -> UInt16? {
        let bytes = try #require(recorder.messages.first).bytes
        return try Message(bytes.span.bytes).errorNumber
    }

    private func connectionID(_ recorder: borrowing Recorder) throws -> UInt32? {
        let bytes = try #require(recorder.messages.first).bytes
        return try Message(bytes.span.bytes).integer32(.connectionID)
    }

    @Test("are for connections, for hosts that relay TCP, and for ports without conditions")
    func allocated() throws {
        let harness = try makeHarness()
        var client = TestClient(transport: .tcp)
        var datagrams = TestClient(port: 2)
        #expect(try allocate(harness, &datagrams).error == 400)
        #expect(try allocate(harness, &client) { $0.append(.evenPort, bytes: [0]) }.error == 400)
        #expect(try allocate(harness, &client) { $0.append(.reservationToken, integer: UInt64(1)) }.error == 400)
        #expect(try allocate(harness, &client) { $0.append(.dontFragment, bytes: []) }.error == 400)
        #expect(try allocate(harness, &client).isSuccess)
        let other = try RelayHarness()
        var refused = TestClient(transport: .tls)
        #expect(try allocate(other, &refused).error == 442)
    }

    @Test("Connect succeeds when the peer accepts, and ConnectionBind joins the two")
    func connects() throws {
        let harness = try makeHarness()
        var client = TestClient(transport: .tcp)
        #expect(try allocate(harness, &client).isSuccess)
        let attempt = connect(harness, client, RelayHarness.peer)
        #expect(attempt.messages.isEmpty)
        let id = try #require(attempt.connecting.first?.0)
        #expect(attempt.connecting.first?.1 == RelayHarness.peer)
        #expect(id.worker == 5)
        // A second one to the same peer, while the first is under way.
        let again = connect(harness, client, RelayHarness.peer)
        #expect(try error(again) == 446)
        var recorder = Recorder()
        harness.engine.peerConnected(id, at: harness.now, into: &recorder)
        #expect(try connectionID(recorder) == id.rawValue)

        var data = TestClient(port: 77, transport: .tcp)
        try data.fetchNonce(harness)
        let bound = ask(harness, data, .connectionBind) { $0.append(.connectionID, integer: id.rawValue) }
        #expect(try error(bound) == nil)
        #expect(bound.boundPeers.first?.0 == id)
        #expect(bound.boundPeers.first?.1 == data.flow)
        // Once only.
        var late = TestClient(port: 78, transport: .tcp)
        try late.fetchNonce(harness)
        let second = ask(harness, late, .connectionBind) { $0.append(.connectionID, integer: id.rawValue) }
        #expect(try error(second) == 400)

        var ending = Recorder()
        harness.engine.flowClosed(client.flow, into: &ending)
        #expect(ending.closedPeers == [id])
        #expect(ending.ended.count == 1)
    }

    @Test("ConnectionBind wants the allocation's user, a number that is open, and a connection of its own")
    func wrongBinds() throws {
        let harness = try makeHarness()
        var client = TestClient(transport: .tcp)
        #expect(try allocate(harness, &client).isSuccess)
        let attempt = connect(harness, client, RelayHarness.peer)
        let id = try #require(attempt.connecting.first?.0)
        var data = TestClient(port: 77, transport: .tcp)
        try data.fetchNonce(harness)
        func bind(_ client: TestClient, _ number: UInt32?) throws -> UInt16? {
            let recorder = ask(harness, client, .connectionBind) { writer in
                if let number { writer.append(.connectionID, integer: number) }
            }
            #expect(recorder.boundPeers.isEmpty)
            return try error(recorder)
        }
        // Not connected yet.
        #expect(try bind(data, id.rawValue) == 400)
        var recorder = Recorder()
        harness.engine.peerConnected(id, at: harness.now, into: &recorder)
        #expect(try bind(data, nil) == 400)
        #expect(try bind(data, id.rawValue ^ 1) == 400)
        #expect(try bind(client, id.rawValue) == 400)
        var datagrams = TestClient(port: 79)
        try datagrams.fetchNonce(harness)
        #expect(try bind(datagrams, id.rawValue) == 400)
        var bob = TestClient(port: 80, username: "bob", password: "builder", transport: .tcp)
        try bob.fetchNonce(harness)
        #expect(try bind(bob, id.rawValue) == 441)
    }

    @Test("Connect is refused like any peer, and for UDP allocations")
    func refused() throws {
        let harness = try makeHarness()
        var client = TestClient(transport: .tcp)
        #expect(try allocate(harness, &client).isSuccess)
        func response(_ peer: TransportAddress) throws -> UInt16? { try error(connect(harness, client, peer)) }
        #expect(try response(TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 80)) == 403)
        #expect(try response(TransportAddress(RelayHarness.serverIPv4, port: 3478)) == 403)
        #expect(try response(TransportAddress(RelayHarness.serverIPv6, port: 9)) == 443)
        let own = try #require(harness.bound.values.first)
        #expect(try response(own) == 403)
        let empty = ask(harness, client, .connect) { _ in }
        #expect(try error(empty) == 400)
        var udp = TestClient(port: 3, transport: .tcp)
        #expect(try udp.allocate(harness).isSuccess)
        let mismatch = connect(harness, udp, RelayHarness.peer)
        #expect(try error(mismatch) == 437)
        let intruder = TestClient(port: 4, transport: .tcp)
        var known = intruder
        try known.fetchNonce(harness)
        let none = connect(harness, known, RelayHarness.peer)
        #expect(try error(none) == 437)
    }

    @Test("a peer that does not accept, or not in time, is 447")
    func failures() throws {
        let harness = try makeHarness()
        var client = TestClient(transport: .tcp)
        #expect(try allocate(harness, &client).isSuccess)
        let attempt = connect(harness, client, RelayHarness.peer)
        var recorder = Recorder()
        harness.engine.peerClosed(try #require(attempt.connecting.first?.0), into: &recorder)
        #expect(try error(recorder) == 447)
        let slow = connect(harness, client, RelayHarness.peer)
        let id = try #require(slow.connecting.first?.0)
        var late = Recorder()
        harness.engine.advance(to: harness.now.adding(seconds: 31), into: &late)
        #expect(late.closedPeers == [id])
        #expect(try error(late) == 447)
        // What nobody claims is closed without a word.
        harness.now = harness.now.adding(seconds: 31)
        let unclaimed = connect(harness, client, RelayHarness.peer)
        let other = try #require(unclaimed.connecting.first?.0)
        var connected = Recorder()
        harness.engine.peerConnected(other, at: harness.now, into: &connected)
        var over = Recorder()
        harness.engine.advance(to: harness.now.adding(seconds: 31), into: &over)
        #expect(over.closedPeers == [other])
        #expect(over.messages.isEmpty)
    }

    @Test("a peer with permission is announced, any other is not accepted")
    func accepts() throws {
        let harness = try makeHarness()
        var client = TestClient(transport: .tcp)
        #expect(try allocate(harness, &client).isSuccess)
        let relay = try #require(harness.bound.keys.first)
        var recorder = Recorder()
        let refused = harness.engine.peerAccepted(on: relay, from: RelayHarness.peer, at: harness.now, into: &recorder)
        #expect(refused == nil)
        #expect(recorder.messages.isEmpty)
        #expect(try client.permit(harness, RelayHarness.peer).isSuccess)
        let accepted = harness.engine.peerAccepted(on: relay, from: RelayHarness.peer, at: harness.now, into: &recorder)
        let id = try #require(accepted)
        let bytes = try #require(recorder.messages.first).bytes
        let message = try Message(bytes.span.bytes)
        #expect(message.type == MessageType(.indication, .connectionAttempt))
        #expect(message.integer32(.connectionID) == id.rawValue)
        #expect(message.xorAddress(.xorPeerAddress) == RelayHarness.peer)
        #expect(recorder.messages.first?.flow == client.flow)
        for port in 0..<UInt16(100) {
            let peer = TransportAddress(RelayHarness.peer.address, port: 1 + port)
            _ = harness.engine.peerAccepted(on: relay, from: peer, at: harness.now, into: &recorder)
        }
        #expect(recorder.messages.count == 64)
    }

    @Test("a relay of two that closes takes its connections along")
    func oneFamily() throws {
        let harness = try makeHarness()
        var client = TestClient(transport: .tcp)
        #expect(
            try allocate(harness, &client) { $0.append(.additionalAddressFamily, integer: UInt32(2) << 24) }.isSuccess)
        let farther = TransportAddress(IPAddress(ipv6High: 0x2A00 << 48, low: 9), port: 5)
        let four = connect(harness, client, RelayHarness.peer).connecting.map { $0.0 }
        let six = connect(harness, client, farther).connecting.map { $0.0 }
        #expect(four.count == 1 && six.count == 1)
        var closing = ask(harness, client, .refresh) { writer in
            writer.append(.lifetime, integer: UInt32(0))
            writer.append(.requestedAddressFamily, integer: UInt32(2) << 24)
        }
        #expect(closing.closedPeers == six)
        #expect(closing.closed.map { $0.family } == [.ipv6])
        closing = ask(harness, client, .refresh) { $0.append(.lifetime, integer: UInt32(0)) }
        #expect(closing.closedPeers == four)
    }

    /// A bound connection of a new allocation.
    private func bound(_ harness: RelayHarness, port: UInt16 = 1000) throws -> PeerConnectionID {
        var client = TestClient(port: port, transport: .tcp)
        #expect(try allocate(harness, &client).isSuccess)
        let id = try #require(connect(harness, client, RelayHarness.peer).connecting.first?.0)
        var recorder = Recorder()
        harness.engine.peerConnected(id, at: harness.now, into: &recorder)
        var data = TestClient(port: port + 1, transport: .tcp)
        try data.fetchNonce(harness)
        let joined = ask(harness, data, .connectionBind) { $0.append(.connectionID, integer: id.rawValue) }
        #expect(joined.boundPeers.count == 1)
        return id
    }

    @Test("streams are read no faster than the allocation's bytes per second, each way by itself")
    func bandwidth() throws {
        let harness = try makeHarness()
        harness.engine.limits = AllocationLimits(bytesPerSecond: 100_000)
        let (id, other) = (try bound(harness), try bound(harness, port: 2000))
        func allowance(_ id: PeerConnectionID, _ source: StreamSender) -> Int {
            harness.engine.streamAllowance(id, from: source, upTo: 65_536, at: harness.now)
        }
        // A second's worth at once.
        #expect(allowance(id, .client) == 65_536)
        harness.engine.streamed(65_536, on: id, from: .client)
        #expect(allowance(id, .client) == 34_464)
        harness.engine.streamed(34_464, on: id, from: .client)
        #expect(allowance(id, .client) == 0)
        #expect(allowance(id, .peer) == 65_536)
        #expect(allowance(other, .client) == 65_536)
        harness.now = harness.now.adding(nanoseconds: 20_000_000)
        #expect(allowance(id, .client) == 2000)
        // More than was allowed is owed.
        harness.engine.streamed(5000, on: id, from: .client)
        harness.now = harness.now.adding(nanoseconds: 20_000_000)
        #expect(allowance(id, .client) == 0)
        harness.now = harness.now.adding(nanoseconds: 20_000_000)
        #expect(allowance(id, .client) == 1000)
        // A limit that is lifted, and one that comes later.
        harness.engine.limits = AllocationLimits()
        harness.engine.streamed(1_000_000, on: id, from: .client)
        #expect(allowance(id, .client) == 65_536)
        harness.engine.limits = AllocationLimits(bytesPerSecond: 1000)
        #expect(allowance(other, .client) == 65_536)
        harness.engine.streamed(65_536, on: other, from: .client)
        // What the bucket gained unnoticed.
        #expect(allowance(other, .client) == 60)
    }

    @Test("streams hold their limit in the long run", arguments: [1000, 123_456, 12_500_000] as [UInt64])
    func longRun(rate: UInt64) throws {
        let harness = try makeHarness()
        harness.engine.limits = AllocationLimits(bytesPerSecond: rate)
        let id = try bound(harness)
        var random = SeededRandom(seed: rate)
        var passed: UInt64 = 0
        let seconds: UInt64 = 20
        let end = harness.now.adding(nanoseconds: seconds * 1_000_000_000)
        while harness.now < end {
            harness.now = harness.now.adding(nanoseconds: UInt64.random(in: 1...4_000_000, using: &random))
            let allowed = harness.engine.streamAllowance(id, from: .peer, upTo: 65_536, at: harness.now)
            let read = allowed == 0 ? 0 : allowed + Int.random(in: 0...100, using: &random)
            harness.engine.streamed(read, on: id, from: .peer)
            passed += UInt64(read)
        }
        #expect(passed <= rate * seconds + 2 * max(rate, 65_536) + 100)
        #expect(passed >= rate * (seconds - 1))
    }

    @Test("datagrams do not pass")
    func datagrams() throws {
        let harness = try makeHarness()
        var client = TestClient(transport: .tcp)
        #expect(try allocate(harness, &client).isSuccess)
        #expect(try client.permit(harness, RelayHarness.peer).isSuccess)
        #expect(try client.bind(harness, 0x4000, RelayHarness.peer).error == 400)
        let relay = try #require(harness.bound.keys.first)
        #expect(
            harness.engine.receiveFromPeer(on: relay, from: RelayHarness.peer, byteCount: 9, at: harness.now) == nil)
        var writer = MessageWriter()
        writer.begin(MessageType(.indication, .send), TestClient.nextTransaction())
        writer.append(.xorPeerAddress, xor: RelayHarness.peer)
        writer.append(.data, bytes: [1, 2, 3])
        #expect(harness.receive(writer.bytes, on: client.flow).toPeer == nil)
    }

    @Test("only a ConnectionBind request claims a number")
    func claims() {
        func claimed(_ type: MessageType, _ number: UInt32?) -> PeerConnectionID? {
            var writer = MessageWriter()
            writer.begin(type, TransactionID(1, 2))
            if let number { writer.append(.connectionID, integer: number) }
            return PeerConnectionID.claimed(by: writer.bytes.span.bytes)
        }
        #expect(claimed(MessageType(.request, .connectionBind), 0x0700_0001)?.worker == 7)
        #expect(claimed(MessageType(.request, .connectionBind), nil) == nil)
        #expect(claimed(MessageType(.success, .connectionBind), 1) == nil)
        #expect(claimed(MessageType(.request, .connect), 1) == nil)
    }
}

import STUN
import TURN
import Testing
import Wire

@Suite("TCP allocations")
struct PeerConnectionTests {
    private static let tcp = UInt32(6) << 24

    private func makeLab(allowed: [String] = []) throws -> Lab {
        let lab = try Lab(allowed: allowed)
        lab.engine.worker = 5
        return lab
    }

    private func allocate(
        _ lab: Lab, _ client: inout LabClient, _ extra: (inout MessageWriter) -> Void = { _ in }
    ) throws -> Answer {
        if client.nonce.isEmpty { try client.learnNonce(lab) }
        let bytes = client.request(.allocate, lab) { writer in
            writer.append(.requestedTransport, integer: Self.tcp)
            extra(&writer)
        }
        return try Answer(lab.receive(bytes, on: client.flow))
    }

    /// Lets the engine see a request and returns what it asked of its host.
    private func ask(_ lab: Lab, _ client: LabClient, _ method: Method, _ extra: (inout MessageWriter) -> Void)
        -> Recorder
    {
        let bytes = client.request(method, lab, extra: extra)
        var recorder = Recorder()
        _ = lab.engine.receive(bytes.span.bytes, on: client.flow, at: lab.now, into: &recorder)
        return recorder
    }

    private func connect(_ lab: Lab, _ client: LabClient, _ peer: TransportAddress) -> Recorder {
        ask(lab, client, .connect) { $0.append(.xorPeerAddress, xor: peer) }
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
        let lab = try makeLab()
        var client = LabClient(transport: .tcp)
        var datagrams = LabClient(port: 2)
        #expect(try allocate(lab, &datagrams).error == 400)
        #expect(try allocate(lab, &client) { $0.append(.evenPort, bytes: [0]) }.error == 400)
        #expect(try allocate(lab, &client) { $0.append(.reservationToken, integer: UInt64(1)) }.error == 400)
        #expect(try allocate(lab, &client) { $0.append(.dontFragment, bytes: []) }.error == 400)
        #expect(try allocate(lab, &client).isSuccess)
        let other = try Lab()
        var refused = LabClient(transport: .tls)
        #expect(try allocate(other, &refused).error == 442)
    }

    @Test("Connect is answered when the peer is, and ConnectionBind joins the two")
    func connects() throws {
        let lab = try makeLab()
        var client = LabClient(transport: .tcp)
        #expect(try allocate(lab, &client).isSuccess)
        let wish = connect(lab, client, Lab.peer)
        #expect(wish.messages.isEmpty)
        let id = try #require(wish.connecting.first?.0)
        #expect(wish.connecting.first?.1 == Lab.peer)
        #expect(id.worker == 5)
        // A second one to the same peer, while the first is under way.
        let again = connect(lab, client, Lab.peer)
        #expect(try error(again) == 446)
        var recorder = Recorder()
        lab.engine.peerConnected(id, at: lab.now, into: &recorder)
        #expect(try connectionID(recorder) == id.rawValue)

        var data = LabClient(port: 77, transport: .tcp)
        try data.learnNonce(lab)
        let bound = ask(lab, data, .connectionBind) { $0.append(.connectionID, integer: id.rawValue) }
        #expect(try error(bound) == nil)
        #expect(bound.boundPeers.first?.0 == id)
        #expect(bound.boundPeers.first?.1 == data.flow)
        // Once only.
        var late = LabClient(port: 78, transport: .tcp)
        try late.learnNonce(lab)
        let second = ask(lab, late, .connectionBind) { $0.append(.connectionID, integer: id.rawValue) }
        #expect(try error(second) == 400)

        var ending = Recorder()
        lab.engine.flowClosed(client.flow, into: &ending)
        #expect(ending.closedPeers == [id])
        #expect(ending.ended.count == 1)
    }

    @Test("ConnectionBind wants the allocation's user, a number that is open, and a connection of its own")
    func wrongBinds() throws {
        let lab = try makeLab()
        var client = LabClient(transport: .tcp)
        #expect(try allocate(lab, &client).isSuccess)
        let wish = connect(lab, client, Lab.peer)
        let id = try #require(wish.connecting.first?.0)
        var data = LabClient(port: 77, transport: .tcp)
        try data.learnNonce(lab)
        func bind(_ client: LabClient, _ number: UInt32?) throws -> UInt16? {
            let recorder = ask(lab, client, .connectionBind) { writer in
                if let number { writer.append(.connectionID, integer: number) }
            }
            #expect(recorder.boundPeers.isEmpty)
            return try error(recorder)
        }
        // Not connected yet.
        #expect(try bind(data, id.rawValue) == 400)
        var recorder = Recorder()
        lab.engine.peerConnected(id, at: lab.now, into: &recorder)
        #expect(try bind(data, nil) == 400)
        #expect(try bind(data, id.rawValue ^ 1) == 400)
        #expect(try bind(client, id.rawValue) == 400)
        var datagrams = LabClient(port: 79)
        try datagrams.learnNonce(lab)
        #expect(try bind(datagrams, id.rawValue) == 400)
        var bob = LabClient(port: 80, username: "bob", password: "builder", transport: .tcp)
        try bob.learnNonce(lab)
        #expect(try bind(bob, id.rawValue) == 441)
    }

    @Test("Connect is refused like any peer, and for UDP allocations")
    func refused() throws {
        let lab = try makeLab()
        var client = LabClient(transport: .tcp)
        #expect(try allocate(lab, &client).isSuccess)
        func answer(_ peer: TransportAddress) throws -> UInt16? { try error(connect(lab, client, peer)) }
        #expect(try answer(TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 80)) == 403)
        #expect(try answer(TransportAddress(Lab.serverIPv4, port: 3478)) == 403)
        #expect(try answer(TransportAddress(Lab.serverIPv6, port: 9)) == 443)
        let own = try #require(lab.bound.values.first)
        #expect(try answer(own) == 403)
        let empty = ask(lab, client, .connect) { _ in }
        #expect(try error(empty) == 400)
        var udp = LabClient(port: 3, transport: .tcp)
        #expect(try udp.allocate(lab).isSuccess)
        let mismatch = connect(lab, udp, Lab.peer)
        #expect(try error(mismatch) == 437)
        let stranger = LabClient(port: 4, transport: .tcp)
        var known = stranger
        try known.learnNonce(lab)
        let none = connect(lab, known, Lab.peer)
        #expect(try error(none) == 437)
    }

    @Test("a peer that does not accept, or not in time, is 447")
    func failures() throws {
        let lab = try makeLab()
        var client = LabClient(transport: .tcp)
        #expect(try allocate(lab, &client).isSuccess)
        let wish = connect(lab, client, Lab.peer)
        var recorder = Recorder()
        lab.engine.peerClosed(try #require(wish.connecting.first?.0), into: &recorder)
        #expect(try error(recorder) == 447)
        let slow = connect(lab, client, Lab.peer)
        let id = try #require(slow.connecting.first?.0)
        var late = Recorder()
        lab.engine.advance(to: lab.now.adding(seconds: 31), into: &late)
        #expect(late.closedPeers == [id])
        #expect(try error(late) == 447)
        // What nobody claims is closed without a word.
        lab.now = lab.now.adding(seconds: 31)
        let unclaimed = connect(lab, client, Lab.peer)
        let other = try #require(unclaimed.connecting.first?.0)
        var connected = Recorder()
        lab.engine.peerConnected(other, at: lab.now, into: &connected)
        var over = Recorder()
        lab.engine.advance(to: lab.now.adding(seconds: 31), into: &over)
        #expect(over.closedPeers == [other])
        #expect(over.messages.isEmpty)
    }

    @Test("a peer with permission is announced, any other is not accepted")
    func accepts() throws {
        let lab = try makeLab()
        var client = LabClient(transport: .tcp)
        #expect(try allocate(lab, &client).isSuccess)
        let relay = try #require(lab.bound.keys.first)
        var recorder = Recorder()
        let refused = lab.engine.peerAccepted(on: relay, from: Lab.peer, at: lab.now, into: &recorder)
        #expect(refused == nil)
        #expect(recorder.messages.isEmpty)
        #expect(try client.permit(lab, Lab.peer).isSuccess)
        let accepted = lab.engine.peerAccepted(on: relay, from: Lab.peer, at: lab.now, into: &recorder)
        let id = try #require(accepted)
        let bytes = try #require(recorder.messages.first).bytes
        let message = try Message(bytes.span.bytes)
        #expect(message.type == MessageType(.indication, .connectionAttempt))
        #expect(message.integer32(.connectionID) == id.rawValue)
        #expect(message.xorAddress(.xorPeerAddress) == Lab.peer)
        #expect(recorder.messages.first?.flow == client.flow)
        for port in 0..<UInt16(100) {
            let peer = TransportAddress(Lab.peer.address, port: 1 + port)
            _ = lab.engine.peerAccepted(on: relay, from: peer, at: lab.now, into: &recorder)
        }
        #expect(recorder.messages.count == 64)
    }

    @Test("a relay of two that closes takes its connections along")
    func oneFamily() throws {
        let lab = try makeLab()
        var client = LabClient(transport: .tcp)
        #expect(try allocate(lab, &client) { $0.append(.additionalAddressFamily, integer: UInt32(2) << 24) }.isSuccess)
        let farther = TransportAddress(IPAddress(ipv6High: 0x2A00 << 48, low: 9), port: 5)
        let four = connect(lab, client, Lab.peer).connecting.map { $0.0 }
        let six = connect(lab, client, farther).connecting.map { $0.0 }
        #expect(four.count == 1 && six.count == 1)
        var closing = ask(lab, client, .refresh) { writer in
            writer.append(.lifetime, integer: UInt32(0))
            writer.append(.requestedAddressFamily, integer: UInt32(2) << 24)
        }
        #expect(closing.closedPeers == six)
        #expect(closing.closed.map { $0.family } == [.ipv6])
        closing = ask(lab, client, .refresh) { $0.append(.lifetime, integer: UInt32(0)) }
        #expect(closing.closedPeers == four)
    }

    /// A bound connection of a new allocation.
    private func bound(_ lab: Lab, port: UInt16 = 1000) throws -> PeerConnectionID {
        var client = LabClient(port: port, transport: .tcp)
        #expect(try allocate(lab, &client).isSuccess)
        let id = try #require(connect(lab, client, Lab.peer).connecting.first?.0)
        var recorder = Recorder()
        lab.engine.peerConnected(id, at: lab.now, into: &recorder)
        var data = LabClient(port: port + 1, transport: .tcp)
        try data.learnNonce(lab)
        let joined = ask(lab, data, .connectionBind) { $0.append(.connectionID, integer: id.rawValue) }
        #expect(joined.boundPeers.count == 1)
        return id
    }

    @Test("streams are read no faster than the allocation's bytes per second, each way by itself")
    func bandwidth() throws {
        let lab = try makeLab()
        lab.engine.limits = AllocationLimits(bytesPerSecond: 100_000)
        let (id, other) = (try bound(lab), try bound(lab, port: 2000))
        func allowance(_ id: PeerConnectionID, _ source: StreamSource) -> Int {
            lab.engine.streamAllowance(id, from: source, upTo: 65_536, at: lab.now)
        }
        // A second's worth at once.
        #expect(allowance(id, .client) == 65_536)
        lab.engine.streamed(65_536, on: id, from: .client)
        #expect(allowance(id, .client) == 34_464)
        lab.engine.streamed(34_464, on: id, from: .client)
        #expect(allowance(id, .client) == 0)
        #expect(allowance(id, .peer) == 65_536)
        #expect(allowance(other, .client) == 65_536)
        lab.now = lab.now.adding(nanoseconds: 20_000_000)
        #expect(allowance(id, .client) == 2000)
        // More than was allowed is owed.
        lab.engine.streamed(5000, on: id, from: .client)
        lab.now = lab.now.adding(nanoseconds: 20_000_000)
        #expect(allowance(id, .client) == 0)
        lab.now = lab.now.adding(nanoseconds: 20_000_000)
        #expect(allowance(id, .client) == 1000)
        // A limit that is lifted, and one that comes later.
        lab.engine.limits = AllocationLimits()
        lab.engine.streamed(1_000_000, on: id, from: .client)
        #expect(allowance(id, .client) == 65_536)
        lab.engine.limits = AllocationLimits(bytesPerSecond: 1000)
        #expect(allowance(other, .client) == 65_536)
        lab.engine.streamed(65_536, on: other, from: .client)
        // What the bucket gained unnoticed.
        #expect(allowance(other, .client) == 60)
    }

    @Test("streams hold their limit in the long run", arguments: [1000, 123_456, 12_500_000] as [UInt64])
    func longRun(rate: UInt64) throws {
        let lab = try makeLab()
        lab.engine.limits = AllocationLimits(bytesPerSecond: rate)
        let id = try bound(lab)
        var chance = SeededRandom(seed: rate)
        var passed: UInt64 = 0
        let seconds: UInt64 = 20
        let end = lab.now.adding(nanoseconds: seconds * 1_000_000_000)
        while lab.now < end {
            lab.now = lab.now.adding(nanoseconds: UInt64.random(in: 1...4_000_000, using: &chance))
            let allowed = lab.engine.streamAllowance(id, from: .peer, upTo: 65_536, at: lab.now)
            let read = allowed == 0 ? 0 : allowed + Int.random(in: 0...100, using: &chance)
            lab.engine.streamed(read, on: id, from: .peer)
            passed += UInt64(read)
        }
        #expect(passed <= rate * seconds + 2 * max(rate, 65_536) + 100)
        #expect(passed >= rate * (seconds - 1))
    }

    @Test("datagrams do not pass")
    func datagrams() throws {
        let lab = try makeLab()
        var client = LabClient(transport: .tcp)
        #expect(try allocate(lab, &client).isSuccess)
        #expect(try client.permit(lab, Lab.peer).isSuccess)
        #expect(try client.bind(lab, 0x4000, Lab.peer).error == 400)
        let relay = try #require(lab.bound.keys.first)
        #expect(lab.engine.receiveFromPeer(on: relay, from: Lab.peer, byteCount: 9, at: lab.now) == nil)
        var writer = MessageWriter()
        writer.begin(MessageType(.indication, .send), LabClient.nextTransaction())
        writer.append(.xorPeerAddress, xor: Lab.peer)
        writer.append(.data, bytes: [1, 2, 3])
        #expect(lab.receive(writer.bytes, on: client.flow).toPeer == nil)
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

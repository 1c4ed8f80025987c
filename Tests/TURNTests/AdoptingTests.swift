import STUN
import TURN
import Testing
import Wire

@Suite("Configuration changes at run time")
struct AdoptingTests {
    @discardableResult
    private func adopt(
        _ harness: RelayHarness, users: [String: String] = ["alice": "other"], allowed: [String] = [],
        denied: [String] = []
    ) -> Recorder {
        let policy = PeerPolicy(
            allowed: allowed.compactMap { AddressRange($0) }, denied: denied.compactMap { AddressRange($0) },
            own: [RelayHarness.serverIPv4, RelayHarness.serverIPv6],
            externals: [(RelayHarness.external, RelayHarness.serverIPv4)], deniedOwnPorts: [3478], live: harness.relays)
        var recorder = Recorder()
        harness.engine.adopt(Credentials(realm: "test", users: users, secrets: []), policy, into: &recorder)
        return recorder
    }

    @Test("an allocation keeps its key, a new one needs the new password")
    func credentials() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        #expect(try client.bind(harness, 0x4000, RelayHarness.peer).isSuccess)
        adopt(harness)
        #expect(client.sendChannel(harness, 0x4000, [1]) != nil)
        #expect(try client.refresh(harness, lifetime: nil).isSuccess)
        var late = TestClient(port: 1001)
        #expect(try late.allocate(harness).error == 401)
        late.password = "other"
        #expect(try late.allocate(harness).isSuccess)
    }

    @Test("a peer that is forbidden from now on is cut off, every other stays")
    func policy() throws {
        let closing = TransportAddress(IPAddress(ipv4: 0x0A09_0909), port: 9)
        let harness = try RelayHarness(allowed: ["10.0.0.0/8"])
        var client = TestClient()
        _ = try client.allocate(harness)
        let id = try #require(harness.bound.keys.first)
        #expect(try client.bind(harness, 0x4000, closing).isSuccess)
        #expect(try client.bind(harness, 0x4001, RelayHarness.peer).isSuccess)
        #expect(client.sendChannel(harness, 0x4000, [1]) != nil)

        adopt(harness)
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
        #expect(client.send(harness, [1], to: closing) == nil)
        #expect(harness.engine.receiveFromPeer(on: id, from: closing, byteCount: 100, at: harness.now) == nil)
        #expect(try client.bind(harness, 0x4000, closing).error == 403)
        #expect(client.sendChannel(harness, 0x4001, [1]) != nil)
        #expect(harness.engine.receiveFromPeer(on: id, from: RelayHarness.peer, byteCount: 100, at: harness.now) != nil)

        adopt(harness, allowed: ["10.0.0.0/8"])
        #expect(try client.bind(harness, 0x4000, closing).isSuccess)
        #expect(client.sendChannel(harness, 0x4000, [1]) != nil)
    }

    @Test("two relayed clients of one server still reach each other")
    func hairpin() throws {
        let harness = try RelayHarness()
        var (alice, bob) = (TestClient(), TestClient(port: 1001, username: "bob", password: "builder"))
        _ = try alice.allocate(harness)
        let atBob = try #require(try bob.allocate(harness).relayed)
        #expect(try alice.bind(harness, 0x4000, atBob).isSuccess)
        adopt(harness)
        #expect(alice.sendChannel(harness, 0x4000, [1]) != nil)
    }

    @Test("a public range that is denied is cut off, too")
    func denied() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        let id = try #require(harness.bound.keys.first)
        #expect(try client.bind(harness, 0x4000, RelayHarness.peer).isSuccess)
        adopt(harness, denied: ["8.8.8.0/24"])
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
        #expect(client.send(harness, [1], to: RelayHarness.peer) == nil)
        #expect(harness.engine.receiveFromPeer(on: id, from: RelayHarness.peer, byteCount: 100, at: harness.now) == nil)
        #expect(try client.bind(harness, 0x4000, RelayHarness.peer).error == 403)
        // What was cut off does not come back by itself.
        adopt(harness)
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
        #expect(try client.bind(harness, 0x4001, RelayHarness.peer).isSuccess)
    }

    @Test("connections to peers that are forbidden from now on close in the same moment, others go on")
    func connections() throws {
        let harness = try RelayHarness()
        harness.engine.worker = 0
        var client = TestClient(transport: .tcp)
        try client.fetchNonce(harness)
        let allocate = client.request(.allocate, harness) { $0.append(.requestedTransport, integer: UInt32(6) << 24) }
        #expect(try Response(harness.receive(allocate, on: client.flow)).isSuccess)
        func connect(_ peer: TransportAddress) throws -> PeerConnectionID {
            var recorder = Recorder()
            let request = client.request(.connect, harness) { $0.append(.xorPeerAddress, xor: peer) }
            _ = harness.engine.receive(request.span.bytes, on: client.flow, at: harness.now, into: &recorder)
            return try #require(recorder.connecting.first).0
        }
        let (closing, staying) = (
            try connect(RelayHarness.peer), try connect(TransportAddress(IPAddress(ipv4: 0x0909_0909), port: 9))
        )
        var recorder = Recorder()
        harness.engine.peerConnected(closing, at: harness.now, into: &recorder)
        harness.engine.peerConnected(staying, at: harness.now, into: &recorder)
        #expect(adopt(harness, denied: ["8.8.8.8/32"]).closedPeers == [closing])
        #expect(adopt(harness, denied: ["8.8.8.8/32", "9.0.0.0/8"]).closedPeers == [staying])
    }
}

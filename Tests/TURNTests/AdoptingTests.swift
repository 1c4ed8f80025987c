import STUN
import TURN
import Testing
import Wire

@Suite("Rules that change while calls go on")
struct AdoptingTests {
    @discardableResult
    private func adopt(
        _ lab: Lab, users: [String: String] = ["alice": "other"], allowed: [String] = [], denied: [String] = []
    ) -> Recorder {
        let policy = PeerPolicy(
            allowed: allowed.compactMap { AddressRange($0) }, denied: denied.compactMap { AddressRange($0) },
            own: [Lab.serverIPv4, Lab.serverIPv6],
            externals: [(Lab.external, Lab.serverIPv4)], deniedOwnPorts: [3478], live: lab.relays)
        var recorder = Recorder()
        lab.engine.adopt(Credentials(realm: "test", users: users, secrets: []), policy, into: &recorder)
        return recorder
    }

    @Test("an allocation keeps its key, a new one needs the new password")
    func credentials() throws {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab)
        #expect(try client.bind(lab, 0x4000, Lab.peer).isSuccess)
        adopt(lab)
        #expect(client.sendChannel(lab, 0x4000, [1]) != nil)
        #expect(try client.refresh(lab, lifetime: nil).isSuccess)
        var late = LabClient(port: 1001)
        #expect(try late.allocate(lab).error == 401)
        late.password = "other"
        #expect(try late.allocate(lab).isSuccess)
    }

    @Test("a peer that is forbidden from now on is cut off, every other stays")
    func policy() throws {
        let closing = TransportAddress(IPAddress(ipv4: 0x0A09_0909), port: 9)
        let lab = try Lab(allowed: ["10.0.0.0/8"])
        var client = LabClient()
        _ = try client.allocate(lab)
        let id = try #require(lab.bound.keys.first)
        #expect(try client.bind(lab, 0x4000, closing).isSuccess)
        #expect(try client.bind(lab, 0x4001, Lab.peer).isSuccess)
        #expect(client.sendChannel(lab, 0x4000, [1]) != nil)

        adopt(lab)
        #expect(client.sendChannel(lab, 0x4000, [1]) == nil)
        #expect(client.send(lab, [1], to: closing) == nil)
        #expect(lab.engine.receiveFromPeer(on: id, from: closing, byteCount: 100, at: lab.now) == nil)
        #expect(try client.bind(lab, 0x4000, closing).error == 403)
        #expect(client.sendChannel(lab, 0x4001, [1]) != nil)
        #expect(lab.engine.receiveFromPeer(on: id, from: Lab.peer, byteCount: 100, at: lab.now) != nil)

        adopt(lab, allowed: ["10.0.0.0/8"])
        #expect(try client.bind(lab, 0x4000, closing).isSuccess)
        #expect(client.sendChannel(lab, 0x4000, [1]) != nil)
    }

    @Test("two relayed clients of one server still reach each other")
    func hairpin() throws {
        let lab = try Lab()
        var (alice, bob) = (LabClient(), LabClient(port: 1001, username: "bob", password: "builder"))
        _ = try alice.allocate(lab)
        let atBob = try #require(try bob.allocate(lab).relayed)
        #expect(try alice.bind(lab, 0x4000, atBob).isSuccess)
        adopt(lab)
        #expect(alice.sendChannel(lab, 0x4000, [1]) != nil)
    }

    @Test("a public range that is denied is cut off, too")
    func denied() throws {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab)
        let id = try #require(lab.bound.keys.first)
        #expect(try client.bind(lab, 0x4000, Lab.peer).isSuccess)
        adopt(lab, denied: ["8.8.8.0/24"])
        #expect(client.sendChannel(lab, 0x4000, [1]) == nil)
        #expect(client.send(lab, [1], to: Lab.peer) == nil)
        #expect(lab.engine.receiveFromPeer(on: id, from: Lab.peer, byteCount: 100, at: lab.now) == nil)
        #expect(try client.bind(lab, 0x4000, Lab.peer).error == 403)
        // What was cut off does not come back by itself.
        adopt(lab)
        #expect(client.sendChannel(lab, 0x4000, [1]) == nil)
        #expect(try client.bind(lab, 0x4001, Lab.peer).isSuccess)
    }

    @Test("connections to peers that are forbidden from now on close in the same moment, others go on")
    func connections() throws {
        let lab = try Lab()
        lab.engine.worker = 0
        var client = LabClient(transport: .tcp)
        try client.learnNonce(lab)
        let allocate = client.request(.allocate, lab) { $0.append(.requestedTransport, integer: UInt32(6) << 24) }
        #expect(try Answer(lab.receive(allocate, on: client.flow)).isSuccess)
        func connect(_ peer: TransportAddress) throws -> PeerConnectionID {
            var recorder = Recorder()
            let request = client.request(.connect, lab) { $0.append(.xorPeerAddress, xor: peer) }
            _ = lab.engine.receive(request.span.bytes, on: client.flow, at: lab.now, into: &recorder)
            return try #require(recorder.connecting.first).0
        }
        let (closing, staying) = (
            try connect(Lab.peer), try connect(TransportAddress(IPAddress(ipv4: 0x0909_0909), port: 9))
        )
        var recorder = Recorder()
        lab.engine.peerConnected(closing, at: lab.now, into: &recorder)
        lab.engine.peerConnected(staying, at: lab.now, into: &recorder)
        #expect(adopt(lab, denied: ["8.8.8.8/32"]).closedPeers == [closing])
        #expect(adopt(lab, denied: ["8.8.8.8/32", "9.0.0.0/8"]).closedPeers == [staying])
    }
}

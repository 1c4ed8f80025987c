import OpenSSLCrypto
import STUN
import Synchronization
import TURN
import Testing
import Wire

/// A supply of so many bytes and no more, which gives slices of 1,000.
private final class Cistern: ByteSupply {
    private let left: Mutex<Int>
    private let times = Mutex(0)

    init(_ bytes: Int) { left = Mutex(bytes) }

    var askedTimes: Int { times.withLock { $0 } }

    func take(_ needed: Int, at now: Instant) -> Int {
        times.withLock { $0 += 1 }
        return left.withLock { left in
            let taken = min(left, max(needed, 1000))
            guard taken >= needed else { return 0 }
            left -= taken
            return taken
        }
    }
}

@Suite("Scopes of credentials")
struct ScopeTests {
    private static let gateway = TransportAddress(RelayHarness.serverIPv4, port: 3480)
    private static let advertised = TransportAddress(RelayHarness.external, port: 3480)

    private func client(
        _ harness: RelayHarness, _ scope: CredentialScope, of user: String = "carol", port: UInt16 = 1,
        expiresIn: Int64 = 600,
        issuedAt: Int64 = 1000
    ) throws -> TestClient {
        let name = EphemeralCredential.username(
            user: user, scope: scope, expiresAt: RelayHarness.unixSeconds + expiresIn, issuedAt: issuedAt)
        let password = try #require(
            EphemeralCredential.password(of: name, secret: "first secret", harness.authentication))
        return TestClient(port: port, username: name, password: String(decoding: password, as: UTF8.self))
    }

    @Test(
        "stand in the name, and only where the API wrote them",
        arguments: [
            ("5:u:call=c-1@7", .call("c-1"), 7), ("5:u:gateway@1800000000000", .gateway, 1_800_000_000_000),
            ("5:u:test@0", .test, 0), ("5:u:open@1", .open, 1), ("5:u", nil, nil), ("5:u:c-1", nil, nil),
            ("5:u:test", nil, nil), ("5:u:test@", nil, nil), ("5:u:test@x", nil, nil), ("5:u:test@-1", nil, nil),
            ("5:u:call=@1", nil, nil), ("5:u:Test@1", nil, nil), ("5:u:test@1234567890123456789", nil, nil),
            ("5:u:call=a@b@9", .call("a@b"), 9),
        ] as [(String, CredentialScope?, Int64?)])
    func names(name: String, scope: CredentialScope?, issued: Int64?) throws {
        let read = try #require(EphemeralName(name))
        #expect(read.scope == scope && read.issuedAt == issued && read.user == "u" && read.expiresAt == 5)
        guard let scope, let issued else { return }
        #expect(EphemeralCredential.username(user: "u", scope: scope, expiresAt: 5, issuedAt: issued) == name)
    }

    @Test("a name that was written anew is nobody's")
    func forged() throws {
        let harness = try RelayHarness()
        var carol = try client(harness, .test)
        carol.username = carol.username.replacing("test@", with: "open@")
        try carol.fetchNonce(harness)
        #expect(try carol.allocate(harness).error == 401)
    }

    @Test("an allocation does not outlive its credential by part of a second")
    func wallClock() throws {
        let harness = try RelayHarness()
        harness.engine.setWallClock(unixMilliseconds: RelayHarness.unixSeconds * 1000 + 900, at: harness.now)
        harness.now = harness.now.adding(nanoseconds: 200_000_000)
        var carol = try client(harness, .test, expiresIn: 60)
        #expect(try carol.allocate(harness) { $0.append(.lifetime, integer: UInt32(3600)) }.lifetime == 59)
    }

    @Test(
        "what is for a test or for the gateway ends with the credential",
        arguments: [.test, .gateway] as [CredentialScope])
    func ends(scope: CredentialScope) throws {
        let harness = try RelayHarness()
        var carol = try client(harness, scope, expiresIn: 60)
        #expect(try carol.allocate(harness) { $0.append(.lifetime, integer: UInt32(3600)) }.lifetime == 60)
        harness.advance(seconds: 40)
        #expect(try carol.refresh(harness, lifetime: 600).lifetime == 20)
        harness.advance(seconds: 21)
        #expect(harness.liveAllocations == 0)
        #expect(try carol.refresh(harness, lifetime: 600).error == 401)
        #expect(try carol.allocate(harness).error == 401)
    }

    @Test("what is for a call or for another app outlives it", arguments: [.call("one"), .open] as [CredentialScope])
    func outlives(scope: CredentialScope) throws {
        let harness = try RelayHarness()
        var carol = try client(harness, scope, expiresIn: 60)
        #expect(try carol.allocate(harness).lifetime == 600)
        for _ in 0..<7 {
            harness.advance(seconds: 500)
            #expect(try carol.refresh(harness, lifetime: 600).lifetime == 600)
        }
    }

    @Test("a test is charged to an account of its own, with its quota")
    func account() throws {
        let harness = try RelayHarness()
        var test = try client(harness, .test)
        _ = try test.allocate(harness)
        #expect(harness.requested?.user == ":test:carol" && harness.requested?.scope == .test)
        var call = try client(harness, .call("one"), port: 2)
        _ = try call.allocate(harness)
        #expect(harness.requested?.user == "carol" && harness.requested?.scope == .call("one"))
        var other = TestClient(port: 3)
        _ = try other.allocate(harness)
        #expect(harness.requested?.user == "alice" && harness.requested?.scope == nil)
    }

    @Test("for the gateway there is no other peer, in whatever way")
    func gatewayAlone() throws {
        let harness = try RelayHarness(openOwn: [Self.gateway])
        var other = TestClient(port: 7)
        let live = try #require(try other.allocate(harness).relayed)
        var carol = try client(harness, .gateway)
        #expect(try carol.allocate(harness) { $0.append(.evenPort, bytes: [0]) }.isSuccess)
        let relay = try #require(harness.bound.keys.first { harness.bound[$0]?.port != live.port })
        #expect(try carol.permit(harness, RelayHarness.peer).error == 403)
        #expect(try carol.permit(harness, live).error == 403)
        #expect(try carol.bind(harness, 0x4000, live).error == 403)
        #expect(try carol.permit(harness, TransportAddress(RelayHarness.external, port: 22)).error == 403)
        #expect(try carol.permit(harness, Self.advertised).isSuccess)
        #expect(try carol.bind(harness, 0x4001, Self.advertised).isSuccess)
        #expect(carol.sendChannel(harness, 0x4001, [1])?.destination == Self.gateway)
        #expect(carol.send(harness, [1], to: Self.advertised)?.destination == Self.gateway)
        // The permission is for the address: other ports of it are still nobody's, both ways.
        #expect(carol.send(harness, [1], to: live) == nil)
        let local = TransportAddress(RelayHarness.serverIPv4, port: live.port)
        #expect(harness.engine.receiveFromPeer(on: relay, from: local, byteCount: 1, at: harness.now) == nil)
        #expect(harness.engine.receiveFromPeer(on: relay, from: Self.gateway, byteCount: 1, at: harness.now) != nil)
    }

    @Test("for the gateway there are no TCP allocations")
    func gatewayOverUDP() throws {
        let harness = try RelayHarness(openOwn: [Self.gateway])
        harness.engine.worker = 0
        let datagrams = try client(harness, .gateway)
        var carol = TestClient(port: 9, username: datagrams.username, password: datagrams.password, transport: .tcp)
        try carol.fetchNonce(harness)
        let bytes = carol.request(.allocate, harness) { $0.append(.requestedTransport, integer: UInt32(6) << 24) }
        #expect(try Response(harness.receive(bytes, on: carol.flow)).error == 403)
    }

    @Test("who is out of a call loses what was relayed for it, and nothing else")
    func leaves() throws {
        let harness = try RelayHarness()
        var mine = try client(harness, .call("one"), port: 1, issuedAt: 1000)
        var held = try client(harness, .call("one"), port: 2, issuedAt: 1001)
        var second = try client(harness, .call("two"), port: 3)
        var theirs = try client(harness, .call("one"), of: "dave", port: 4)
        for index in 0..<3 {
            switch index {
            case 0: #expect(try mine.allocate(harness).isSuccess)
            case 1: #expect(try second.allocate(harness).isSuccess)
            default: #expect(try theirs.allocate(harness).isSuccess)
            }
        }
        var recorder = Recorder()
        harness.engine.revoke(
            .participant(user: "carol", call: "one"), voidingUntil: RelayHarness.unixSeconds + 600, issuedUntil: 1001,
            into: &recorder)
        #expect(recorder.ended.count == 1)
        #expect(try mine.refresh(harness, lifetime: nil).error == 437)
        #expect(try held.allocate(harness).error == 403)
        #expect(try second.refresh(harness, lifetime: nil).isSuccess)
        #expect(try theirs.refresh(harness, lifetime: nil).isSuccess)
        // Who comes back is given new ones, which are good at once, although they expire in the same second.
        var again = try client(harness, .call("one"), port: 5, issuedAt: 1002)
        #expect(try again.allocate(harness).isSuccess)
    }

    @Test("ending a call finds its allocations among those of many users")
    func ended() throws {
        let harness = try RelayHarness()
        var clients: [TestClient] = []
        for number in 0..<30 as Range<UInt16> {
            var made = try client(harness, .call("call \(number % 3)"), of: "user \(number % 5)", port: 100 + number)
            #expect(try made.allocate(harness).isSuccess)
            clients.append(made)
        }
        harness.revoke(.call("call 1"))
        #expect(harness.liveAllocations == 20)
        harness.revoke(.user("user 2"))
        #expect(harness.liveAllocations == 16)
        harness.revoke(.user(clients[0].username))
        #expect(harness.liveAllocations == 14)
        for client in clients { harness.close(client.flow) }
        #expect(harness.liveAllocations == 0)
    }

    @Test("the allocations of a user share what it may relay, and ask for it in slices")
    func shared() throws {
        let harness = try RelayHarness()
        let cistern = Cistern(10_000)
        harness.supplies["carol"] = cistern
        var first = try client(harness, .call("one"), port: 1)
        var second = try client(harness, .call("two"), port: 2)
        for index in 0..<2 {
            if index == 0 { _ = try first.allocate(harness) } else { _ = try second.allocate(harness) }
        }
        for client in [first, second] { #expect(try client.bind(harness, 0x4000, RelayHarness.peer).isSuccess) }
        let packet = [UInt8](repeating: 1, count: 100)
        var passed = 0
        for index in 0..<200 {
            let forward = (index % 2 == 0 ? first : second).sendChannel(harness, 0x4000, packet)
            if forward != nil { passed += 1 }
        }
        #expect(passed == 100)
        #expect(harness.engine.counters.limitedUserBytes == 100)
        // Ten slices, and one question of each that found nothing.
        #expect(cistern.askedTimes == 12)
        var alice = TestClient(port: 3)
        _ = try alice.allocate(harness)
        #expect(try alice.bind(harness, 0x4000, RelayHarness.peer).isSuccess)
        #expect(alice.sendChannel(harness, 0x4000, packet) != nil)
    }

    @Test("all allocations share what the relay may carry")
    func total() throws {
        let harness = try RelayHarness()
        harness.engine.supply = Cistern(2_000)
        var alice = TestClient()
        _ = try alice.allocate(harness)
        #expect(try alice.bind(harness, 0x4000, RelayHarness.peer).isSuccess)
        let packet = [UInt8](repeating: 1, count: 300)
        let passed = (0..<20).count { _ in alice.sendChannel(harness, 0x4000, packet) != nil }
        #expect(passed == 6 && harness.engine.counters.limitedTotalBytes == 14)
    }
}

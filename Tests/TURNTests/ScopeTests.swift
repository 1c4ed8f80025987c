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
    private static let gateway = TransportAddress(Lab.serverIPv4, port: 3480)
    private static let told = TransportAddress(Lab.external, port: 3480)

    private func client(
        _ lab: Lab, _ scope: CredentialScope, of user: String = "carol", port: UInt16 = 1, expiresIn: Int64 = 600,
        issuedAt: Int64 = 1000
    ) throws -> LabClient {
        let name = EphemeralCredential.username(
            user: user, scope: scope, expiresAt: Lab.unixSeconds + expiresIn, issuedAt: issuedAt)
        let password = try #require(EphemeralCredential.password(of: name, secret: "first secret", lab.authentication))
        return LabClient(port: port, username: name, password: String(decoding: password, as: UTF8.self))
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
        let lab = try Lab()
        var carol = try client(lab, .test)
        carol.username = carol.username.replacing("test@", with: "open@")
        try carol.learnNonce(lab)
        #expect(try carol.allocate(lab).error == 401)
    }

    @Test(
        "what is for a test or for the gateway ends with the credential",
        arguments: [.test, .gateway] as [CredentialScope])
    func ends(scope: CredentialScope) throws {
        let lab = try Lab()
        var carol = try client(lab, scope, expiresIn: 60)
        #expect(try carol.allocate(lab) { $0.append(.lifetime, integer: UInt32(3600)) }.lifetime == 60)
        lab.advance(seconds: 40)
        #expect(try carol.refresh(lab, lifetime: 600).lifetime == 20)
        lab.advance(seconds: 21)
        #expect(lab.liveAllocations == 0)
        #expect(try carol.refresh(lab, lifetime: 600).error == 401)
        #expect(try carol.allocate(lab).error == 401)
    }

    @Test("what is for a call or for another app outlives it", arguments: [.call("one"), .open] as [CredentialScope])
    func outlives(scope: CredentialScope) throws {
        let lab = try Lab()
        var carol = try client(lab, scope, expiresIn: 60)
        #expect(try carol.allocate(lab).lifetime == 600)
        for _ in 0..<7 {
            lab.advance(seconds: 500)
            #expect(try carol.refresh(lab, lifetime: 600).lifetime == 600)
        }
    }

    @Test("a test is charged to an account of its own, with its quota")
    func account() throws {
        let lab = try Lab()
        var test = try client(lab, .test)
        _ = try test.allocate(lab)
        #expect(lab.requested?.user == ":test:carol" && lab.requested?.scope == .test)
        var call = try client(lab, .call("one"), port: 2)
        _ = try call.allocate(lab)
        #expect(lab.requested?.user == "carol" && lab.requested?.scope == .call("one"))
        var other = LabClient(port: 3)
        _ = try other.allocate(lab)
        #expect(lab.requested?.user == "alice" && lab.requested?.scope == nil)
    }

    @Test("for the gateway there is no other peer, in whatever way")
    func gatewayAlone() throws {
        let lab = try Lab(openOwn: [Self.gateway])
        var other = LabClient(port: 7)
        let live = try #require(try other.allocate(lab).relayed)
        var carol = try client(lab, .gateway)
        #expect(try carol.allocate(lab) { $0.append(.evenPort, bytes: [0]) }.isSuccess)
        let relay = try #require(lab.bound.keys.first { lab.bound[$0]?.port != live.port })
        #expect(try carol.permit(lab, Lab.peer).error == 403)
        #expect(try carol.permit(lab, live).error == 403)
        #expect(try carol.bind(lab, 0x4000, live).error == 403)
        #expect(try carol.permit(lab, TransportAddress(Lab.external, port: 22)).error == 403)
        #expect(try carol.permit(lab, Self.told).isSuccess)
        #expect(try carol.bind(lab, 0x4001, Self.told).isSuccess)
        #expect(carol.sendChannel(lab, 0x4001, [1])?.destination == Self.gateway)
        #expect(carol.send(lab, [1], to: Self.told)?.destination == Self.gateway)
        // The permission is for the address: other ports of it are still nobody's, both ways.
        #expect(carol.send(lab, [1], to: live) == nil)
        let local = TransportAddress(Lab.serverIPv4, port: live.port)
        #expect(lab.engine.receiveFromPeer(on: relay, from: local, byteCount: 1, at: lab.now) == nil)
        #expect(lab.engine.receiveFromPeer(on: relay, from: Self.gateway, byteCount: 1, at: lab.now) != nil)
    }

    @Test("for the gateway there are no TCP allocations")
    func gatewayOverUDP() throws {
        let lab = try Lab(openOwn: [Self.gateway])
        lab.engine.worker = 0
        let datagrams = try client(lab, .gateway)
        var carol = LabClient(port: 9, username: datagrams.username, password: datagrams.password, transport: .tcp)
        try carol.learnNonce(lab)
        let bytes = carol.request(.allocate, lab) { $0.append(.requestedTransport, integer: UInt32(6) << 24) }
        #expect(try Answer(lab.receive(bytes, on: carol.flow)).error == 403)
    }

    @Test("who is out of a call loses what was relayed for it, and nothing else")
    func leaves() throws {
        let lab = try Lab()
        var mine = try client(lab, .call("one"), port: 1, issuedAt: 1000)
        var held = try client(lab, .call("one"), port: 2, issuedAt: 1001)
        var second = try client(lab, .call("two"), port: 3)
        var theirs = try client(lab, .call("one"), of: "dave", port: 4)
        for index in 0..<3 {
            switch index {
            case 0: #expect(try mine.allocate(lab).isSuccess)
            case 1: #expect(try second.allocate(lab).isSuccess)
            default: #expect(try theirs.allocate(lab).isSuccess)
            }
        }
        var recorder = Recorder()
        lab.engine.revoke(
            .participant(user: "carol", call: "one"), voidingUntil: Lab.unixSeconds + 600, issuedUntil: 1001,
            into: &recorder)
        #expect(recorder.ended.count == 1)
        #expect(try mine.refresh(lab, lifetime: nil).error == 437)
        #expect(try held.allocate(lab).error == 403)
        #expect(try second.refresh(lab, lifetime: nil).isSuccess)
        #expect(try theirs.refresh(lab, lifetime: nil).isSuccess)
        // Who comes back is given new ones, which are good at once, although they expire in the same second.
        var again = try client(lab, .call("one"), port: 5, issuedAt: 1002)
        #expect(try again.allocate(lab).isSuccess)
    }

    @Test("ending a call finds its allocations among those of many users")
    func ended() throws {
        let lab = try Lab()
        var clients: [LabClient] = []
        for number in 0..<30 as Range<UInt16> {
            var made = try client(lab, .call("call \(number % 3)"), of: "user \(number % 5)", port: 100 + number)
            #expect(try made.allocate(lab).isSuccess)
            clients.append(made)
        }
        lab.revoke(.call("call 1"))
        #expect(lab.liveAllocations == 20)
        lab.revoke(.user("user 2"))
        #expect(lab.liveAllocations == 16)
        lab.revoke(.user(clients[0].username))
        #expect(lab.liveAllocations == 14)
        for client in clients { lab.close(client.flow) }
        #expect(lab.liveAllocations == 0)
    }

    @Test("the allocations of a user share what it may relay, and ask for it in slices")
    func shared() throws {
        let lab = try Lab()
        let cistern = Cistern(10_000)
        lab.supplies["carol"] = cistern
        var first = try client(lab, .call("one"), port: 1)
        var second = try client(lab, .call("two"), port: 2)
        for index in 0..<2 {
            if index == 0 { _ = try first.allocate(lab) } else { _ = try second.allocate(lab) }
        }
        for client in [first, second] { #expect(try client.bind(lab, 0x4000, Lab.peer).isSuccess) }
        let packet = [UInt8](repeating: 1, count: 100)
        var passed = 0
        for index in 0..<200 {
            let forward = (index % 2 == 0 ? first : second).sendChannel(lab, 0x4000, packet)
            if forward != nil { passed += 1 }
        }
        #expect(passed == 100)
        #expect(lab.engine.tally.limitedUserBytes == 100)
        // Ten slices, and one question of each that found nothing.
        #expect(cistern.askedTimes == 12)
        var alice = LabClient(port: 3)
        _ = try alice.allocate(lab)
        #expect(try alice.bind(lab, 0x4000, Lab.peer).isSuccess)
        #expect(alice.sendChannel(lab, 0x4000, packet) != nil)
    }

    @Test("all allocations share what the relay may carry")
    func total() throws {
        let lab = try Lab()
        lab.engine.supply = Cistern(2_000)
        var alice = LabClient()
        _ = try alice.allocate(lab)
        #expect(try alice.bind(lab, 0x4000, Lab.peer).isSuccess)
        let packet = [UInt8](repeating: 1, count: 300)
        let passed = (0..<20).count { _ in alice.sendChannel(lab, 0x4000, packet) != nil }
        #expect(passed == 6 && lab.engine.tally.limitedTotalBytes == 14)
    }
}

import STUN
import TURN
import TestSupport
import Testing
import Wire

@Suite("Authentication")
struct AuthenticationTests {
    @Test("the first request is challenged with a realm, a nonce and the algorithms")
    func challenge() throws {
        let harness = try RelayHarness()
        let client = TestClient()
        for method: STUN.Method in [.allocate, .refresh, .createPermission, .channelBind] {
            let response = try Response(
                harness.receive(client.request(method, harness, signed: false), on: client.flow))
            #expect(response.error == 401)
            #expect(response.realm == "test")
            #expect(response.nonce?.starts(with: Array("obMatJos2AAAB".utf8)) == true)
            #expect(response.passwordAlgorithms == [0, 2, 0, 0, 0, 1, 0, 0])
            #expect(response.integrity == nil)
        }
        #expect(harness.engine.allocationCount == 0)
    }

    @Test("a signature without user, realm or nonce is a bad request")
    func incomplete() throws {
        let harness = try RelayHarness()
        let client = TestClient()
        let key = client.key(harness)
        for missing in 0..<3 {
            var writer = MessageWriter()
            writer.begin(MessageType(.request, .allocate), TestClient.nextTransaction())
            if missing != 0 { writer.append(.username, text: "alice") }
            if missing != 1 { writer.append(.realm, text: "test") }
            if missing != 2 { writer.append(.nonce, text: "x") }
            let isSigned = writer.appendIntegrity(.sha1, key: key.span.bytes, harness.authentication)
            #expect(isSigned)
            let response = try Response(harness.receive(writer.bytes, on: client.flow))
            #expect(response.error == 400)
            #expect(response.nonce == nil)
        }
    }

    @Test("a wrong password, user or realm is challenged again")
    func wrong() throws {
        let harness = try RelayHarness()
        for change in 0..<3 {
            var client = TestClient(port: 1000 + UInt16(change))
            try client.fetchNonce(harness)
            switch change {
            case 0: client.password = "wrong"
            case 1: client.username = "mallory"
            default: client.realm = "elsewhere"
            }
            let response = try client.allocate(harness)
            #expect(response.error == 401)
            #expect(response.nonce != nil)
        }
        #expect(harness.liveAllocations == 0)
    }

    @Test("a nonce serves one address, for an hour")
    func nonces() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        try client.fetchNonce(harness)
        var thief = TestClient(port: 2000)
        thief.nonce = client.nonce
        #expect(try thief.allocate(harness).error == 438)
        for broken in [Array(client.nonce.dropLast()), Array("obMatJos2AAAB".utf8), [], client.nonce + [65]] {
            thief = client
            thief.nonce = broken
            let response = try Response(
                harness.receive(
                    thief.request(.allocate, harness) { $0.append(.requestedTransport, integer: UInt32(17) << 24) },
                    on: thief.flow))
            #expect(response.error == 438)
            #expect(response.nonce != nil)
        }
        #expect(try client.allocate(harness).isSuccess)
        for _ in 0..<6 {
            harness.advance(seconds: 599)
            #expect(try client.refresh(harness, lifetime: 600).isSuccess)
        }
        harness.advance(seconds: 10)
        let stale = try client.refresh(harness, lifetime: 600)
        #expect(stale.error == 438)
        client.nonce = try #require(stale.nonce)
        #expect(try client.refresh(harness, lifetime: 600).isSuccess)
    }

    @Test("a nonce outlives one change of keys and not two")
    func rotation() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        try client.fetchNonce(harness)
        let second = Array("key 2".utf8)
        harness.engine.nonces.rotate(to: Digest(second.span.bytes))
        #expect(try client.allocate(harness).isSuccess)
        let third = Array("key 3".utf8)
        harness.engine.nonces.rotate(to: Digest(third.span.bytes))
        #expect(try client.refresh(harness, lifetime: 600).error == 438)
    }

    @Test("no bit of a request can be turned unnoticed")
    func brokenVariants() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        try client.fetchNonce(harness)
        let bytes = client.request(.allocate, harness) { $0.append(.requestedTransport, integer: UInt32(17) << 24) }
        for bit in 0..<bytes.count * 8 {
            let duplicate = bytes.flippingBit(bit)
            let outcome = harness.receive(duplicate, on: client.flow)
            #expect(harness.engine.allocationCount == 0, "bit \(bit)")
            #expect(outcome.toPeer == nil)
            #expect(outcome.messages.count <= 1)
        }
        #expect(try Response(harness.receive(bytes, on: client.flow)).isSuccess)
    }

    @Test(
        "SHA-256 keys and codes work, and sign the response",
        arguments: [
            (PasswordAlgorithm.sha256, IntegrityAlgorithm.sha256), (.sha256, .sha1), (.md5, .sha256), (.md5, .sha1),
        ])
    func named(algorithm: PasswordAlgorithm, integrity: IntegrityAlgorithm) throws {
        let harness = try RelayHarness()
        var client = TestClient()
        try client.fetchNonce(harness)
        client.algorithm = algorithm
        client.integrity = integrity
        let response = try client.allocate(harness)
        #expect(response.isSuccess)
        #expect(response.integrity == .sha256)
        #expect(response.isSigned(by: client, .sha256, harness))
        #expect(try client.refresh(harness, lifetime: 600).isSigned(by: client, .sha256, harness))
    }

    @Test(
        "a list of algorithms that was tampered with is a bad request",
        arguments: [
            ([0, 1, 0, 0], 1), ([0, 2, 0, 0], 2), ([0, 1, 0, 0, 0, 2, 0, 0], 1), ([], 2), (nil, 2),
            ([0, 2, 0, 0, 0, 1, 0, 0], nil), ([0, 2, 0, 0, 0, 1, 0, 0], 3), ([0, 2, 0, 0, 0, 1, 0, 0], 0),
        ] as [([UInt8]?, UInt32?)])
    func bidDown(list: [UInt8]?, choice: UInt32?) throws {
        let harness = try RelayHarness()
        var client = TestClient()
        try client.fetchNonce(harness)
        let bytes = client.request(.allocate, harness) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            if let list { writer.append(.passwordAlgorithms, bytes: list) }
            if let choice { writer.append(.passwordAlgorithm, integer: choice << 16) }
        }
        #expect(try Response(harness.receive(bytes, on: client.flow)).error == 400)
        #expect(harness.liveAllocations == 0)
    }

    @Test("another user on an allocation gets 441, an unauthenticated client 401")
    func otherUser() throws {
        let harness = try RelayHarness()
        var alice = TestClient()
        _ = try alice.allocate(harness)
        var bob = alice
        bob.username = "bob"
        bob.password = "builder"
        #expect(try bob.refresh(harness, lifetime: 0).error == 441)
        #expect(try bob.permit(harness, RelayHarness.peer).error == 441)
        #expect(try bob.bind(harness, 0x4000, RelayHarness.peer).error == 441)
        bob.password = "wrong"
        #expect(try bob.refresh(harness, lifetime: 0).error == 401)
        #expect(harness.liveAllocations == 1)
    }

    @Test("what was appended after the signature is ignored")
    func appended() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        let refresh = client.request(.refresh, harness, behind: { $0.append(.lifetime, integer: UInt32(0)) })
        let response = try Response(harness.receive(refresh, on: client.flow))
        #expect(response.lifetime == 600)
        #expect(harness.liveAllocations == 1)

        let permission = client.request(
            .createPermission, harness, extra: { $0.append(.xorPeerAddress, xor: RelayHarness.peer) },
            behind: { $0.append(.xorPeerAddress, xor: TransportAddress(IPAddress(ipv4: 0x0909_0909), port: 1)) })
        #expect(try Response(harness.receive(permission, on: client.flow)).isSuccess)
        #expect(client.send(harness, [1], to: RelayHarness.peer) != nil)
        #expect(client.send(harness, [1], to: TransportAddress(IPAddress(ipv4: 0x0909_0909), port: 1)) == nil)
    }

    @Test("attributes that must be understood and are not are named")
    func unknown() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        for method: STUN.Method in [.refresh, .createPermission, .channelBind] {
            let bytes = client.request(method, harness) {
                $0.append(AttributeType(rawValue: 0x7123), bytes: [1, 2, 3])
            }
            let response = try Response(harness.receive(bytes, on: client.flow))
            #expect(response.error == 420)
            #expect(response.isSigned(by: client, .sha1, harness))
        }
        let binding = try Response(
            harness.receive(
                client.request(.binding, harness, signed: false) {
                    $0.append(AttributeType(rawValue: 0x0003), integer: UInt32(0))
                },
                on: client.flow))
        #expect(binding.error == 420)
    }

    @Test("a prefix gets only so many responses before it authenticates, and others are not affected")
    func limited() throws {
        let harness = try RelayHarness(responsesPerSecond: 10)
        let client = TestClient()
        let responded = (0..<100).count { _ in
            !harness.receive(client.request(.allocate, harness, signed: false), on: client.flow).messages.isEmpty
        }
        #expect(responded == 10)
        #expect(harness.engine.counters.limited == 90)
        let other = TestClient(remote: 0x0101_0101)
        #expect(harness.receive(other.request(.binding, harness, signed: false), on: other.flow).messages.count == 1)
        harness.advance(seconds: 1)
        #expect(harness.receive(client.request(.binding, harness, signed: false), on: client.flow).messages.count == 1)
    }
}

@Suite("Ephemeral credentials")
struct EphemeralCredentialTests {
    private func client(
        _ harness: RelayHarness, _ name: String, secret: String, port: UInt16 = 1000
    ) throws -> TestClient {
        let password = try #require(EphemeralCredential.password(of: name, secret: secret, harness.authentication))
        return TestClient(port: port, username: name, password: String(decoding: password, as: UTF8.self))
    }

    @Test("any live secret signs them, and no other")
    func secrets() throws {
        let harness = try RelayHarness()
        let name = EphemeralCredential.username(user: "U1", call: nil, expiresAt: RelayHarness.unixSeconds + 600)
        for (index, secret) in ["first secret", "second secret"].enumerated() {
            var client = try client(harness, name, secret: secret, port: UInt16(index + 1))
            #expect(try client.allocate(harness).isSuccess)
        }
        var unknown = try client(harness, name, secret: "third secret", port: 9)
        #expect(try unknown.allocate(harness).error == 401)
        #expect(harness.charged["U1"] == 2)
    }

    @Test("expire for new allocations, but never end a call", arguments: [0, -1, -100_000] as [Int64])
    func expired(offset: Int64) throws {
        let harness = try RelayHarness()
        var late = try client(
            harness, EphemeralCredential.username(user: "U1", call: "C", expiresAt: RelayHarness.unixSeconds + offset),
            secret: "first secret")
        #expect(try late.allocate(harness).error == 401)

        var client = try client(
            harness, EphemeralCredential.username(user: "U1", call: "C", expiresAt: RelayHarness.unixSeconds + 60),
            secret: "first secret", port: 2)
        #expect(try client.allocate(harness).isSuccess)
        harness.advance(seconds: 500)
        harness.engine.credentials.secrets = ["another"]
        #expect(try client.refresh(harness, lifetime: 600).isSuccess)
        #expect(try client.permit(harness, RelayHarness.peer).isSuccess)
    }

    @Test("keep an allocation for a day at most")
    func day() throws {
        let harness = try RelayHarness()
        var client = try client(
            harness, EphemeralCredential.username(user: "U1", call: "C", expiresAt: RelayHarness.unixSeconds + 60),
            secret: "first secret")
        _ = try client.allocate(harness)
        var last = 0 as UInt16?
        for _ in 0..<30 {
            harness.advance(seconds: 3500)
            var response = try client.refresh(harness, lifetime: 3600)
            if response.error == 438 {
                client.nonce = try #require(response.nonce)
                response = try client.refresh(harness, lifetime: 3600)
            }
            last = response.error
            if last != nil { break }
        }
        #expect(last == 401)
    }

    @Test(
        "names that are not of the form are unknown users",
        arguments: ["U1", ":U1", "x:U1", "-5:U1", "99999999999999999999:U1", "", "123"])
    func malformed(name: String) throws {
        let harness = try RelayHarness()
        var client = try client(harness, name, secret: "first secret")
        #expect(try client.allocate(harness).error == 401)
    }

    @Test("follow the draft: the password is base64 of the code over the name")
    func vector() throws {
        let harness = try RelayHarness()
        // echo -n 1800000600:U1 | openssl dgst -sha1 -hmac 'first secret' -binary | base64
        let password = try #require(
            EphemeralCredential.password(of: "1800000600:U1", secret: "first secret", harness.authentication))
        #expect(String(decoding: password, as: UTF8.self) == "A3MOenQZcVOU3AJfElbbFgWqa24=")
    }
}

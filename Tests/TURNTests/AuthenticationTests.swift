import STUN
import TURN
import Testing
import Wire

@Suite("Authentication")
struct AuthenticationTests {
    @Test("the first request is challenged with a realm, a nonce and the algorithms")
    func challenge() throws {
        let lab = try Lab()
        let client = LabClient()
        for method: STUN.Method in [.allocate, .refresh, .createPermission, .channelBind] {
            let answer = try Answer(lab.receive(client.request(method, lab, signed: false), on: client.flow))
            #expect(answer.error == 401)
            #expect(answer.realm == "test")
            #expect(answer.nonce?.starts(with: Array("obMatJos2AAAB".utf8)) == true)
            #expect(answer.passwordAlgorithms == [0, 2, 0, 0, 0, 1, 0, 0])
            #expect(answer.integrity == nil)
        }
        #expect(lab.engine.allocationCount == 0)
    }

    @Test("a signature without user, realm or nonce is a bad request")
    func incomplete() throws {
        let lab = try Lab()
        let client = LabClient()
        let key = client.key(lab)
        for missing in 0..<3 {
            var writer = MessageWriter()
            writer.begin(MessageType(.request, .allocate), LabClient.nextTransaction())
            if missing != 0 { writer.append(.username, text: "alice") }
            if missing != 1 { writer.append(.realm, text: "test") }
            if missing != 2 { writer.append(.nonce, text: "x") }
            let isSigned = writer.appendIntegrity(.sha1, key: key.span.bytes, lab.authentication)
            #expect(isSigned)
            let answer = try Answer(lab.receive(writer.bytes, on: client.flow))
            #expect(answer.error == 400)
            #expect(answer.nonce == nil)
        }
    }

    @Test("a wrong password, user or realm is challenged again")
    func wrong() throws {
        let lab = try Lab()
        for change in 0..<3 {
            var client = LabClient(port: 1000 + UInt16(change))
            try client.learnNonce(lab)
            switch change {
            case 0: client.password = "wrong"
            case 1: client.username = "mallory"
            default: client.realm = "elsewhere"
            }
            let answer = try client.allocate(lab)
            #expect(answer.error == 401)
            #expect(answer.nonce != nil)
        }
        #expect(lab.liveAllocations == 0)
    }

    @Test("a nonce serves one address, for an hour")
    func nonces() throws {
        let lab = try Lab()
        var client = LabClient()
        try client.learnNonce(lab)
        var thief = LabClient(port: 2000)
        thief.nonce = client.nonce
        #expect(try thief.allocate(lab).error == 438)
        for broken in [Array(client.nonce.dropLast()), Array("obMatJos2AAAB".utf8), [], client.nonce + [65]] {
            thief = client
            thief.nonce = broken
            let answer = try Answer(
                lab.receive(
                    thief.request(.allocate, lab) { $0.append(.requestedTransport, integer: UInt32(17) << 24) },
                    on: thief.flow))
            #expect(answer.error == 438)
            #expect(answer.nonce != nil)
        }
        #expect(try client.allocate(lab).isSuccess)
        for _ in 0..<6 {
            lab.advance(seconds: 599)
            #expect(try client.refresh(lab, lifetime: 600).isSuccess)
        }
        lab.advance(seconds: 10)
        let stale = try client.refresh(lab, lifetime: 600)
        #expect(stale.error == 438)
        client.nonce = try #require(stale.nonce)
        #expect(try client.refresh(lab, lifetime: 600).isSuccess)
    }

    @Test("a nonce outlives one change of keys and not two")
    func rotation() throws {
        let lab = try Lab()
        var client = LabClient()
        try client.learnNonce(lab)
        let second = Array("key 2".utf8)
        lab.engine.nonces.rotate(to: Digest(second.span.bytes))
        #expect(try client.allocate(lab).isSuccess)
        let third = Array("key 3".utf8)
        lab.engine.nonces.rotate(to: Digest(third.span.bytes))
        #expect(try client.refresh(lab, lifetime: 600).error == 438)
    }

    @Test("no bit of a request can be turned unnoticed")
    func brokenTwins() throws {
        let lab = try Lab()
        var client = LabClient()
        try client.learnNonce(lab)
        let bytes = client.request(.allocate, lab) { $0.append(.requestedTransport, integer: UInt32(17) << 24) }
        for bit in 0..<bytes.count * 8 {
            var twin = bytes
            twin[bit / 8] ^= 0x80 >> UInt8(bit % 8)
            let outcome = lab.receive(twin, on: client.flow)
            #expect(lab.engine.allocationCount == 0, "bit \(bit)")
            #expect(outcome.toPeer == nil)
            #expect(outcome.messages.count <= 1)
        }
        #expect(try Answer(lab.receive(bytes, on: client.flow)).isSuccess)
    }

    @Test(
        "SHA-256 keys and codes work, and sign the answer",
        arguments: [
            (PasswordAlgorithm.sha256, IntegrityAlgorithm.sha256), (.sha256, .sha1), (.md5, .sha256), (.md5, .sha1),
        ])
    func named(algorithm: PasswordAlgorithm, integrity: IntegrityAlgorithm) throws {
        let lab = try Lab()
        var client = LabClient()
        try client.learnNonce(lab)
        client.algorithm = algorithm
        client.integrity = integrity
        let answer = try client.allocate(lab)
        #expect(answer.isSuccess)
        #expect(answer.integrity == .sha256)
        #expect(answer.isSigned(by: client, .sha256, lab))
        #expect(try client.refresh(lab, lifetime: 600).isSigned(by: client, .sha256, lab))
    }

    @Test(
        "a list of algorithms that was tampered with is a bad request",
        arguments: [
            ([0, 1, 0, 0], 1), ([0, 2, 0, 0], 2), ([0, 1, 0, 0, 0, 2, 0, 0], 1), ([], 2), (nil, 2),
            ([0, 2, 0, 0, 0, 1, 0, 0], nil), ([0, 2, 0, 0, 0, 1, 0, 0], 3), ([0, 2, 0, 0, 0, 1, 0, 0], 0),
        ] as [([UInt8]?, UInt32?)])
    func bidDown(list: [UInt8]?, choice: UInt32?) throws {
        let lab = try Lab()
        var client = LabClient()
        try client.learnNonce(lab)
        let bytes = client.request(.allocate, lab) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            if let list { writer.append(.passwordAlgorithms, bytes: list) }
            if let choice { writer.append(.passwordAlgorithm, integer: choice << 16) }
        }
        #expect(try Answer(lab.receive(bytes, on: client.flow)).error == 400)
        #expect(lab.liveAllocations == 0)
    }

    @Test("another user on an allocation gets 441, a stranger 401")
    func otherUser() throws {
        let lab = try Lab()
        var alice = LabClient()
        _ = try alice.allocate(lab)
        var bob = alice
        bob.username = "bob"
        bob.password = "builder"
        #expect(try bob.refresh(lab, lifetime: 0).error == 441)
        #expect(try bob.permit(lab, Lab.peer).error == 441)
        #expect(try bob.bind(lab, 0x4000, Lab.peer).error == 441)
        bob.password = "wrong"
        #expect(try bob.refresh(lab, lifetime: 0).error == 401)
        #expect(lab.liveAllocations == 1)
    }

    @Test("what was appended behind the signature is not obeyed")
    func appended() throws {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab)
        let refresh = client.request(.refresh, lab, behind: { $0.append(.lifetime, integer: UInt32(0)) })
        let answer = try Answer(lab.receive(refresh, on: client.flow))
        #expect(answer.lifetime == 600)
        #expect(lab.liveAllocations == 1)

        let permission = client.request(
            .createPermission, lab, extra: { $0.append(.xorPeerAddress, xor: Lab.peer) },
            behind: { $0.append(.xorPeerAddress, xor: TransportAddress(IPAddress(ipv4: 0x0909_0909), port: 1)) })
        #expect(try Answer(lab.receive(permission, on: client.flow)).isSuccess)
        #expect(client.send(lab, [1], to: Lab.peer) != nil)
        #expect(client.send(lab, [1], to: TransportAddress(IPAddress(ipv4: 0x0909_0909), port: 1)) == nil)
    }

    @Test("attributes that must be understood and are not are named")
    func unknown() throws {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab)
        for method: STUN.Method in [.refresh, .createPermission, .channelBind] {
            let bytes = client.request(method, lab) { $0.append(AttributeType(rawValue: 0x7123), bytes: [1, 2, 3]) }
            let answer = try Answer(lab.receive(bytes, on: client.flow))
            #expect(answer.error == 420)
            #expect(answer.isSigned(by: client, .sha1, lab))
        }
        let binding = try Answer(
            lab.receive(
                client.request(.binding, lab, signed: false) {
                    $0.append(AttributeType(rawValue: 0x0003), integer: UInt32(0))
                },
                on: client.flow))
        #expect(binding.error == 420)
    }

    @Test("a prefix gets only so many answers before it authenticates, and others are not affected")
    func limited() throws {
        let lab = try Lab(answersPerSecond: 10)
        let client = LabClient()
        let answered = (0..<100).count { _ in
            !lab.receive(client.request(.allocate, lab, signed: false), on: client.flow).messages.isEmpty
        }
        #expect(answered == 10)
        #expect(lab.engine.tally.limited == 90)
        let other = LabClient(remote: 0x0101_0101)
        #expect(lab.receive(other.request(.binding, lab, signed: false), on: other.flow).messages.count == 1)
        lab.advance(seconds: 1)
        #expect(lab.receive(client.request(.binding, lab, signed: false), on: client.flow).messages.count == 1)
    }
}

@Suite("Ephemeral credentials")
struct EphemeralCredentialTests {
    private func client(
        _ lab: Lab, _ name: String, secret: String, port: UInt16 = 1000
    ) throws -> LabClient {
        let password = try #require(EphemeralCredential.password(of: name, secret: secret, lab.authentication))
        return LabClient(port: port, username: name, password: String(decoding: password, as: UTF8.self))
    }

    @Test("any live secret signs them, and no other")
    func secrets() throws {
        let lab = try Lab()
        let name = EphemeralCredential.username(user: "U1", call: nil, expiresAt: Lab.unixSeconds + 600)
        for (index, secret) in ["first secret", "second secret"].enumerated() {
            var client = try client(lab, name, secret: secret, port: UInt16(index + 1))
            #expect(try client.allocate(lab).isSuccess)
        }
        var stranger = try client(lab, name, secret: "third secret", port: 9)
        #expect(try stranger.allocate(lab).error == 401)
        #expect(lab.charged["U1"] == 2)
    }

    @Test("expire for new allocations, but never end a call", arguments: [0, -1, -100_000] as [Int64])
    func expired(offset: Int64) throws {
        let lab = try Lab()
        var late = try client(
            lab, EphemeralCredential.username(user: "U1", call: "C", expiresAt: Lab.unixSeconds + offset),
            secret: "first secret")
        #expect(try late.allocate(lab).error == 401)

        var client = try client(
            lab, EphemeralCredential.username(user: "U1", call: "C", expiresAt: Lab.unixSeconds + 60),
            secret: "first secret", port: 2)
        #expect(try client.allocate(lab).isSuccess)
        lab.advance(seconds: 500)
        lab.engine.credentials.secrets = ["another"]
        #expect(try client.refresh(lab, lifetime: 600).isSuccess)
        #expect(try client.permit(lab, Lab.peer).isSuccess)
    }

    @Test("keep an allocation for a day at most")
    func day() throws {
        let lab = try Lab()
        var client = try client(
            lab, EphemeralCredential.username(user: "U1", call: "C", expiresAt: Lab.unixSeconds + 60),
            secret: "first secret")
        _ = try client.allocate(lab)
        var last = 0 as UInt16?
        for _ in 0..<30 {
            lab.advance(seconds: 3500)
            var answer = try client.refresh(lab, lifetime: 3600)
            if answer.error == 438 {
                client.nonce = try #require(answer.nonce)
                answer = try client.refresh(lab, lifetime: 3600)
            }
            last = answer.error
            if last != nil { break }
        }
        #expect(last == 401)
    }

    @Test(
        "names that are not of the form are unknown users",
        arguments: ["U1", ":U1", "x:U1", "-5:U1", "99999999999999999999:U1", "", "123"])
    func malformed(name: String) throws {
        let lab = try Lab()
        var client = try client(lab, name, secret: "first secret")
        #expect(try client.allocate(lab).error == 401)
    }

    @Test("follow the draft: the password is base64 of the code over the name")
    func vector() throws {
        let lab = try Lab()
        // echo -n 1800000600:U1 | openssl dgst -sha1 -hmac 'first secret' -binary | base64
        let password = try #require(
            EphemeralCredential.password(of: "1800000600:U1", secret: "first secret", lab.authentication))
        #expect(String(decoding: password, as: UTF8.self) == "A3MOenQZcVOU3AJfElbbFgWqa24=")
    }
}

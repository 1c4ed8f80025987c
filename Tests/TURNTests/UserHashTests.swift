import STUN
import TURN
import Testing
import Wire

@Suite("USERHASH")
struct UserHashTests {
    private func offering(_ harness: RelayHarness) throws -> String {
        let client = TestClient(port: 9)
        let response = try Response(harness.receive(client.request(.allocate, harness, signed: false), on: client.flow))
        return String(decoding: try #require(response.nonce).prefix(13), as: UTF8.self)
    }

    @Test("is offered in a realm of static users only")
    func offered() throws {
        let harness = try RelayHarness()
        #expect(try offering(harness) == "obMatJos2AAAB")
        harness.engine.credentials.secrets = []
        #expect(try offering(harness) == "obMatJos2AAAD")
        harness.engine.credentials.users = [:]
        #expect(try offering(harness) == "obMatJos2AAAB")
    }

    @Test("names a static user, offered or not", arguments: [true, false])
    func named(isOffered: Bool) throws {
        let harness = try RelayHarness()
        if isOffered { harness.engine.credentials.secrets = [] }
        var client = TestClient()
        client.isAnonymous = true
        client.algorithm = .sha256
        client.integrity = .sha256
        #expect(try client.allocate(harness).isSuccess)
        #expect(harness.charged["alice"] == 1)
        #expect(try client.permit(harness, RelayHarness.peer).isSuccess)
        #expect(try client.refresh(harness, lifetime: 600).isSigned(by: client, .sha256, harness))
        // The same user by name is the same user.
        client.isAnonymous = false
        #expect(try client.refresh(harness, lifetime: 600).isSuccess)
        var bob = TestClient(username: "bob", password: "builder")
        bob.isAnonymous = true
        bob.nonce = client.nonce
        #expect(try bob.refresh(harness, lifetime: 600).error == 441)
    }

    @Test("of nobody, of another realm, of a wrong size or of an ephemeral name is unknown")
    func unknown() throws {
        let harness = try RelayHarness()
        var client = TestClient(username: "mallory")
        client.isAnonymous = true
        #expect(try client.allocate(harness).error == 401)
        client = TestClient(port: 2, password: "wrong")
        client.isAnonymous = true
        #expect(try client.allocate(harness).error == 401)
        let name = EphemeralCredential.username(user: "U1", call: nil, expiresAt: RelayHarness.unixSeconds + 60)
        let password = try #require(
            EphemeralCredential.password(of: name, secret: "first secret", harness.authentication))
        client = TestClient(port: 3, username: name, password: String(decoding: password, as: UTF8.self))
        client.isAnonymous = true
        #expect(try client.allocate(harness).error == 401)
        client.isAnonymous = false
        #expect(try client.allocate(harness).isSuccess)
        for count in [0, 31, 33] {
            var writer = MessageWriter()
            writer.begin(MessageType(.request, .allocate), TestClient.nextTransaction())
            writer.append(.userHash, bytes: [UInt8](repeating: 1, count: count))
            writer.append(.realm, text: "test")
            writer.append(.nonce, bytes: client.nonce)
            let key = client.key(harness)
            let isSigned = writer.appendIntegrity(.sha1, key: key.span.bytes, harness.authentication)
            #expect(isSigned)
            #expect(try Response(harness.receive(writer.bytes, on: client.flow)).error == 401)
        }
        #expect(harness.liveAllocations == 1)
    }

    @Test("users that come later are found by it too")
    func changed() throws {
        let harness = try RelayHarness()
        var client = TestClient(username: "carol", password: "new")
        client.isAnonymous = true
        #expect(try client.allocate(harness).error == 401)
        harness.engine.credentials.users["carol"] = "new"
        #expect(try client.allocate(harness).isSuccess)
    }

    @Test("a nonce whose feature bits were changed on the way is no nonce")
    func biddingDown() throws {
        let harness = try RelayHarness()
        harness.engine.credentials.secrets = []
        var client = TestClient()
        try client.fetchNonce(harness)
        for bits in ["AAAA", "AAAB", "AAAC"] {
            var tampered = client
            tampered.nonce = Array("obMatJos2\(bits)".utf8) + client.nonce.dropFirst(13)
            #expect(try tampered.allocate(harness).error == 438)
        }
        #expect(try client.allocate(harness).isSuccess)
    }
}

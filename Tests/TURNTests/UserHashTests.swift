import STUN
import TURN
import Testing
import Wire

@Suite("USERHASH")
struct UserHashTests {
    private func offering(_ lab: Lab) throws -> String {
        let client = LabClient(port: 9)
        let answer = try Answer(lab.receive(client.request(.allocate, lab, signed: false), on: client.flow))
        return String(decoding: try #require(answer.nonce).prefix(13), as: UTF8.self)
    }

    @Test("is offered in a realm of static users only")
    func offered() throws {
        let lab = try Lab()
        #expect(try offering(lab) == "obMatJos2AAAB")
        lab.engine.credentials.secrets = []
        #expect(try offering(lab) == "obMatJos2AAAD")
        lab.engine.credentials.users = [:]
        #expect(try offering(lab) == "obMatJos2AAAB")
    }

    @Test("names a static user, offered or not", arguments: [true, false])
    func named(isOffered: Bool) throws {
        let lab = try Lab()
        if isOffered { lab.engine.credentials.secrets = [] }
        var client = LabClient()
        client.isAnonymous = true
        client.algorithm = .sha256
        client.integrity = .sha256
        #expect(try client.allocate(lab).isSuccess)
        #expect(lab.charged["alice"] == 1)
        #expect(try client.permit(lab, Lab.peer).isSuccess)
        #expect(try client.refresh(lab, lifetime: 600).isSigned(by: client, .sha256, lab))
        // The same user by name is the same user.
        client.isAnonymous = false
        #expect(try client.refresh(lab, lifetime: 600).isSuccess)
        var bob = LabClient(username: "bob", password: "builder")
        bob.isAnonymous = true
        bob.nonce = client.nonce
        #expect(try bob.refresh(lab, lifetime: 600).error == 441)
    }

    @Test("of nobody, of another realm, of a wrong size or of an ephemeral name is unknown")
    func unknown() throws {
        let lab = try Lab()
        var client = LabClient(username: "mallory")
        client.isAnonymous = true
        #expect(try client.allocate(lab).error == 401)
        client = LabClient(port: 2, password: "wrong")
        client.isAnonymous = true
        #expect(try client.allocate(lab).error == 401)
        let name = EphemeralCredential.username(user: "U1", call: nil, expiresAt: Lab.unixSeconds + 60)
        let password = try #require(EphemeralCredential.password(of: name, secret: "first secret", lab.authentication))
        client = LabClient(port: 3, username: name, password: String(decoding: password, as: UTF8.self))
        client.isAnonymous = true
        #expect(try client.allocate(lab).error == 401)
        client.isAnonymous = false
        #expect(try client.allocate(lab).isSuccess)
        for count in [0, 31, 33] {
            var writer = MessageWriter()
            writer.begin(MessageType(.request, .allocate), LabClient.nextTransaction())
            writer.append(.userHash, bytes: [UInt8](repeating: 1, count: count))
            writer.append(.realm, text: "test")
            writer.append(.nonce, bytes: client.nonce)
            let key = client.key(lab)
            let isSigned = writer.appendIntegrity(.sha1, key: key.span.bytes, lab.authentication)
            #expect(isSigned)
            #expect(try Answer(lab.receive(writer.bytes, on: client.flow)).error == 401)
        }
        #expect(lab.liveAllocations == 1)
    }

    @Test("users that come later are found by it too")
    func changed() throws {
        let lab = try Lab()
        var client = LabClient(username: "carol", password: "new")
        client.isAnonymous = true
        #expect(try client.allocate(lab).error == 401)
        lab.engine.credentials.users["carol"] = "new"
        #expect(try client.allocate(lab).isSuccess)
    }

    @Test("a nonce whose feature bits were changed on the way is no nonce")
    func biddingDown() throws {
        let lab = try Lab()
        lab.engine.credentials.secrets = []
        var client = LabClient()
        try client.learnNonce(lab)
        for bits in ["AAAA", "AAAB", "AAAC"] {
            var tampered = client
            tampered.nonce = Array("obMatJos2\(bits)".utf8) + client.nonce.dropFirst(13)
            #expect(try tampered.allocate(lab).error == 438)
        }
        #expect(try client.allocate(lab).isSuccess)
    }
}

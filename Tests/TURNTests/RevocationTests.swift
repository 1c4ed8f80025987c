import OpenSSLCrypto
import STUN
import TURN
import Testing
import Wire

@Suite("Revoked users and calls")
struct RevocationTests {
    private let lifetime: Int64 = 600

    private func client(_ lab: Lab, _ user: String, call: String? = nil, port: UInt16, expiresIn: Int64) throws
        -> LabClient
    {
        let name = EphemeralCredential.username(user: user, call: call, expiresAt: Lab.unixSeconds + expiresIn)
        let password = try #require(EphemeralCredential.password(of: name, secret: "first secret", lab.authentication))
        return LabClient(port: port, username: name, password: String(decoding: password, as: UTF8.self))
    }

    private func revoke(_ lab: Lab, _ name: RevokedName, at unixSeconds: Int64 = Lab.unixSeconds) {
        var recorder = Recorder()
        lab.engine.revoke(name, voidingUntil: unixSeconds + lifetime, into: &recorder)
    }

    @Test("a credential that was given out before is void, one given out afterwards is good")
    func user() throws {
        let lab = try Lab()
        revoke(lab, .user("carol"))
        var before = try client(lab, "carol", call: "one", port: 1, expiresIn: lifetime)
        #expect(try before.allocate(lab).error == 403)
        var other = try client(lab, "dave", port: 2, expiresIn: lifetime)
        #expect(try other.allocate(lab).isSuccess)
        var after = try client(lab, "carol", port: 3, expiresIn: lifetime + 1)
        #expect(try after.allocate(lab).isSuccess)
    }

    @Test("of a call only that call's")
    func call() throws {
        let lab = try Lab()
        var running = try client(lab, "carol", call: "one", port: 1, expiresIn: lifetime)
        #expect(try running.allocate(lab).isSuccess)
        revoke(lab, .call("one"))
        #expect(try running.refresh(lab, lifetime: nil).error == 437)
        #expect(try running.allocate(lab).error == 403)
        var second = try client(lab, "carol", call: "two", port: 2, expiresIn: lifetime)
        #expect(try second.allocate(lab).isSuccess)
        var without = try client(lab, "carol", port: 3, expiresIn: lifetime)
        #expect(try without.allocate(lab).isSuccess)
    }

    @Test("a static user of that name may come back: it is the operator's to remove")
    func staticUser() throws {
        let lab = try Lab()
        var alice = LabClient()
        #expect(try alice.allocate(lab).isSuccess)
        revoke(lab, .user("alice"))
        #expect(try alice.refresh(lab, lifetime: nil).error == 437)
        #expect(try alice.allocate(lab).isSuccess)
    }
}

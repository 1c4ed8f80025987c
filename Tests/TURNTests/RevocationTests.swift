import OpenSSLCrypto
import STUN
import TURN
import Testing
import Wire

@Suite("Revoked users and calls")
struct RevocationTests {
    private let lifetime: Int64 = 600

    private func client(_ harness: RelayHarness, _ user: String, call: String? = nil, port: UInt16, expiresIn: Int64)
        throws
        -> TestClient
    {
        let name = EphemeralCredential.username(user: user, call: call, expiresAt: RelayHarness.unixSeconds + expiresIn)
        let password = try #require(
            EphemeralCredential.password(of: name, secret: "first secret", harness.authentication))
        return TestClient(port: port, username: name, password: String(decoding: password, as: UTF8.self))
    }

    private func revoke(_ harness: RelayHarness, _ name: RevokedName, at unixSeconds: Int64 = RelayHarness.unixSeconds)
    {
        var recorder = Recorder()
        harness.engine.revoke(name, voidingUntil: unixSeconds + lifetime, into: &recorder)
    }

    @Test("a credential that was given out before is void, one given out afterwards is good")
    func user() throws {
        let harness = try RelayHarness()
        revoke(harness, .user("carol"))
        var before = try client(harness, "carol", call: "one", port: 1, expiresIn: lifetime)
        #expect(try before.allocate(harness).error == 403)
        var other = try client(harness, "dave", port: 2, expiresIn: lifetime)
        #expect(try other.allocate(harness).isSuccess)
        var after = try client(harness, "carol", port: 3, expiresIn: lifetime + 1)
        #expect(try after.allocate(harness).isSuccess)
    }

    @Test("of a call only that call's")
    func call() throws {
        let harness = try RelayHarness()
        var running = try client(harness, "carol", call: "one", port: 1, expiresIn: lifetime)
        #expect(try running.allocate(harness).isSuccess)
        revoke(harness, .call("one"))
        #expect(try running.refresh(harness, lifetime: nil).error == 437)
        #expect(try running.allocate(harness).error == 403)
        var second = try client(harness, "carol", call: "two", port: 2, expiresIn: lifetime)
        #expect(try second.allocate(harness).isSuccess)
        var without = try client(harness, "carol", port: 3, expiresIn: lifetime)
        #expect(try without.allocate(harness).isSuccess)
    }

    @Test("a static user of that name may come back: it is the operator's to remove")
    func staticUser() throws {
        let harness = try RelayHarness()
        var alice = TestClient()
        #expect(try alice.allocate(harness).isSuccess)
        revoke(harness, .user("alice"))
        #expect(try alice.refresh(harness, lifetime: nil).error == 437)
        #expect(try alice.allocate(harness).isSuccess)
    }
}

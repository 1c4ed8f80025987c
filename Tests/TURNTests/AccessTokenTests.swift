import OpenSSLCrypto
import STUN
import TURN
import TestSupport
import Testing
import Wire

/// Tokens sealed by another implementation (Python's cryptography) for the realm "test", made at the harness's start
/// but for `second`, which was made 500 seconds later; each lives for 1000 seconds.
@Suite("Access tokens of RFC 7635")
struct AccessTokenTests {
    private static let first = hex(
        "000c6465666768696a6b6c6d6e6f480faa0e1cc925fb4d113687b44501983be2696cab5df372cc987e48fba3a5489701"
            + "5638c7a74adeeb98736b25a72a10d52e")
    private static let second = hex(
        "000c32333435363738393a3b3c3dc64f9ba8a01cf2861e7483e935cd949d1f9374e7a97fa7ebba53d86cb7339b7220e8"
            + "3484db0659eaf265fe5956942a947d72")
    private static let short = hex(
        "000c6465666768696a6b6c6d6e6f1a763acdbe22cb9fe84d3e7fe8ea408949a81799b29bdd5a9f266397bcf2f7f3b914"
            + "1d4890476e6bf68815f05bcfa62de515")
    private static let longKey = hex(
        "000c6465666768696a6b6c6d6e6f483bbf460a8c25ed570d31c8b10013dd2da4267ee3058106defcd83f9483c731e08c"
            + "40c0275b4904fdf3783ffeaaddbfba383060014586a508a42bbe8dbc")
    private static let otherName = hex(
        "000c6465666768696a6b6c6d6e6f480faa0e1cc925fb4d113687b44501983be2696cab5df372cc987e48fba3a5489701"
            + "11185e37ef100875ced0656fe64cf919")
    private static let emptyKey = hex(
        "000c6465666768696a6b6c6d6e6f481bde6612a0849e3e625fe8d98d0c6d3f2be9b0b9f25634d6c4b6991424")
    private static let longNonce = hex(
        "0040000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d"
            + "2e2f303132333435363738393a3b3c3d3e3f2c0f50707701b2bc8c210a8088b4a352fbe92c378d373d66d0f3f42520"
            + "fab29f3ff6c3c5692e63866c93d69086efdd356465")
    private static let firstKey = Array("the session key of 1".utf8)
    private static let secondKey = Array("the session key of 2".utf8)
    private static let thirdKey = Array("a session key of thirty-two byte".utf8)

    private func serving() throws -> RelayHarness {
        let harness = try RelayHarness()
        harness.engine.credentials.tokenKeys = ["long": Array(0..<32), "short": Array(0..<16)]
        let decryption: OpenSSLDecryption = try #require(OpenSSLDecryption())
        harness.engine.decryption = decryption
        return harness
    }

    private func holder(_ token: [UInt8], _ key: [UInt8], kid: String = "long", port: UInt16 = 1000) -> TestClient {
        var client = TestClient(port: port, username: kid)
        client.token = token
        client.macKey = key
        return client
    }

    @Test("are asked for where keys are configured, in the realm's name")
    func challenge() throws {
        func offer(_ harness: RelayHarness) throws -> String? {
            let client = TestClient()
            let response = try Response(
                harness.receive(client.request(.allocate, harness, signed: false), on: client.flow))
            return try Message(response.bytes.span.bytes).text(.thirdPartyAuthorization)
        }
        #expect(try offer(serving()) == "test")
        #expect(try offer(RelayHarness()) == nil)
    }

    @Test(
        "allocate, with keys and nonces of every size, and their key signs both ways",
        arguments: [(first, firstKey, "long"), (longNonce, firstKey, "long"), (short, secondKey, "short")])
    func good(token: [UInt8], key: [UInt8], kid: String) throws {
        let harness = try serving()
        var client = holder(token, key, kid: kid)
        let response = try client.allocate(harness)
        #expect(response.isSuccess)
        #expect(response.lifetime == 600)
        #expect(response.isSigned(by: client, .sha1, harness))
        // What follows needs the key alone.
        client.token = nil
        #expect(try client.permit(harness, RelayHarness.peer).isSuccess)
        #expect(try client.refresh(harness, lifetime: 600).isSigned(by: client, .sha1, harness))
        var intruder = client
        intruder.macKey = Self.thirdKey
        #expect(try intruder.refresh(harness, lifetime: 0).error == 401)
    }

    @Test("a key of 32 bytes signs with SHA-256 too")
    func sha256() throws {
        let harness = try serving()
        var client = holder(Self.longKey, Self.thirdKey)
        client.integrity = .sha256
        #expect(try client.allocate(harness).isSigned(by: client, .sha256, harness))
    }

    @Test("coturn's clients sign with the first 16 bytes of the key, and get responses signed the same way")
    func shortened() throws {
        let harness = try serving()
        var client = holder(Self.first, Array(Self.firstKey.prefix(16)))
        #expect(try client.allocate(harness).isSigned(by: client, .sha1, harness))
        client.token = nil
        #expect(try client.permit(harness, RelayHarness.peer).isSigned(by: client, .sha1, harness))
        var other = holder(Self.first, Array(Self.firstKey.prefix(15)), port: 2)
        #expect(try other.allocate(harness).error == 401)
    }

    @Test("no bit of a token can be turned, and no end cut off")
    func brokenVariants() throws {
        let harness = try serving()
        var client = holder(Self.first, Self.firstKey)
        try client.fetchNonce(harness)
        for bit in 0..<Self.first.count * 8 {
            client.token = Self.first.flippingBit(bit)
            #expect(try client.allocate(harness).error == 401, "bit \(bit)")
        }
        for count in 0..<Self.first.count {
            client.token = Array(Self.first.prefix(count))
            #expect(try client.allocate(harness).error == 401, "\(count) bytes")
        }
        #expect(harness.engine.allocationCount == 0)
        client.token = Self.first
        #expect(try client.allocate(harness).isSuccess)
    }

    @Test(
        "of another key, another relay, with no key in them, or signed by another key, are not good",
        arguments: [
            (first, firstKey, "short"), (first, firstKey, "nobody"), (otherName, firstKey, "long"),
            (emptyKey, [], "long"), (first, secondKey, "long"),
        ] as [([UInt8], [UInt8], String)])
    func wrong(token: [UInt8], key: [UInt8], kid: String) throws {
        let harness = try serving()
        var client = holder(token, key, kid: kid)
        #expect(try client.allocate(harness).error == 401)
        #expect(harness.engine.allocationCount == 0)
    }

    @Test("no allocation outlives its token, and a new token carries it on")
    func lifetime() throws {
        let harness = try serving()
        var client = holder(Self.first, Self.firstKey)
        #expect(try client.allocate(harness) { $0.append(.lifetime, integer: UInt32(3600)) }.lifetime == 1000)
        harness.advance(seconds: 400)
        #expect(try client.refresh(harness, lifetime: 3600).lifetime == 600)
        client.token = nil
        #expect(try client.refresh(harness, lifetime: 3600).lifetime == 600)
        harness.advance(seconds: 100)
        var renewed = holder(Self.second, Self.secondKey)
        renewed.nonce = client.nonce
        #expect(try renewed.refresh(harness, lifetime: 3600).lifetime == 1000)
        // The new key is the allocation's from now on.
        #expect(try client.refresh(harness, lifetime: 600).error == 401)
        renewed.token = nil
        #expect(try renewed.permit(harness, RelayHarness.peer).isSuccess)
        harness.advance(seconds: 1000)
        #expect(harness.liveAllocations == 0)
    }

    @Test("expire with a little grace for the clocks")
    func expiry() throws {
        let harness = try serving()
        harness.advance(seconds: 1004)
        var client = holder(Self.first, Self.firstKey)
        #expect(try client.allocate(harness).lifetime == 1)
        harness.advance(seconds: 1)
        var late = holder(Self.first, Self.firstKey, port: 2)
        #expect(try late.allocate(harness).error == 401)
    }

    @Test("are charged each for itself, and take no allocation of a user")
    func charges() throws {
        let harness = try serving()
        harness.quota = 1
        var one = holder(Self.first, Self.firstKey, port: 1)
        var again = holder(Self.first, Self.firstKey, port: 2)
        var other = holder(Self.short, Self.secondKey, kid: "short", port: 3)
        #expect(try one.allocate(harness).isSuccess)
        #expect(try again.allocate(harness).error == 486)
        #expect(try other.allocate(harness).isSuccess)

        var alice = TestClient(port: 4)
        _ = try alice.allocate(harness)
        var thief = holder(Self.first, Self.firstKey, port: 4)
        thief.nonce = alice.nonce
        #expect(try thief.refresh(harness, lifetime: 0).error == 441)
        var user = TestClient(port: 1)
        user.nonce = one.nonce
        #expect(try user.refresh(harness, lifetime: 0).error == 441)
    }

    @Test("mean nothing where none are configured")
    func notConfigured() throws {
        let harness = try RelayHarness()
        var client = holder(Self.first, Self.firstKey)
        #expect(try client.allocate(harness).error == 401)
        var alice = TestClient(port: 2)
        alice.token = Self.first
        #expect(try alice.allocate(harness).isSuccess)
    }
}

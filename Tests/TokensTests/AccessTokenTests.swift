import AsyncHTTPClient
import Crypto
import Foundation
import Model
import TestSupport
import Testing
import Tokens

extension ManualClock<Timestamp> {
    /// Monotonic time, in milliseconds.
    var uptime: Int64 { now.milliseconds }
}

@Suite struct AccessTokenTests {
    let time = ManualClock<Timestamp>()
    let user: UserID
    let signIn: SignInID

    init() {
        user = .make(at: time.now)
        signIn = .make(at: time.now)
    }

    func verifier(_ tokens: AccessTokens) -> TokenVerifier {
        TokenVerifier(
            own: tokens, external: ExternalIssuers([], client: .shared, uptime: { [time] in time.uptime }),
            user: { _ in throw Problem(.forbidden, "nobody") }, clock: { [time] in time.now })
    }

    @Test func aTokenSpeaksForItsUserUntilItExpires() async throws {
        let tokens = AccessTokens(key: .ephemeral())
        let verifier = verifier(tokens)
        let token = try tokens.issue(user: user, signIn: signIn, at: time.now)
        let verified = try await verifier.verify(token)
        #expect((verified.principal.user, verified.principal.signIn) == (user, signIn))
        #expect(verified.expiresAt == time.now.adding(seconds: 900))
        #expect(try await verifier.verify(token) == verified)
        time.advance(seconds: 899)
        #expect(try await verifier.verify(token) == verified)
        time.advance(seconds: 1)
        for _ in 0..<2 {
            let problem = await #expect(throws: Problem.self) { _ = try await verifier.verify(token) }
            #expect(problem?.kind == .unauthenticated)
        }
    }

    @Test func tokensThatRanOutAreForgotten() async throws {
        let tokens = AccessTokens(key: .ephemeral())
        let verifier = verifier(tokens)
        let early = try tokens.issue(user: user, signIn: signIn, at: time.now)
        _ = try await verifier.verify(early)
        time.advance(seconds: 450)
        let late = try tokens.issue(user: user, signIn: signIn, at: time.now)
        _ = try await verifier.verify(late)
        #expect(verifier.knownCount == 2)
        time.advance(seconds: 450)
        verifier.forgetExpired()
        #expect(verifier.knownCount == 1)
        _ = try await verifier.verify(late)
        let problem = await #expect(throws: Problem.self) { _ = try await verifier.verify(early) }
        #expect(problem?.kind == .unauthenticated)
        #expect(verifier.knownCount == 1)
    }

    @Test func aRevokedSessionStopsAtOnce() async throws {
        let tokens = AccessTokens(key: .ephemeral())
        let verifier = verifier(tokens)
        let token = try tokens.issue(user: user, signIn: signIn, at: time.now)
        let other = try tokens.issue(user: user, signIn: .make(at: time.now), at: time.now)
        _ = try await verifier.verify(token)
        tokens.revoke([signIn], at: time.now)
        for _ in 0..<2 {
            let problem = await #expect(throws: Problem.self) { _ = try await verifier.verify(token) }
            #expect(problem?.detail.contains("ended") == true)
        }
        #expect(try await verifier.verify(other).principal.user == user)
    }

    @Test func revocationsAreForgottenWithTheirTokens() {
        let tokens = AccessTokens(key: .ephemeral())
        let ids = (0..<1100).map { _ in SignInID.make(at: time.now) }
        tokens.revoke(Array(ids.prefix(1000)), at: time.now)
        time.advance(seconds: 2000)
        tokens.revoke(Array(ids.suffix(100)), at: time.now)
        #expect(!tokens.isRevoked(ids[0]))
        #expect(tokens.isRevoked(ids[1099]))
    }

    @Test func whatWasTamperedWithIsRefused() async throws {
        let tokens = AccessTokens(key: .ephemeral())
        let verifier = verifier(tokens)
        let token = try tokens.issue(user: user, signIn: signIn, at: time.now)
        let parts = token.split(separator: ".").map(String.init)
        func encode(_ text: String) -> String { ExternalSigner.base64(Data(text.utf8)) }
        let none = encode("{\"alg\":\"none\",\"kid\":\"\(tokens.keyIdentifier)\"}") + "." + parts[1] + "."
        let hmac = encode("{\"alg\":\"HS256\",\"kid\":\"\(tokens.keyIdentifier)\"}") + "." + parts[1] + "." + parts[2]
        let crit =
            encode("{\"alg\":\"ES256\",\"crit\":[\"b64\"],\"kid\":\"\(tokens.keyIdentifier)\"}") + "." + parts[1] + "."
            + parts[2]
        let foreign = try AccessTokens(key: .ephemeral()).issue(user: user, signIn: signIn, at: time.now)
        let issuer = try AccessTokens(key: .ephemeral(), issuer: "else").issue(user: user, signIn: signIn, at: time.now)
        let bad = [
            "", ".", "..", "a.b.c", token + "x", String(token.dropLast()), none, hmac, crit, foreign, issuer,
            parts[0] + "." + encode("{\"sub\":\"\(user)\"}") + "." + parts[2], String(repeating: "a", count: 100_000),
            parts[0] + "." + parts[1] + "." + parts[2] + ".x",
        ]
        for text in bad {
            let problem = await #expect(throws: Problem.self, "\(text.prefix(40))") {
                _ = try await verifier.verify(text)
            }
            #expect(problem?.kind == .unauthenticated)
        }
    }

    @Test func theKeySetVerifiesTokens() async throws {
        struct KeySet: Decodable { let keys: [[String: String]] }
        let tokens = AccessTokens(key: .ephemeral(), issuer: "https://calls.example")
        let key = try #require(try JSONDecoder().decode(KeySet.self, from: Data(tokens.keySet.utf8)).keys.first)
        #expect(key["kty"] == "EC" && key["crv"] == "P-256" && key["kid"] == tokens.keyIdentifier)
        func bytes(_ text: String) throws -> Data {
            let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            return try #require(
                Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)))
        }
        let raw = try bytes(key["x"] ?? "") + bytes(key["y"] ?? "")
        let publicKey = try P256.Signing.PublicKey(rawRepresentation: raw)
        let parts = try tokens.issue(user: user, signIn: signIn, at: time.now).split(separator: ".").map(String.init)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: try bytes(parts[2]))
        #expect(publicKey.isValidSignature(signature, for: Data((parts[0] + "." + parts[1]).utf8)))
        let claims = try JSONSerialization.jsonObject(with: try bytes(parts[1])) as? [String: Any]
        #expect(claims?["iss"] as? String == "https://calls.example")
        #expect(claims?["sub"] as? String == user.text)
    }

    @Test func theKeyFileIsMadeOnceAndIsPrivate() throws {
        let directory = try ScratchDirectory()
        let path = directory.file("signing-key.pem")
        let first = try SigningKey.load(from: path)
        #expect(first.warning == nil)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let second = try SigningKey.load(from: path)
        #expect(second.key.identifier == first.key.identifier && second.warning == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(try SigningKey.load(from: path).warning?.contains(path) == true)
        try "no key".write(toFile: path, atomically: true, encoding: .utf8)
        let damaged = #expect(throws: KeyFileError.self) { _ = try SigningKey.load(from: path) }
        #expect(damaged?.description.contains(path) == true)
        let missing = #expect(throws: KeyFileError.self) {
            _ = try SigningKey.load(from: directory.file("none/signing-key.pem"))
        }
        #expect(missing?.description.contains("none/signing-key.pem") == true)
    }
}

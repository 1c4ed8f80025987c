import Crypto
import Foundation
import Model
import TestSupport
import Testing

@testable import Tokens

@Suite struct VAPIDKeyTests {
    private struct Claims: Decodable, Equatable {
        var aud: String
        var exp: Int64
        var sub: String?
    }

    private let now = Timestamp(milliseconds: 1_800_000_000_500)
    private let origin = "https://push.example.net"

    /// What a push service does (RFC 8292 section 4.2).
    private func verify(_ authorization: String) throws -> (claims: Claims, publicKey: [UInt8]) {
        let parts = try #require(authorization.wholeMatch(of: /vapid t=([\w.-]+), k=([\w-]+)/))
        let publicKey = try #require(Base64URL.decode(parts.2))
        let token = try #require(SignedToken(String(parts.1)))
        #expect(token.header.alg == "ES256")
        let key = try P256.Signing.PublicKey(x963Representation: publicKey)
        #expect(
            key.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: token.signature), for: token.signed)
        )
        return (try #require(token.claims(as: Claims.self)), publicKey)
    }

    @Test func aPushServiceCanVerifyTheToken() throws {
        let key = VAPIDKey.ephemeral(subject: "mailto:ops@example.org")
        let (claims, publicKey) = try verify(key.authorization(for: origin, at: now))
        #expect(claims == Claims(aud: origin, exp: 1_800_000_000 + 12 * 3600, sub: "mailto:ops@example.org"))
        #expect(publicKey == key.publicKey && publicKey.count == 65 && publicKey.first == 4)
        #expect(try verify(VAPIDKey.ephemeral().authorization(for: origin, at: now)).claims.sub == nil)
    }

    @Test func aTokenIsUsedUntilAnHourBeforeItsEnd() throws {
        let key = VAPIDKey.ephemeral()
        let first = try key.authorization(for: origin, at: now)
        let other = try key.authorization(for: "https://other.example.net", at: now)
        #expect(try verify(other).claims.aud == "https://other.example.net")
        #expect(try key.authorization(for: origin, at: now.adding(seconds: 11 * 3600 - 1)) == first)
        let later = now.adding(seconds: 11 * 3600)
        let second = try key.authorization(for: origin, at: later)
        #expect(try verify(second).claims.exp == 1_800_000_000 + 23 * 3600)
        #expect(try key.authorization(for: origin, at: later) == second)
        // Push services would see that the second one lives for more than a day.
        let third = try key.authorization(for: origin, at: now.adding(seconds: -24 * 3600))
        #expect(try verify(third).claims.exp == 1_800_000_000 - 12 * 3600)
    }

    @Test func fewTokensAreKept() throws {
        let key = VAPIDKey.ephemeral()
        let first = try key.authorization(for: origin, at: now)
        for index in 0..<VAPIDKey.maxAudiences { _ = try key.authorization(for: "https://\(index).example", at: now) }
        #expect(try key.authorization(for: origin, at: now) != first)
    }

    @Test func theKeyFileIsMadeOnceAndIsPrivate() throws {
        let path = try ScratchDirectory().file("vapid-key.pem")
        let first = try VAPIDKey.load(from: path, subject: nil)
        #expect(first.warning == nil)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try VAPIDKey.load(from: path, subject: nil).key.publicKey == first.key.publicKey)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        #expect(try VAPIDKey.load(from: path, subject: nil).warning?.contains("chmod 600 \(path)") == true)
        try "no key".write(toFile: path, atomically: true, encoding: .utf8)
        let damaged = #expect(throws: KeyFileError.self) { _ = try VAPIDKey.load(from: path, subject: nil) }
        #expect(damaged?.description.contains(path) == true)
    }
}

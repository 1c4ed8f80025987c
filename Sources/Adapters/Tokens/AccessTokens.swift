internal import Accounts
internal import Crypto
internal import Foundation
package import Model
internal import Synchronization

/// A verified token: its principal and when it expires.
package struct VerifiedToken: Hashable, Sendable {
    package var principal: Principal
    package var expiresAt: Timestamp

    package init(principal: Principal, expiresAt: Timestamp) {
        self.principal = principal
        self.expiresAt = expiresAt
    }
}

/// This server's own access tokens: JWTs signed with ES256 that live for minutes and are not stored.
///
/// Verification looks up nothing, so a sign-in that has ended is kept in memory until its last token has expired; its
/// tokens are rejected from that moment on.
package final class AccessTokens: AccessTokenIssuer {
    private struct Claims: Decodable {
        let iss: String
        let sub: String
        let sid: String
        let iat: Int64
        let exp: Int64
    }

    package let lifetime: Int
    private let key: SigningKey
    private let issuer: String
    private let header: String
    /// Sign-ins that have ended, and when their last token expires.
    private let revoked = Mutex<Revocations>(Revocations())

    private struct Revocations {
        var expiries: [SignInID: Timestamp] = [:]
        /// The size at which expired entries are removed next.
        var sweepAt = 1024
    }

    /// - Parameters:
    ///   - issuer: the `iss` of the tokens.
    ///   - lifetime: the lifetime of a token in seconds.
    package init(key: SigningKey, issuer: String = "switchboard", lifetime: Int = 900) {
        self.key = key
        self.issuer = issuer
        self.lifetime = lifetime
        var writer = JSONWriter(capacity: 128)
        writer.object { writer in
            writer.member("alg", "ES256")
            writer.member("typ", "JWT")
            writer.member("kid", key.identifier)
        }
        header = Base64URL.encode(writer.bytes)
    }

    /// The public key, for `/.well-known/jwks.json`.
    package var keySet: String { key.keySet }
    package var keyIdentifier: String { key.identifier }

    package func issue(user: UserID, signIn: SignInID, actor: String? = nil, at now: Timestamp) throws -> String {
        let seconds = now.milliseconds / 1000
        var claims = JSONWriter(capacity: 256)
        claims.object { claims in
            claims.member("iss", issuer)
            claims.member("sub", user)
            claims.member("sid", signIn)
            claims.member("iat", seconds)
            claims.member("exp", seconds &+ Int64(lifetime))
            if let actor {
                // RFC 8693 section 4.1.
                claims.name("act")
                claims.object { $0.member("sub", actor) }
            }
        }
        let signed = header + "." + Base64URL.encode(claims.bytes)
        let signature = try key.key.signature(for: Array(signed.utf8))
        return signed + "." + Base64URL.encode(signature.rawRepresentation)
    }

    package func revoke(_ signIns: [SignInID], at now: Timestamp) {
        // A minute more than a token's lifetime, in case the wall clock is set back a little.
        let forgottenAt = now.adding(seconds: Int64(lifetime) + 60)
        revoked.withLock { revoked in
            for signIn in signIns { revoked.expiries[signIn] = forgottenAt }
            guard revoked.expiries.count >= revoked.sweepAt else { return }
            revoked.expiries = revoked.expiries.filter { $0.value > now }
            revoked.sweepAt = max(1024, revoked.expiries.count * 2)
        }
    }

    package func isRevoked(_ signIn: SignInID) -> Bool { revoked.withLock { $0.expiries[signIn] != nil } }

    /// Checks the signature, the issuer, the time, and that the sign-in has not ended.
    func verify(_ token: SignedToken, at now: Timestamp) throws -> VerifiedToken {
        guard token.header.alg == "ES256", token.header.kid == key.identifier,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
            key.key.publicKey.isValidSignature(signature, for: token.signed),
            let claims = token.claims(as: Claims.self), claims.iss == issuer, let user = UserID(claims.sub),
            let signIn = SignInID(claims.sid)
        else { throw TokenVerifier.invalid }
        let verified = VerifiedToken(
            principal: Principal(
                user: user, signIn: signIn, tokenIssuedAt: Timestamp(milliseconds: 0).adding(seconds: claims.iat)),
            expiresAt: Timestamp(milliseconds: 0).adding(seconds: claims.exp))
        try check(verified, at: now)
        return verified
    }

    /// Checks what may have changed since the token was verified.
    func check(_ token: VerifiedToken, at now: Timestamp) throws {
        guard now < token.expiresAt else { throw TokenVerifier.expired }
        if let signIn = token.principal.signIn, isRevoked(signIn) { throw TokenVerifier.ended }
    }
}

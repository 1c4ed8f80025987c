package import Accounts
internal import Crypto
package import Model
internal import Synchronization

/// Verifies bearer tokens: this server's own, and those of the configured external issuers.
///
/// A verified token is cached by its digest, since a client sends the same one with every request and verifying a
/// signature costs more than the rest of the request. Its expiry, the end of its sign-in and, for an external identity,
/// its user are checked every time.
package final class TokenVerifier: Sendable {
    private let own: AccessTokens
    private let external: ExternalIssuers
    private let user: @Sendable (ExternalIdentity) async throws -> UserID
    private let clock: @Sendable () -> Timestamp
    private let verified = Mutex(RecentMap<SHA256Digest, Known>(capacity: 50_000))

    private struct Known: Sendable {
        var token: VerifiedToken
        /// The external identity; nil for this server's own tokens.
        var identity: ExternalIdentity?
    }

    /// - Parameter user: finds or creates the user of an external identity, or throws if the user is not allowed. It is
    ///   called for every request of such users, so it should cache.
    package init(
        own: AccessTokens, external: ExternalIssuers,
        user: @escaping @Sendable (ExternalIdentity) async throws -> UserID,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.own = own
        self.external = external
        self.user = user
        self.clock = clock
    }

    /// Throws a `Problem`: `unauthenticated` if the token is not valid, or no longer.
    package func verify(_ token: String) async throws -> VerifiedToken {
        guard token.utf8.count <= SignedToken.maxLength else { throw Self.invalid }
        let now = clock()
        let digest = SHA256.hash(data: Array(token.utf8))
        if let known = verified.withLock({ $0[digest] }) {
            do {
                try own.check(known.token, at: now)
                if let identity = known.identity { _ = try await user(identity) }
                return known.token
            } catch {
                verified.withLock { $0[digest] = nil }
                throw error
            }
        }
        guard let parts = SignedToken(token) else { throw Self.invalid }
        let result: Known
        if parts.header.kid == own.keyIdentifier {
            result = Known(token: try own.verify(parts, at: now))
        } else {
            let (identity, expiresAt) = try await external.verify(parts, at: now)
            let principal = Principal(user: try await user(identity), tokenIssuedAt: identity.issuedAt)
            result = Known(token: VerifiedToken(principal: principal, expiresAt: expiresAt), identity: identity)
        }
        verified.withLock { $0[digest] = result }
        return result.token
    }

    /// Throws if the sign-in of a principal has ended since it was verified.
    package func checkNotRevoked(_ principal: Principal) throws {
        if let signIn = principal.signIn, own.isRevoked(signIn) { throw Self.ended }
    }

    /// Removes expired tokens from the cache; call it periodically.
    package func forgetExpired() {
        let now = clock()
        verified.withLock { $0.removeAll { $1.token.expiresAt <= now } }
    }

    /// The number of cached tokens.
    package var knownCount: Int { verified.withLock { $0.count } }

    static let invalid = Problem(.unauthenticated, "The access token is not valid. Sign in again.")
    static let expired = Problem(.unauthenticated, "The access token has expired. Refresh it.")
    static let ended = Problem(.unauthenticated, "The session of this access token has ended. Sign in again.")
}

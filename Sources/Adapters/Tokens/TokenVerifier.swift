package import Accounts
internal import Crypto
package import Model
internal import Synchronization

/// Tells who a bearer token speaks for: this server's own tokens, and those of the outside issuers it is told to trust.
///
/// A verified token is remembered by its digest, since a client shows the same one with every request and a signature
/// costs more than the request's other work. Its end, the end of its sign-in and, for an outsider, whether there still is
/// a user behind it are looked at every time.
package final class TokenVerifier: Sendable {
    private let own: AccessTokens
    private let outside: OutsideIssuers
    private let user: @Sendable (OutsideIdentity) async throws -> UserID
    private let clock: @Sendable () -> Timestamp
    private let verified = Mutex(RecentMap<SHA256Digest, Known>(capacity: 50_000))

    private struct Known: Sendable {
        var token: VerifiedToken
        /// Whom an outside issuer speaks of; nil for this server's own tokens.
        var outsider: OutsideIdentity?
    }

    /// - Parameter user: finds or makes the user whom an outside issuer speaks of, or throws when they may not come in. It
    ///   is asked with every request of theirs, so it should remember.
    package init(
        own: AccessTokens, outside: OutsideIssuers, user: @escaping @Sendable (OutsideIdentity) async throws -> UserID,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.own = own
        self.outside = outside
        self.user = user
        self.clock = clock
    }

    /// Throws a `Problem`: `unauthenticated` when the token is not, or no longer, good.
    package func verify(_ token: String) async throws -> VerifiedToken {
        guard token.utf8.count <= SignedToken.longest else { throw Self.invalid }
        let now = clock()
        let digest = SHA256.hash(data: Array(token.utf8))
        if let known = verified.withLock({ $0[digest] }) {
            do {
                try own.check(known.token, at: now)
                if let outsider = known.outsider { _ = try await user(outsider) }
                return known.token
            } catch {
                verified.withLock { $0[digest] = nil }
                throw error
            }
        }
        guard let parts = SignedToken(token) else { throw Self.invalid }
        let answer: Known
        if parts.header.kid == own.keyIdentifier {
            answer = Known(token: try own.verify(parts, at: now))
        } else {
            let (identity, expiresAt) = try await outside.verify(parts, at: now)
            let principal = Principal(user: try await user(identity))
            answer = Known(token: VerifiedToken(principal: principal, expiresAt: expiresAt), outsider: identity)
        }
        verified.withLock { $0[digest] = answer }
        return answer.token
    }

    /// Throws when the sign-in of a principal that was verified before has ended since.
    package func checkNotRevoked(_ principal: Principal) throws {
        if let signIn = principal.signIn, own.isRevoked(signIn) { throw Self.ended }
    }

    /// Forgets tokens that have run out; to be called now and then.
    package func forgetExpired() {
        let now = clock()
        verified.withLock { $0.removeAll { $1.token.expiresAt <= now } }
    }

    /// How many tokens it would know again.
    package var knownCount: Int { verified.withLock { $0.count } }

    static let invalid = Problem(.unauthenticated, "The access token is not valid. Sign in again.")
    static let expired = Problem(.unauthenticated, "The access token has expired. Refresh it.")
    static let ended = Problem(.unauthenticated, "The session of this access token has ended. Sign in again.")
}

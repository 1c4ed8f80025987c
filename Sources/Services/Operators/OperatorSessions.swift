package import Accounts
package import Model
import Synchronization

/// Operators who are signed in to the operator's port. A session is opened with a server key of the scope `operator` and
/// ends with it: when the key is revoked, expires, or is not allowed from the operator's address.
///
/// Of requests that a page sends at the same time each one is refused for the same reason, whichever is first: a session
/// that ended is known for a while.
///
/// Tokens are kept as digests and in memory alone, so that neither a backup nor a restart keeps one.
package final class OperatorSessions: Sendable {
    /// Seconds.
    package static let lifetime: Int64 = 12 * 3600
    /// Of one key; another one ends the oldest. A table full of them is 100 keys' worth.
    static let maxPerKey = 16
    /// Sessions that ended with their keys and are still known; another one forgets the oldest.
    static let maxEnded = 64
    static let prefix = "sbo_"
    /// No token is longer.
    private static let maxTokenBytes = 128

    private struct Session: Sendable {
        let key: ServerKeyID
        let openedAt: Timestamp
        let number: Int
        var hasEnded = false

        func isOver(at now: Timestamp) -> Bool {
            openedAt.adding(seconds: OperatorSessions.lifetime) <= now
        }
    }

    private struct Table: Sendable {
        var sessions: [[UInt8]: Session] = [:]
        var opened = 0

        /// Removes the oldest of those that `isIncluded` names, until `limit` are left.
        mutating func keepNewest(_ limit: Int, where isIncluded: (Session) -> Bool) {
            let found = sessions.filter { isIncluded($1) }.sorted { $0.value.number < $1.value.number }
            for (digest, _) in found.dropLast(limit) { sessions[digest] = nil }
        }
    }

    package struct Opened: Sendable {
        package var token: String
        package var expiresAt: Timestamp
    }

    private let keys: ServerKeyService
    private let secrets: any SecretSource
    private let clock: @Sendable () -> Timestamp
    private let table = Mutex(Table())

    package init(
        keys: ServerKeyService, secrets: any SecretSource, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.keys = keys
        self.secrets = secrets
        self.clock = clock
    }

    /// Sessions that may be used, or may have been until they are used the next time.
    package var count: Int { table.withLock { $0.sessions.values.count { !$0.hasEnded } } }

    /// Opens a session for a key that was checked.
    package func open(by key: KeyPrincipal) -> Opened {
        let token = Self.prefix + secrets.makeSecret()
        let digest = secrets.digest(token)
        let now = clock()
        table.withLock { table in
            table.sessions = table.sessions.filter { !$1.isOver(at: now) }
            table.keepNewest(Self.maxPerKey - 1) { $0.key == key.id }
            table.opened += 1
            table.sessions[digest] = Session(key: key.id, openedAt: now, number: table.opened)
        }
        return Opened(token: token, expiresAt: now.adding(seconds: Self.lifetime))
    }

    /// The key of a session, if the session is open and the key may still be used from this address.
    package func find(_ token: String?, from address: String) throws -> KeyPrincipal {
        guard let token, token.utf8.count <= Self.maxTokenBytes else { throw Self.signInFirst }
        let digest = secrets.digest(token)
        let now = clock()
        guard let session = table.withLock({ $0.sessions[digest] }) else { throw Self.signInFirst }
        guard !session.isOver(at: now) else {
            noteEnd(of: digest)
            throw Problem(
                .unauthenticated, "This session of 12 hours is over: sign in again.", field: "Authorization")
        }
        do throws(ServerKeyRefusal) {
            return try keys.checkStillValid(session.key, scope: .operator, from: address)
        } catch {
            switch error {
            case .revoked, .expired, .unknown: noteEnd(of: digest)
            default: break
            }
            throw error.problem
        }
    }

    private func noteEnd(of digest: [UInt8]) {
        table.withLock { table in
            table.sessions[digest]?.hasEnded = true
            table.keepNewest(Self.maxEnded) { $0.hasEnded }
        }
    }

    /// Ends a session. Ending one that is over changes nothing.
    package func end(_ token: String) {
        let digest = secrets.digest(token)
        table.withLock { $0.sessions[digest] = nil }
    }

    private static let signInFirst = Problem(
        .unauthenticated,
        "Sign in first: POST /admin/v1/sessions with a server key of the scope operator, and send the token as "
            + "`Authorization: Bearer sbo_…`.", field: "Authorization")
}

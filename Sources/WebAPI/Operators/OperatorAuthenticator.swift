import Accounts
import HTTPTypes
import HummingbirdCore
import Model
import Realtime
package import Services
import Synchronization

/// Authenticates the requests of the operator's port before their bodies are read: a server key signs in, and the token
/// of the session is sent with every other request.
package final class OperatorAuthenticator: Sendable {
    /// How many wrong keys an address may send within a minute.
    package static let wrongKeysPerMinute = 10

    let sessions: OperatorSessions
    private let keys: ServerKeyService
    private let requests: RequestAuthenticator
    private let wrongKeys = Mutex(RateLimiter<String>(perMinute: wrongKeysPerMinute, capacity: 20_000))
    private let uptime: @Sendable () -> Int64

    /// - Parameter requests: has the rate limits of addresses and of keys.
    package init(
        keys: ServerKeyService, sessions: OperatorSessions, requests: RequestAuthenticator,
        uptime: @escaping @Sendable () -> Int64
    ) {
        self.keys = keys
        self.sessions = sessions
        self.requests = requests
        self.uptime = uptime
    }

    /// Checks the key of a sign-in.
    ///
    /// Each attempt takes a permit of its address, and a right key gives it back. Without a permit the key is not even
    /// looked at: what is guessed cannot be found out sooner.
    func admitKey(_ request: ServerKeyService.Request, counted: CountedLimit) throws -> KeyPrincipal {
        let now = uptime()
        if let wait = wrongKeys.withLock({ $0.take(request.address, at: now) }) {
            keys.audit.refused(request.action, by: .unknown, because: "rate_limited", from: request.address)
            throw Problem(
                .rateLimited, "\(Self.wrongKeysPerMinute) wrong keys came from your address within a minute: wait.",
                retryAfter: wait)
        }
        let key: KeyPrincipal
        do {
            key = try keys.authenticate(request)
        } catch {
            throw error.problem
        }
        wrongKeys.withLock { $0.giveBack(request.address) }
        try requests.take(.serverKeys, of: key.id.text, counted: counted)
        return key
    }

    /// Checks the token of a session.
    func admit(_ request: ServerKeyService.Request, counted: CountedLimit) throws -> KeyPrincipal {
        guard !request.hasForeignOrigin else {
            keys.audit.refused(request.action, by: .unknown, because: "foreign_origin", from: request.address)
            throw Problem(
                .forbidden, "A page of another origin may not use the operator's API.", field: "Origin")
        }
        let key: KeyPrincipal
        do {
            key = try sessions.find(BearerToken.read(from: request.authorization), from: request.address)
        } catch {
            // As for server keys, wrong tokens fill the bucket of the address, and right ones do not depend on it.
            try requests.take(.address, of: request.address, counted: counted)
            keys.audit.refused(request.action, by: .unknown, because: "no_session", from: request.address)
            throw error
        }
        do {
            try requests.take(.serverKeys, of: key.id.text, counted: counted)
        } catch {
            keys.audit.refused(request.action, by: .key(key.id), because: "rate_limited", from: request.address)
            throw error
        }
        return key
    }
}

package import Model

/// What a realtime session asks of the rest of the server: who somebody is, what a stream holds, what a request answers.
///
/// The composition root implements these. They are called from tasks that live as long as the question.
package struct RealtimeServices: Sendable {
    package let authenticator: any RealtimeAuthenticator
    package let source: any StreamSource
    package let handler: any RequestHandler
    package let observer: any SessionObserver

    package init(
        authenticator: any RealtimeAuthenticator, source: any StreamSource, handler: any RequestHandler,
        observer: any SessionObserver
    ) {
        self.authenticator = authenticator
        self.source = source
        self.handler = handler
        self.observer = observer
    }
}

/// Knows access tokens and endpoints.
package protocol RealtimeAuthenticator: Sendable {
    /// Verifies an access token. `expiresAt` is when the session must bring a new one.
    ///
    /// Throws `Problem` (`unauthenticated`) for a token that is not, or no longer, good.
    func authenticate(token: String) async throws -> (principal: Principal, expiresAt: Timestamp)

    /// Checks once more, where a session enters the hub, that neither the sign-in nor the user was revoked while the
    /// session was being authenticated: the hub ends only the sessions that have entered it.
    ///
    /// Called on event loops: it must not block. It has to know of a revocation before `RealtimeHub.revoke` is called
    /// for it. Throws `Problem` (`unauthenticated` or `forbidden`).
    func checkNotRevoked(_ principal: Principal) throws

    /// Counts an attempt to open a session against the client's address, before anything of it is read or checked.
    ///
    /// Throws `Problem` (`rate_limited`).
    func admit(from origin: SessionOrigin) throws

    /// Verifies the token of a `hello`, counts it against its user's requests, and then registers or recognises the
    /// endpoint that the client says it is; with no id a new one is made.
    ///
    /// Throws `Problem`: `unauthenticated`, `rate_limited`, or `forbidden` when the secret does not prove the endpoint.
    func admit(
        token: String, endpoint: EndpointID?, secret: String?
    ) async throws -> (principal: Principal, expiresAt: Timestamp, grant: EndpointGrant)
}

/// An endpoint that a session may speak for.
package struct EndpointGrant: Sendable, Hashable {
    package var endpoint: EndpointID
    /// Present when the server made the secret, which the client must then keep.
    package var newSecret: String?
    /// Whether the user lets others see that they are there; `RealtimeHub.setPresenceShown` tells of later changes.
    package var showsPresence: Bool

    package init(endpoint: EndpointID, newSecret: String? = nil, showsPresence: Bool = true) {
        self.endpoint = endpoint
        self.newSecret = newSecret
        self.showsPresence = showsPresence
    }
}

/// Runs the requests that have a REST route too.
package protocol RequestHandler: Sendable {
    /// Runs `name` (such as `calls.accept`) with `params`, the JSON text of an object (`{}` when the frame had none).
    ///
    /// The principal carries the session's endpoint. A name that does not exist is `invalid_request` on `request`.
    func handle(
        _ name: String, params: [UInt8], principal: Principal, from origin: SessionOrigin
    ) async -> RequestAnswer
}

/// Where a session's client is, and whom it thinks it speaks to.
package struct SessionOrigin: Hashable, Sendable {
    /// The client's address as limits count it: an IPv4 address, a /64 of IPv6, or `-`.
    package var address: String
    /// The host that the client addressed, as its `Host` header says it.
    package var host: String?

    package init(address: String, host: String? = nil) {
        self.address = address
        self.host = host
    }
}

/// What a request came to.
package enum RequestAnswer: Sendable {
    /// JSON text, and the positions that the write reached: the session answers after it has sent those changes.
    case result([UInt8], positions: [StreamName: Position])
    case problem(Problem)
}

/// Learns which endpoints are connected: call leases and last-seen times live on it.
///
/// Called on event loops: it must not block.
package protocol SessionObserver: Sendable {
    /// A session said hello and is live.
    func attached(endpoint: EndpointID, user: UserID, session: SessionID)
    /// A live session is over. When an endpoint resumes elsewhere, the new session's `attached` may come first.
    func detached(endpoint: EndpointID, user: UserID, session: SessionID)
    /// The client sent something; called at most once a second for each session.
    func heard(endpoint: EndpointID, user: UserID, session: SessionID)
}

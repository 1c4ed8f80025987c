package import Model

/// The services that realtime sessions need from the rest of the server: authentication, streams and requests.
///
/// The composition root implements them. Each call runs in a task of its own.
package struct RealtimeServices: Sendable {
    package let authenticator: any RealtimeAuthenticator
    package let source: any StreamSource
    package let handler: any RequestHandler
    package let observer: any SessionObserver
    /// `RealtimeAuthenticator.admitListen` for all sessions.
    let admitListen: @Sendable (Principal) -> Problem?
    /// `RequestHandler.isPage` for all sessions.
    let isPage: @Sendable (String) -> Bool

    package init(
        authenticator: any RealtimeAuthenticator, source: any StreamSource, handler: any RequestHandler,
        observer: any SessionObserver
    ) {
        self.authenticator = authenticator
        self.source = source
        self.handler = handler
        self.observer = observer
        admitListen = { principal in
            do throws(Problem) {
                try authenticator.admitListen(principal)
                return nil
            } catch {
                return error
            }
        }
        isPage = { handler.isPage($0) }
    }
}

/// Verifies access tokens and endpoints.
package protocol RealtimeAuthenticator: Sendable {
    /// Verifies an access token. The session must send a new one before `expiresAt`.
    ///
    /// Throws `Problem` (`unauthenticated`) for an invalid or expired token.
    func authenticate(token: String) async throws -> (principal: Principal, expiresAt: Timestamp)

    /// Checks again, when a session is registered with the hub, that neither the sign-in nor the user was revoked
    /// during authentication: the hub ends only registered sessions.
    ///
    /// Called on event loops: it must not block. It has to know of a revocation before `RealtimeHub.revoke` is called
    /// for it. Throws `Problem` (`unauthenticated` or `forbidden`).
    func checkNotRevoked(_ principal: Principal) throws

    /// Counts an attempt to open a session for the client's address, before anything is read or checked.
    ///
    /// Throws `Problem` (`rate_limited`).
    func admit(from origin: SessionOrigin) throws

    /// Verifies the token of a `hello`, counts it as a request of its user, and one more for each eight streams that it
    /// resumes, and then verifies the endpoint that the client names, or registers a new one. `client` is remembered with
    /// the sign-in.
    ///
    /// Throws `Problem`: `unauthenticated`, `rate_limited`, or `forbidden` when the endpoint's secret is wrong.
    func admit(_ hello: Hello) async throws -> (principal: Principal, expiresAt: Timestamp, grant: EndpointGrant)

    /// Counts a `listen` or an `unlisten` as a request of its user.
    ///
    /// Called on event loops: it must not block. Throws `Problem` (`rate_limited`).
    func admitListen(_ principal: Principal) throws(Problem)
}

/// The endpoint of a session.
package struct EndpointGrant: Sendable, Hashable {
    package var endpoint: EndpointID
    /// The secret of a new endpoint, which the client must store.
    package var newSecret: String?
    /// Whether others may see the user's presence; `RealtimeHub.setPresenceShown` changes it later.
    package var showsPresence: Bool

    package init(endpoint: EndpointID, newSecret: String? = nil, showsPresence: Bool = true) {
        self.endpoint = endpoint
        self.newSecret = newSecret
        self.showsPresence = showsPresence
    }
}

/// Runs the requests that also have a REST route.
package protocol RequestHandler: Sendable {
    /// Runs `name` (such as `calls.accept`) with `params`, the JSON text of an object (`{}` when the frame had none).
    ///
    /// The principal carries the session's endpoint. An unknown name is `invalid_request` on `request`.
    func handle(
        _ name: String, params: [UInt8], principal: Principal, from origin: SessionOrigin
    ) async -> RequestResult

    /// Whether the result of `name` is a page, which may have hundreds of KiB: of those a session gets a few at a time.
    func isPage(_ name: String) -> Bool
}

/// The address of a session's client, and the host that it addressed.
package struct SessionOrigin: Hashable, Sendable {
    /// The client's address for rate limits: an IPv4 address, a /64 of IPv6, or `-`.
    package var address: String
    /// The `Host` header of the client's request.
    package var host: String?

    package init(address: String, host: String? = nil) {
        self.address = address
        self.host = host
    }
}

/// The result of a request.
package enum RequestResult: Sendable {
    /// JSON text, and the positions that the write reached: the session sends the result after those changes.
    case result([UInt8], positions: [StreamName: Position])
    case problem(Problem)
}

/// Remembers when users were last there.
///
/// Called on one event loop, in the order of what is published: it must not block.
package protocol PresenceRecorder: Sendable {
    /// A user who shows their presence has come or gone; one who hides it from now on has gone without a time.
    func note(_ presence: Presence, of user: UserID)
}

/// Is notified which endpoints are connected, for call leases.
///
/// Called on event loops: it must not block.
package protocol SessionObserver: Sendable {
    /// A session has become live.
    func attached(endpoint: EndpointID, user: UserID, session: SessionID)
    /// A live session has ended. When an endpoint resumes elsewhere, the new session's `attached` may come first.
    func detached(endpoint: EndpointID, user: UserID, session: SessionID)
    /// The client sent something; called at most once a second for each session.
    func alive(endpoint: EndpointID, user: UserID, session: SessionID)
}

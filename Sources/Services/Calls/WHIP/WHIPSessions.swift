import Calls
package import Logging
import MediaGateway
package import Model
import Storage

/// Sessions of WHIP and WHEP, and their effect on the user's participation in the call.
///
/// A user has one session of each protocol in a call; a new one replaces the previous one, so that an encoder that lost
/// its connection may simply start again. If the user is not in the call otherwise, the first session joins the call
/// for the user, and its end leaves the call, unless a session of the other protocol takes over. If the user is in the
/// call with a client, sessions exist beside it and end when the user leaves.
///
/// The requests of a user for sessions in a call run serially: the registry says which session is replaced, and each
/// has entered or failed before the next one begins.
///
/// Sessions live in memory. After a restart, they and their legs are gone. A participation that belonged to one of them
/// is taken over by the user's next session of either protocol, or ends with its lease.
package final class WHIPSessions: Sendable {
    private typealias Session = MediaSessionRegistry.Session
    private typealias Member = MediaSessionRegistry.Member

    private let calls: CallService
    private let gateway: GatewayLegs?
    private let registry: WHIPRegistry
    private let logger: Logger
    private let queue = KeyedSerialQueue<MediaSessionRegistry.Member>()

    /// - Parameter gateway: nil if this process runs none.
    package init(calls: CallService, gateway: GatewayLegs?, registry: WHIPRegistry, logger: Logger) {
        self.calls = calls
        self.gateway = gateway
        self.registry = registry
        self.logger = logger
    }

    // MARK: Queries and events

    func holds(_ endpoint: EndpointID) -> Bool { registry.holds(endpoint) }

    /// The users of legs in the call whose endpoints are not in its document.
    func users(in call: CallID) -> [EndpointID: UserID] { registry.users(in: call) }

    /// Sign-ins have ended, or a user is disabled: their sessions end, entered or opening.
    func end(openedBy isOver: (UserID, SignInID?) -> Bool) {
        for session in registry.withSessions({ $0.removeAll { isOver($0.user, $0.signIn) } }) {
            endLeg(of: session)
            leaveLater(session, hasFailed: false)
        }
    }

    /// The leg has ended. Returns false if it belongs to no session.
    func ended(_ endpoint: EndpointID, because reason: LegEndReason) -> Bool {
        // The user stays in the call, for a session after the restart.
        if reason == .stopped { return holds(endpoint) }
        guard let session = registry.withSessions({ $0.remove(endpoint) }) else { return false }
        leaveLater(session, hasFailed: true)
        return true
    }

    // MARK: Joining and leaving

    private func endLeg(of session: Session) { gateway?.end(session.id.callLeg) }

    private func enter(_ session: Session, tag: String, _ principal: Principal) async throws {
        let id = session.id
        let earlier = registry.withSessions { $0.session(id.kind, of: session.member) }
        let replaced = registry.orphan(of: session.member) ?? earlier?.id.leg
        _ = try await calls.run { store, commands in
            try store.checkSignedIn(principal)
            return try commands.joinByWHIP(
                id.call, as: id.leg, replacing: replaced, by: principal, at: store.now, in: store)
        } committed: { [self] in
            // In the order of the commits, so that a later leave finds the session.
            registry.forgetOrphan(of: session.member)
            if let replaced = registry.withSessions({ $0.enter(id.leg, tag: tag) }).replaced { endLeg(of: replaced) }
        }
    }

    private func leave(_ session: Session, hasFailed: Bool) async throws {
        let id = session.id
        let successor = registry.withSessions { $0.other(than: session) }.map { ($0.id.leg, $0.signIn) }
        try await calls.note { store, commands in
            try commands.leaveByWHIP(
                id.call, as: id.leg, of: session.user, successor: successor, hasFailed: hasFailed, at: store.now,
                in: store)
        }
    }

    private func leaveLater(_ session: Session, hasFailed: Bool) {
        Task {
            do {
                try await queue.run(session.member) { try await leave(session, hasFailed: hasFailed) }
            } catch {
                // The lease, which is no longer renewed, will end the participation.
                logger.error("a session could not leave its call", metadata: ["error": "\(error)"])
            }
        }
    }

    private func answer(_ session: Session) async throws -> LegDescription {
        guard let gateway else { throw Problem.noGateway }
        do {
            return try await gateway.answer(
                session.offer, of: session.id.callLeg, as: session.id.kind == .whip ? .publisher : .viewer)
        } catch var problem as Problem {
            if problem.field != nil { problem.field = "body" }
            throw problem
        }
    }

    private func open(_ session: Session, by principal: Principal) async throws -> WHIPAnswer {
        let leg = session.id.leg
        if let earlier = registry.withSessions({ $0.begin(session) }) { endLeg(of: earlier) }
        do {
            let answer = try await answer(session)
            try await enter(session, tag: answer.ufrag, principal)
            // The user may have left meanwhile; then there is no session to answer for.
            guard registry.withSessions({ $0.session(leg) }) != nil else { throw Problem.notFound("session") }
            return WHIPAnswer(id: session.id, sdp: answer.sdp, tag: answer.ufrag)
        } catch {
            _ = registry.withSessions { $0.remove(leg) }
            endLeg(of: session)
            try? await leave(session, hasFailed: true)
            throw error
        }
    }
}

// Requests. Each method throws a `Problem` if it fails.
extension WHIPSessions {
    /// Creates a session for the user, who joins the call with it unless they are in it already.
    package func open(_ kind: WHIPKind, in call: CallID, sdp: String, by principal: Principal) async throws
        -> WHIPAnswer
    {
        let commands = calls.commands
        _ = try await calls.store.read { try commands.callForWHIP(call, by: principal, at: $0.now, in: $0) }
        let id = WHIPSessionID(kind: kind, call: call, leg: .make(at: Timestamp.systemClock()))
        let session = Session(id: id, user: principal.user, signIn: principal.signIn, offer: sdp)
        return try await queue.run(session.member) { try await open(session, by: principal) }
    }

    /// The ICE session of one of the user's sessions.
    package func iceSession(of id: WHIPSessionID, by principal: Principal) throws -> MediaICESession {
        let session = try find(id, principal)
        return MediaICESession(tag: session.tag, offer: session.offer)
    }

    /// Restarts ICE with the client's new credentials.
    package func restart(
        _ id: WHIPSessionID, ufrag: String, password: String, by principal: Principal
    ) async throws -> WHIPAnswer {
        try await queue.run(Member(call: id.call, user: principal.user)) {
            var session = try find(id, principal)
            session.offer = try RestartedOffer.text(of: session.offer, ufrag: ufrag, password: password)
            let answer = try await answer(session)
            guard registry.withSessions({ $0.restarted(id.leg, offer: session.offer, tag: answer.ufrag) }) else {
                // It ended meanwhile, and this is another leg.
                endLeg(of: session)
                throw Problem.notFound("session")
            }
            return WHIPAnswer(id: id, sdp: answer.sdp, tag: answer.ufrag)
        }
    }

    package func close(_ id: WHIPSessionID, by principal: Principal) async throws {
        try await queue.run(Member(call: id.call, user: principal.user)) {
            _ = try find(id, principal)
            guard let session = registry.withSessions({ $0.remove(id.leg) }) else { return }
            endLeg(of: session)
            try await leave(session, hasFailed: false)
        }
    }

    private func find(_ id: WHIPSessionID, _ principal: Principal) throws -> Session {
        let session = registry.withSessions { $0.session(id.leg) }
        guard let session, session.id == id, session.user == principal.user else {
            throw Problem.notFound("session")
        }
        return session
    }
}

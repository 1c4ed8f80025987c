import Calls
import Logging
import Model
import Storage
import Synchronization
import WebAPI

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
final class WHIPSessions: Sendable {
    private typealias Session = MediaSessionRegistry.Session
    private typealias Member = MediaSessionRegistry.Member

    private struct Parts {
        var legs: (any MediaLegs)?
        var clock: CallClock?
    }

    private let store: Store
    private let commands: CallCommands
    private let logger: Logger
    private let parts = Mutex(Parts())
    private let registry = Mutex(MediaSessionRegistry())
    private let queue = KeyedSerialQueue<MediaSessionRegistry.Member>()
    /// Participations of sessions from before a restart of the server.
    private let orphans = Mutex<[MediaSessionRegistry.Member: EndpointID]>([:])

    init(store: Store, commands: CallCommands, logger: Logger) {
        self.store = store
        self.commands = commands
        self.logger = logger
    }

    func open(_ legs: (any MediaLegs)?, _ clock: CallClock) {
        parts.withLock { $0 = Parts(legs: legs, clock: clock) }
    }

    private var legs: (any MediaLegs)? { parts.withLock { $0.legs } }
    private var clock: CallClock? { parts.withLock { $0.clock } }

    // MARK: Queries and events

    func holds(_ endpoint: EndpointID) -> Bool { registry.withLock { $0.holds(endpoint) } }

    /// The users of legs in the call whose endpoints are not in its document.
    func users(in call: CallID) -> [EndpointID: UserID] { registry.withLock { $0.legs(in: call) } }

    /// Sets who was in a call with a session before the server was restarted.
    func expect(_ holders: [CallLeases.Holder]) {
        orphans.withLock { orphans in
            for holder in holders { orphans[Member(call: holder.call, user: holder.user)] = holder.endpoint }
        }
    }

    /// The user has left the call. Called on the store's writer thread.
    func userLeft(_ call: CallID, _ user: UserID) {
        let member = Member(call: call, user: user)
        orphans.withLock { $0[member] = nil }
        for session in registry.withLock({ $0.removeEntered(member) }) { endLeg(of: session) }
    }

    /// Sign-ins have ended, or a user is disabled: their sessions end, entered or opening.
    func end(openedBy isOver: (UserID, SignInID?) -> Bool) {
        for session in registry.withLock({ $0.removeAll { isOver($0.user, $0.signIn) } }) {
            endLeg(of: session)
            leaveLater(session, hasFailed: false)
        }
    }

    /// The leg has ended. Returns false if it belongs to no session.
    func ended(_ endpoint: EndpointID, because reason: LegEndReason) -> Bool {
        // The user stays in the call, for a session after the restart.
        if reason == .stopped { return holds(endpoint) }
        guard let session = registry.withLock({ $0.remove(endpoint) }) else { return false }
        leaveLater(session, hasFailed: true)
        return true
    }

    // MARK: Joining and leaving

    private func endLeg(of session: Session) { legs?.end(call: session.id.call, endpoint: session.id.leg) }

    private func enter(_ session: Session, tag: String, _ principal: Principal) async throws {
        let (commands, clock, id) = (commands, clock, session.id)
        let earlier = registry.withLock { $0.session(id.kind, of: session.member) }
        let replaced = orphans.withLock { $0[session.member] } ?? earlier?.id.leg
        _ = try await store.write {
            try $0.checkSignedIn(principal)
            return try commands.joinByWHIP(
                id.call, as: id.leg, replacing: replaced, by: principal, at: $0.now, in: $0)
        } committed: { [self] outcome in
            // In the order of the commits, so that a later leave finds the session.
            orphans.withLock { $0[session.member] = nil }
            if let replaced = registry.withLock({ $0.enter(id.leg, tag: tag) }).replaced { endLeg(of: replaced) }
            clock?.perform(outcome.effects)
        }
    }

    private func leave(_ session: Session, hasFailed: Bool) async throws {
        let (commands, clock, id) = (commands, clock, session.id)
        let successor = registry.withLock { $0.other(than: session) }.map { ($0.id.leg, $0.signIn) }
        _ = try await store.write {
            try commands.leaveByWHIP(
                id.call, as: id.leg, of: session.user, successor: successor, hasFailed: hasFailed, at: $0.now, in: $0)
        } committed: { outcome in
            clock?.perform(outcome?.effects ?? [])
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

    private func answer(_ session: Session) async throws -> LegAnswer {
        guard let legs else { throw Problem(.unavailable, "The media gateway is not running yet.", retryAfter: 1000) }
        do {
            return try await legs.answer(
                LegOffer(
                    call: session.id.call, user: session.user, endpoint: session.id.leg, sdp: session.offer,
                    part: session.id.kind == .whip ? .publisher : .viewer))
        } catch let rejection as LegRejection {
            var problem = Problem(rejection)
            if problem.field != nil { problem.field = "body" }
            throw problem
        }
    }

    private func open(_ session: Session, by principal: Principal) async throws -> WHIPAnswer {
        let leg = session.id.leg
        if let earlier = registry.withLock({ $0.begin(session) }) { endLeg(of: earlier) }
        do {
            let answer = try await answer(session)
            try await enter(session, tag: answer.ufrag, principal)
            // The user may have left meanwhile; then there is no session to answer for.
            guard registry.withLock({ $0.session(leg) }) != nil else { throw Problem.notFound("session") }
            return WHIPAnswer(id: session.id, sdp: answer.sdp, tag: answer.ufrag)
        } catch {
            _ = registry.withLock { $0.remove(leg) }
            endLeg(of: session)
            try? await leave(session, hasFailed: true)
            throw error
        }
    }
}

extension WHIPSessions: WHIPService {
    func open(_ kind: WHIPKind, in call: CallID, sdp: String, by principal: Principal) async throws -> WHIPAnswer {
        let commands = commands
        _ = try await store.read { try commands.callForWHIP(call, by: principal, at: $0.now, in: $0) }
        let id = WHIPSessionID(kind: kind, call: call, leg: .make(at: Timestamp.systemClock()))
        let session = Session(id: id, user: principal.user, signIn: principal.signIn, offer: sdp)
        return try await queue.run(session.member) { try await open(session, by: principal) }
    }

    func tag(of id: WHIPSessionID, by principal: Principal) throws -> String { try find(id, principal).tag }

    func restart(
        _ id: WHIPSessionID, ufrag: String, password: String, by principal: Principal
    ) async throws -> WHIPAnswer {
        try await queue.run(Member(call: id.call, user: principal.user)) {
            var session = try find(id, principal)
            session.offer = try RestartedOffer.text(of: session.offer, ufrag: ufrag, password: password)
            let answer = try await answer(session)
            guard registry.withLock({ $0.restarted(id.leg, offer: session.offer, tag: answer.ufrag) }) else {
                // It ended meanwhile, and this is another leg.
                endLeg(of: session)
                throw Problem.notFound("session")
            }
            return WHIPAnswer(id: id, sdp: answer.sdp, tag: answer.ufrag)
        }
    }

    func close(_ id: WHIPSessionID, by principal: Principal) async throws {
        try await queue.run(Member(call: id.call, user: principal.user)) {
            _ = try find(id, principal)
            guard let session = registry.withLock({ $0.remove(id.leg) }) else { return }
            endLeg(of: session)
            try await leave(session, hasFailed: false)
        }
    }

    private func find(_ id: WHIPSessionID, _ principal: Principal) throws -> Session {
        let session = registry.withLock { $0.session(id.leg) }
        guard let session, session.id == id, session.user == principal.user else {
            throw Problem.notFound("session")
        }
        return session
    }
}

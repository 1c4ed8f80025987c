import Calls
import Logging
import Model
import Storage
import Synchronization
import WebAPI

/// Legs of WHIP and WHEP: who has them, and what their coming and going means for the user's part in the call.
///
/// A user has one session of each protocol in a call; a new one takes the place of the one before, so that an encoder that
/// lost its way may simply begin again. Where the user is in no other way in the call, the first session is the user's
/// part in it: the user joins with it and leaves with its end, unless the other protocol's session goes on for it. Where
/// the user is in the call with a client, sessions stand beside that and end when the user leaves.
///
/// What a user asks of sessions in a call is done in its order, one after the other: the registry says which session is
/// replaced, and each has entered or failed before the next one looks.
///
/// Sessions live in memory. After a restart their resources are gone, as their legs are; the part in the call that one of
/// them was waits for the user's next session of either protocol, and ends with its lease when there is none.
final class DoorLegs: Sendable {
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
    /// Parts that sessions of an earlier life of this server took.
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

    // MARK: What others ask and tell

    func holds(_ endpoint: EndpointID) -> Bool { registry.withLock { $0.holds(endpoint) } }

    /// Whose legs there are in the call beside those of its document's endpoints.
    func users(in call: CallID) -> [EndpointID: UserID] { registry.withLock { $0.legs(in: call) } }

    /// Who was in a call with a session before the server was restarted.
    func expect(_ holders: [CallLeases.Holder]) {
        orphans.withLock { orphans in
            for holder in holders { orphans[Member(call: holder.call, user: holder.user)] = holder.endpoint }
        }
    }

    /// The user is not in the call any more. Called on the store's writer thread.
    func userLeft(_ call: CallID, _ user: UserID) {
        let member = Member(call: call, user: user)
        orphans.withLock { $0[member] = nil }
        for session in registry.withLock({ $0.removeEntered(member) }) { endLeg(of: session) }
    }

    /// Sign-ins have ended, or a user is disabled: what was opened with them is over, entered or not.
    func end(openedBy isOver: (UserID, SignInID?) -> Bool) {
        for session in registry.withLock({ $0.removeAll { isOver($0.user, $0.signIn) } }) {
            endLeg(of: session)
            leaveLater(session, hasFailed: false)
        }
    }

    /// The leg has failed. False when it is of no session.
    func ended(_ endpoint: EndpointID, because reason: LegEndReason) -> Bool {
        // The user stays in the call, for whoever comes back after the restart.
        if reason == .stopped { return holds(endpoint) }
        guard let session = registry.withLock({ $0.remove(endpoint) }) else { return false }
        leaveLater(session, hasFailed: true)
        return true
    }

    // MARK: Coming and going

    private func endLeg(of session: Session) { legs?.end(call: session.place.call, endpoint: session.place.leg) }

    private func enter(_ session: Session, tag: String, _ principal: Principal) async throws {
        let (commands, clock, place) = (commands, clock, session.place)
        let earlier = registry.withLock { $0.session(place.door, of: session.member) }
        let replaced = orphans.withLock { $0[session.member] } ?? earlier?.place.leg
        _ = try await store.write {
            try $0.checkSignedIn(principal)
            return try commands.enterByDoor(
                place.call, as: place.leg, inPlaceOf: replaced, by: principal, at: $0.now, in: $0)
        } committed: { [self] outcome in
            // In the order of the commits, so that whoever leaves afterwards finds the session.
            orphans.withLock { $0[session.member] = nil }
            if let replaced = registry.withLock({ $0.enter(place.leg, tag: tag) }).replaced { endLeg(of: replaced) }
            clock?.perform(outcome.effects)
        }
    }

    private func leave(_ session: Session, hasFailed: Bool) async throws {
        let (commands, clock, place) = (commands, clock, session.place)
        let heir = registry.withLock { $0.other(than: session) }.map { ($0.place.leg, $0.signIn) }
        _ = try await store.write {
            try commands.leaveByDoor(
                place.call, as: place.leg, of: session.user, leavingTo: heir, hasFailed: hasFailed, at: $0.now, in: $0)
        } committed: { outcome in
            clock?.perform(outcome?.effects ?? [])
        }
    }

    private func leaveLater(_ session: Session, hasFailed: Bool) {
        Task {
            do {
                try await queue.run(session.member) { try await leave(session, hasFailed: hasFailed) }
            } catch {
                // The lease, which nothing renews any more, will do it.
                logger.error("the leg of a session ended", metadata: ["error": "\(error)"])
            }
        }
    }

    private func answer(_ session: Session) async throws -> LegAnswer {
        guard let legs else { throw Problem(.unavailable, "The media gateway does not run yet.", retryAfter: 1000) }
        do {
            return try await legs.answer(
                LegOffer(
                    call: session.place.call, user: session.user, endpoint: session.place.leg, sdp: session.offer,
                    part: session.place.door == .whip ? .publisher : .viewer))
        } catch let refusal as LegRefusal {
            var problem = Problem(refusal)
            if problem.field != nil { problem.field = "body" }
            throw problem
        }
    }

    private func open(_ session: Session, by principal: Principal) async throws -> DoorAnswer {
        let leg = session.place.leg
        if let earlier = registry.withLock({ $0.begin(session) }) { endLeg(of: earlier) }
        do {
            let answer = try await answer(session)
            try await enter(session, tag: answer.ufrag, principal)
            // The user may have left at once; then there is nothing to answer.
            guard registry.withLock({ $0.session(leg) }) != nil else { throw Problem.notFound("session") }
            return DoorAnswer(place: session.place, sdp: answer.sdp, tag: answer.ufrag)
        } catch {
            _ = registry.withLock { $0.remove(leg) }
            endLeg(of: session)
            try? await leave(session, hasFailed: true)
            throw error
        }
    }
}

extension DoorLegs: DoorService {
    func open(_ door: MediaDoor, in call: CallID, sdp: String, by principal: Principal) async throws -> DoorAnswer {
        let commands = commands
        _ = try await store.read { try commands.callForDoor(call, by: principal, at: $0.now, in: $0) }
        let place = DoorPlace(door: door, call: call, leg: .make(at: Timestamp.systemClock()))
        let session = Session(place: place, user: principal.user, signIn: principal.signIn, offer: sdp)
        return try await queue.run(session.member) { try await open(session, by: principal) }
    }

    func tag(of place: DoorPlace, by principal: Principal) throws -> String { try find(place, principal).tag }

    func restart(
        _ place: DoorPlace, ufrag: String, password: String, by principal: Principal
    ) async throws -> DoorAnswer {
        try await queue.run(Member(call: place.call, user: principal.user)) {
            var session = try find(place, principal)
            session.offer = try RestartedOffer.text(of: session.offer, ufrag: ufrag, password: password)
            let answer = try await answer(session)
            guard registry.withLock({ $0.restarted(place.leg, offer: session.offer, tag: answer.ufrag) }) else {
                // It ended meanwhile, and this is another leg.
                endLeg(of: session)
                throw Problem.notFound("session")
            }
            return DoorAnswer(place: place, sdp: answer.sdp, tag: answer.ufrag)
        }
    }

    func close(_ place: DoorPlace, by principal: Principal) async throws {
        try await queue.run(Member(call: place.call, user: principal.user)) {
            _ = try find(place, principal)
            guard let session = registry.withLock({ $0.remove(place.leg) }) else { return }
            endLeg(of: session)
            try await leave(session, hasFailed: false)
        }
    }

    private func find(_ place: DoorPlace, _ principal: Principal) throws -> Session {
        let session = registry.withLock { $0.session(place.leg) }
        guard let session, session.place == place, session.user == principal.user else {
            throw Problem.notFound("session")
        }
        return session
    }
}

import Calls
import Logging
import Model
import Storage
import Synchronization
import WebAPI

/// Legs of WHIP and WHEP: who has them, and what their coming and going means for the user's part in the call.
///
/// A user has one session of each door in a call; a new one takes the place of the one before, so that an encoder that
/// lost its way may simply begin again. Where the user is in no other way in the call, the first session is the user's
/// part in it: the user joins with it and leaves with its end, unless the other door's session goes on for it. Where the
/// user is in the call with a client, sessions stand beside that and end when the user leaves.
///
/// Sessions live in memory. After a restart their resources are gone, as their legs are; the part in the call that one of
/// them was waits for the user's next session of either door, and ends with its lease when there is none.
final class DoorLegs: Sendable {
    private struct Session {
        let place: DoorPlace
        let user: UserID
        /// By which it was opened.
        let signIn: SignInID?
        var offer: String
        /// Empty until it is open.
        var tag = ""
    }

    private struct Parts {
        var legs: (any MediaLegs)?
        var clock: CallClock?
    }

    private let store: Store
    private let commands: CallCommands
    private let logger: Logger
    private let parts = Mutex(Parts())
    private let sessions = Mutex<[EndpointID: Session]>([:])
    /// Parts that sessions of an earlier life of this server took.
    private let orphans = Mutex<[Orphan: EndpointID]>([:])

    private struct Orphan: Hashable {
        var call: CallID
        var user: UserID
    }

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

    func holds(_ endpoint: EndpointID) -> Bool { sessions.withLock { $0[endpoint] != nil } }

    /// Whose legs there are in the call beside those of its document's endpoints.
    func users(in call: CallID) -> [EndpointID: UserID] {
        sessions.withLock {
            $0.values.filter { $0.place.call == call }.reduce(into: [:]) { $0[$1.place.leg] = $1.user }
        }
    }

    /// Who was in a call through a door before the server was restarted.
    func expect(_ holders: [CallLeases.Holder]) {
        orphans.withLock { orphans in
            for holder in holders { orphans[Orphan(call: holder.call, user: holder.user)] = holder.endpoint }
        }
    }

    /// The user is not in the call any more.
    func userLeft(_ call: CallID, _ user: UserID) {
        orphans.withLock { $0[Orphan(call: call, user: user)] = nil }
        let over = sessions.withLock { sessions in
            let over = sessions.values.filter { $0.place.call == call && $0.user == user }
            for session in over { sessions[session.place.leg] = nil }
            return over
        }
        for session in over { legs?.end(call: call, endpoint: session.place.leg) }
    }

    /// The leg has failed. False when it is none of a door's.
    func ended(_ endpoint: EndpointID, because reason: LegEndReason) -> Bool {
        // The user stays in the call, for whoever comes back after the restart.
        if reason == .stopped { return holds(endpoint) }
        guard let session = take(endpoint) else { return false }
        Task {
            do {
                try await leave(session, hasFailed: true)
            } catch {
                // The lease, which nothing renews any more, will do it.
                logger.error("a door's leg ended", metadata: ["error": "\(error)"])
            }
        }
        return true
    }

    // MARK: Coming and going

    private func take(_ endpoint: EndpointID) -> Session? { sessions.withLock { $0.removeValue(forKey: endpoint) } }

    /// The user's session of a door, of which there is one once it is open.
    private func session(
        _ door: MediaDoor, _ call: CallID, _ user: UserID, except leg: EndpointID
    ) -> Session? {
        sessions.withLock { sessions in
            sessions.values.first {
                $0.place.door == door && $0.place.call == call && $0.user == user && $0.place.leg != leg
                    && !$0.tag.isEmpty
            }
        }
    }

    private func enter(_ place: DoorPlace, _ principal: Principal) async throws {
        let (commands, clock) = (commands, clock)
        let earlier = session(place.door, place.call, principal.user, except: place.leg)
        let orphan = Orphan(call: place.call, user: principal.user)
        let replaced = orphans.withLock { $0[orphan] } ?? earlier?.place.leg
        _ = try await store.write {
            try commands.enterByDoor(
                place.call, as: place.leg, inPlaceOf: replaced, by: principal, at: $0.now, in: $0)
        } committed: { outcome in
            clock?.perform(outcome.effects)
        }
        // It is taken over now, or had gone.
        orphans.withLock { $0[orphan] = nil }
        if let earlier, take(earlier.place.leg) != nil { legs?.end(call: place.call, endpoint: earlier.place.leg) }
    }

    private func leave(_ session: Session, hasFailed: Bool) async throws {
        let (commands, clock, place) = (commands, clock, session.place)
        let heir = MediaDoor.allCases.compactMap {
            self.session($0, place.call, session.user, except: place.leg).map { ($0.place.leg, $0.signIn) }
        }.first
        _ = try await store.write {
            try commands.leaveByDoor(
                place.call, as: place.leg, of: session.user, leavingTo: heir, hasFailed: hasFailed, at: $0.now, in: $0)
        } committed: { outcome in
            clock?.perform(outcome?.effects ?? [])
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
}

extension DoorLegs: DoorService {
    func open(_ door: MediaDoor, in call: CallID, sdp: String, by principal: Principal) async throws -> DoorAnswer {
        let commands = commands
        _ = try await store.read { try commands.callForDoor(call, by: principal, at: $0.now, in: $0) }
        let place = DoorPlace(door: door, call: call, leg: .make(at: Timestamp.systemClock()))
        let session = Session(place: place, user: principal.user, signIn: principal.signIn, offer: sdp)
        sessions.withLock { $0[place.leg] = session }
        do {
            let answer = try await answer(session)
            try await enter(place, principal)
            // The user may have left at once; then there is nothing to answer.
            guard holds(place.leg) else { throw Problem.notFound("session") }
            sessions.withLock { $0[place.leg]?.tag = answer.ufrag }
            return DoorAnswer(place: place, sdp: answer.sdp, tag: answer.ufrag)
        } catch {
            _ = take(place.leg)
            legs?.end(call: call, endpoint: place.leg)
            try? await leave(session, hasFailed: true)
            throw error
        }
    }

    func tag(of place: DoorPlace, by principal: Principal) throws -> String { try find(place, principal).tag }

    func restart(
        _ place: DoorPlace, ufrag: String, password: String, by principal: Principal
    ) async throws -> DoorAnswer {
        var session = try find(place, principal)
        session.offer = try RestartedOffer.text(of: session.offer, ufrag: ufrag, password: password)
        let answer = try await answer(session)
        sessions.withLock { sessions in
            sessions[place.leg]?.offer = session.offer
            sessions[place.leg]?.tag = answer.ufrag
        }
        return DoorAnswer(place: place, sdp: answer.sdp, tag: answer.ufrag)
    }

    func close(_ place: DoorPlace, by principal: Principal) async throws {
        _ = try find(place, principal)
        guard let session = take(place.leg) else { return }
        legs?.end(call: place.call, endpoint: place.leg)
        try await leave(session, hasFailed: false)
    }

    private func find(_ place: DoorPlace, _ principal: Principal) throws -> Session {
        let session = sessions.withLock { $0[place.leg] }
        guard let session, session.place == place, session.user == principal.user, !session.tag.isEmpty else {
            throw Problem.notFound("session")
        }
        return session
    }
}

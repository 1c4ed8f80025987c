import Calls
import Logging
import Metrics
import Model
import Storage
import Synchronization
import WebAPI

/// Between the calls and the media gateway: brings offers there, and writes what becomes of legs into the mailboxes of
/// their endpoints.
///
/// Legs behind the doors of WHIP and WHEP have no mailbox; what becomes of them is `DoorLegs`'s affair. Those of voice
/// messages have no call; they are `VoiceTaker`'s.
///
/// The gateway tells on threads that forward packets, so nothing is written there: a leg's notices are collected and
/// worked off by one task of that leg, in their order.
final class GatewayLink: Sendable {
    private struct Key: Hashable, Sendable {
        var call: CallID
        var endpoint: EndpointID
    }

    private struct Offer: Sendable {
        var request: OfferLeg
        var principal: Principal
        var answered: CheckedContinuation<AnsweredLeg, any Error>
    }

    private struct Parts {
        var legs: (any MediaLegs)?
        var clock: CallClock?
    }

    /// Who made the leg of an endpoint, and with which sign-in.
    private struct Maker: Sendable {
        var user: UserID
        var signIn: SignInID?
    }

    let doors: DoorLegs
    let voices = VoiceTaker(logger: Logger(label: "voice"))
    let recorder = CallRecorder(logger: Logger(label: "recorder"))
    private let store: Store
    private let commands: CallCommands
    private let logger: Logger
    private let parts = Mutex(Parts())
    private let notices = Mutex<[Key: LegNotices<Offer>]>([:])
    /// Of the legs of endpoints that are in calls. Only media of these renews leases.
    private let makers = Mutex<[Key: Maker]>([:])

    init(store: Store, commands: CallCommands, logger: Logger) {
        self.store = store
        self.commands = commands
        self.logger = logger
        doors = DoorLegs(store: store, commands: commands, logger: logger)
    }

    /// Connects both sides; before the server listens.
    func open(_ legs: (any MediaLegs)?, _ clock: CallClock) {
        parts.withLock { $0 = Parts(legs: legs, clock: clock) }
        doors.open(legs, clock)
    }

    private var legs: (any MediaLegs)? { parts.withLock { $0.legs } }
    private var clock: CallClock? { parts.withLock { $0.clock } }

    /// The endpoint is not in the call any more. Called on the store's writer thread.
    func endLeg(in call: CallID, of endpoint: EndpointID) {
        // A door's stays beside the endpoint that took its place; where the user has left, `userLeft` follows.
        guard !doors.holds(endpoint) else { return }
        let key = Key(call: call, endpoint: endpoint)
        makers.withLock { $0[key] = nil }
        notices.withLock { notices in
            notices[key]?.forget()
            if notices[key]?.isIdle ?? false { notices[key] = nil }
        }
        legs?.end(call: call, endpoint: endpoint)
    }

    /// Sign-ins have ended, as the commit before this says: every leg that was made with one of them ends, and renews
    /// nobody's lease.
    func signInsEnded(_ signIns: [SignInID]) {
        let ended = Set(signIns)
        endLegs { _, signIn in signIn.map { ended.contains($0) } ?? false }
    }

    /// The user may do nothing any more, also with tokens of an outside issuer.
    func userDisabled(_ user: UserID) {
        endLegs { maker, _ in maker == user }
    }

    private func endLegs(madeBy isOver: @escaping @Sendable (UserID, SignInID?) -> Bool) {
        doors.end(openedBy: isOver)
        voices.end(begunBy: isOver)
        let over = makers.withLock { makers in
            let over = makers.filter { isOver($0.value.user, $0.value.signIn) }.keys
            for key in over { makers[key] = nil }
            return Array(over)
        }
        for key in over { legs?.end(call: key.call, endpoint: key.endpoint) }
    }

    private func note(_ key: Key, _ add: (inout LegNotices<Offer>) -> Void) {
        let begins = notices.withLock { notices in
            add(&notices[key, default: LegNotices()])
            return notices[key]?.beginWork() ?? false
        }
        if begins { Task { await work(key) } }
    }

    private func work(_ key: Key) async {
        while let job = take(key) {
            do {
                switch job {
                case .answer(let offer): await answer(offer, key)
                case .connected: try await noteConnected(key)
                case .ended(let reason): try await tellEnd(reason, key)
                case .outdated: try await tellOutdated(key)
                case .shows(let slots): try await tell(slots, key)
                }
            } catch {
                logger.error("a leg's endpoint was not told", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .seconds(1))
                notices.withLock { $0[key]?.putBack(job) }
            }
        }
    }

    private func take(_ key: Key) -> LegNotices<Offer>.Job? {
        notices.withLock { notices in
            guard let job = notices[key]?.take() else {
                notices[key] = nil
                return nil
            }
            return job
        }
    }

    private func tell(_ slots: [LegSlot], _ key: Key) async throws {
        let commands = commands
        let others = doors.users(in: key.call)
        let isTold = try await store.write {
            try commands.legShows(slots, also: others, call: key.call, endpoint: key.endpoint, in: $0)
        }.value
        if !isTold { legs?.end(call: key.call, endpoint: key.endpoint) }
    }

    private func noteConnected(_ key: Key) async throws {
        let commands = commands
        let clock = clock
        _ = try await store.write {
            try commands.legConnected(call: key.call, endpoint: key.endpoint, at: $0.now, in: $0)
        } committed: {
            clock?.perform($0?.effects ?? [])
        }
    }

    private func tellOutdated(_ key: Key) async throws {
        let commands = commands
        _ = try await store.write { try commands.legIsOutdated(call: key.call, endpoint: key.endpoint, in: $0) }
    }

    private func tellEnd(_ reason: LegEndReason, _ key: Key) async throws {
        let commands = commands
        _ = try await store.write {
            try commands.legEnded(because: reason, call: key.call, endpoint: key.endpoint, in: $0)
        }
    }
}

// Offers.
extension GatewayLink: LegService {
    func answer(_ request: OfferLeg, in call: CallID, by principal: Principal) async throws -> AnsweredLeg {
        guard let endpoint = principal.endpoint else { throw Problem.invalid("endpoint", "Name the endpoint.") }
        let key = Key(call: call, endpoint: endpoint)
        return try await withCheckedThrowingContinuation { answered in
            note(key) { $0.add(Offer(request: request, principal: principal, answered: answered)) }
        }
    }

    private func answer(_ offer: Offer, _ key: Key) async {
        do {
            offer.answered.resume(returning: try await leg(offer.request, key, offer.principal))
            count("answered")
        } catch {
            offer.answered.resume(throwing: error)
            count("refused")
        }
    }

    private func leg(_ request: OfferLeg, _ key: Key, _ principal: Principal) async throws -> AnsweredLeg {
        let commands = commands
        let sources = request.sources ?? [:]
        try commands.check(request.offer, sources: sources)
        _ = try await store.read { try commands.callForLeg(key.call, by: principal, at: $0.now, in: $0) }
        guard let legs else { throw Problem(.unavailable, "The media gateway does not run yet.", retryAfter: 1000) }
        let answer: LegAnswer
        do {
            answer = try await legs.answer(
                LegOffer(
                    call: key.call, user: principal.user, endpoint: key.endpoint, sdp: request.offer.sdp,
                    sources: sources))
        } catch let refusal as LegRefusal {
            throw Problem(refusal)
        }
        let others = doors.users(in: key.call)
        let slots = notices.withLock { $0[key]?.settle(answer.slots) ?? answer.slots }
        do {
            let written = try await store.write {
                try $0.checkSignedIn(principal)
                return try commands.legAnswered(
                    key.call, showing: slots, also: others, by: principal, at: $0.now, in: $0)
            } committed: { [self] _ in
                // In the order of the commits: the end of the sign-in, or of the part in the call, comes before or after.
                makers.withLock { $0[key] = Maker(user: principal.user, signIn: principal.signIn) }
            }
            return AnsweredLeg(sdp: answer.sdp, outcome: written.value, positions: written.positions)
        } catch {
            // The endpoint has left meanwhile, or may do nothing any more, or could not be told.
            makers.withLock { $0[key] = nil }
            legs.end(call: key.call, endpoint: key.endpoint)
            throw error
        }
    }

    func want(_ request: WantSlots, in call: CallID, by principal: Principal) async throws -> [SlotWish] {
        guard let endpoint = principal.endpoint else { throw Problem.invalid("endpoint", "Name the endpoint.") }
        let commands = commands
        try commands.check(request.slots)
        _ = try await store.read { try commands.callForLeg(call, by: principal, at: $0.now, in: $0) }
        guard let legs else { throw Problem(.unavailable, "The media gateway does not run yet.", retryAfter: 1000) }
        guard let wishes = await legs.want(request.slots, call: call, endpoint: endpoint) else {
            throw Problem(.conflict, "This endpoint has no leg in the call's media gateway: offer one first.")
        }
        try commands.check(request.slots, against: wishes)
        return wishes
    }

    private func count(_ outcome: String) {
        Counter(label: "gateway_offers_total", dimensions: [("outcome", outcome)]).increment()
    }
}

// What the gateway tells.
extension GatewayLink: LegObserver {
    func legIsConnected(call: CallID, endpoint: EndpointID) {
        guard !voices.connected(endpoint) else { return }
        note(Key(call: call, endpoint: endpoint)) { $0.addConnected() }
    }

    func legShows(_ slots: [LegSlot], call: CallID, endpoint: EndpointID) {
        guard !doors.holds(endpoint), !voices.holds(endpoint) else { return }
        note(Key(call: call, endpoint: endpoint)) { $0.add(slots) }
    }

    func legIsOutdated(call: CallID, endpoint: EndpointID) {
        guard !doors.holds(endpoint) else { return }
        note(Key(call: call, endpoint: endpoint)) { $0.addOutdated() }
    }

    func legIsAlive(call: CallID, endpoint: EndpointID) {
        let key = Key(call: call, endpoint: endpoint)
        guard doors.holds(endpoint) || makers.withLock({ $0[key] != nil }) else { return }
        clock?.renew(endpoint)
    }

    func legEnded(because reason: LegEndReason, call: CallID, endpoint: EndpointID) {
        guard !doors.ended(endpoint, because: reason), !voices.ended(endpoint, because: reason) else { return }
        note(Key(call: call, endpoint: endpoint)) { $0.add(reason) }
    }
}

import Calls
import Logging
import Metrics
import Model
import Storage
import Synchronization
import WebAPI

/// Coordinates calls and the media gateway: passes offers to the gateway, and writes the events of legs into the
/// mailboxes of their endpoints.
///
/// Legs of WHIP and WHEP have no mailbox: `WHIPSessions` handles their events. Legs of voice messages have no call:
/// `VoiceRecorder` handles them.
///
/// The gateway notifies on threads that forward packets, so nothing is written there: the notices of a leg are queued
/// and handled in order by one task of that leg.
final class LegCoordinator: Sendable {
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

    /// The user and the sign-in that made the leg of an endpoint.
    private struct Owner: Sendable {
        var user: UserID
        var signIn: SignInID?
    }

    let whipSessions: WHIPSessions
    let voiceRecorder = VoiceRecorder(logger: Logger(label: "voice"))
    let recorder = CallRecorder(logger: Logger(label: "recorder"))
    private let store: Store
    private let commands: CallCommands
    private let logger: Logger
    private let parts = Mutex(Parts())
    private let notices = Mutex<[Key: LegNotices<Offer>]>([:])
    /// The owners of the legs of endpoints in calls. Only media of these legs renews leases.
    private let owners = Mutex<[Key: Owner]>([:])

    init(store: Store, commands: CallCommands, logger: Logger) {
        self.store = store
        self.commands = commands
        self.logger = logger
        whipSessions = WHIPSessions(store: store, commands: commands, logger: logger)
    }

    /// Sets the dependencies. Called before the server listens.
    func open(_ legs: (any MediaLegs)?, _ clock: CallClock) {
        parts.withLock { $0 = Parts(legs: legs, clock: clock) }
        whipSessions.open(legs, clock)
    }

    private var legs: (any MediaLegs)? { parts.withLock { $0.legs } }
    private var clock: CallClock? { parts.withLock { $0.clock } }

    /// The endpoint has left the call. Called on the store's writer thread.
    func endLeg(in call: CallID, of endpoint: EndpointID) {
        // A session of WHIP or WHEP stays beside the endpoint that replaced it; if the user has left, `userLeft`
        // follows.
        guard !whipSessions.holds(endpoint) else { return }
        let key = Key(call: call, endpoint: endpoint)
        owners.withLock { $0[key] = nil }
        notices.withLock { notices in
            notices[key]?.forget()
            if notices[key]?.isIdle ?? false { notices[key] = nil }
        }
        legs?.end(call: call, endpoint: endpoint)
    }

    /// Called after the commit that ended sign-ins: every leg that was made with one of them ends, and no longer renews
    /// a lease.
    func signInsEnded(_ signIns: [SignInID]) {
        let ended = Set(signIns)
        endLegs { _, signIn in signIn.map { ended.contains($0) } ?? false }
    }

    /// The user is disabled, also with tokens of an external issuer.
    func userDisabled(_ user: UserID) {
        endLegs { owner, _ in owner == user }
    }

    private func endLegs(ownedBy isOver: @escaping @Sendable (UserID, SignInID?) -> Bool) {
        whipSessions.end(openedBy: isOver)
        voiceRecorder.end(begunBy: isOver)
        let over = owners.withLock { owners in
            let over = owners.filter { isOver($0.value.user, $0.value.signIn) }.keys
            for key in over { owners[key] = nil }
            return Array(over)
        }
        for key in over { legs?.end(call: key.call, endpoint: key.endpoint) }
    }

    private func note(_ key: Key, _ add: (inout LegNotices<Offer>) -> Void) {
        let begins = notices.withLock { notices in
            add(&notices[key, default: LegNotices()])
            return notices[key]?.beginProcessing() ?? false
        }
        if begins { Task { await work(key) } }
    }

    private func work(_ key: Key) async {
        while let job = take(key) {
            do {
                switch job {
                case .answer(let offer): await answer(offer, key)
                case .connected: try await recordConnected(key)
                case .ended(let reason): try await notifyEnd(reason, key)
                case .outdated: try await notifyOutdated(key)
                case .shows(let slots): try await notifyShown(slots, key)
                }
            } catch {
                logger.error("a leg's endpoint could not be notified", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .seconds(1))
                notices.withLock { $0[key]?.requeue(job) }
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

    private func notifyShown(_ slots: [LegSlot], _ key: Key) async throws {
        let commands = commands
        let others = whipSessions.users(in: key.call)
        let isNotified = try await store.write {
            try commands.legSlotsChanged(slots, also: others, call: key.call, endpoint: key.endpoint, in: $0)
        }.value
        if !isNotified { legs?.end(call: key.call, endpoint: key.endpoint) }
    }

    private func recordConnected(_ key: Key) async throws {
        let commands = commands
        let clock = clock
        _ = try await store.write {
            try commands.legConnected(call: key.call, endpoint: key.endpoint, at: $0.now, in: $0)
        } committed: {
            clock?.perform($0?.effects ?? [])
        }
    }

    private func notifyOutdated(_ key: Key) async throws {
        let commands = commands
        _ = try await store.write { try commands.legNeedsRenegotiation(call: key.call, endpoint: key.endpoint, in: $0) }
    }

    private func notifyEnd(_ reason: LegEndReason, _ key: Key) async throws {
        let commands = commands
        _ = try await store.write {
            try commands.legEnded(because: reason, call: key.call, endpoint: key.endpoint, in: $0)
        }
    }
}

// Offers.
extension LegCoordinator: LegService {
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
        guard let legs else { throw Problem(.unavailable, "The media gateway is not running yet.", retryAfter: 1000) }
        let answer: LegAnswer
        do {
            answer = try await legs.answer(
                LegOffer(
                    call: key.call, user: principal.user, endpoint: key.endpoint, sdp: request.offer.sdp,
                    sources: sources))
        } catch let rejection as LegRejection {
            throw Problem(rejection)
        }
        let others = whipSessions.users(in: key.call)
        let slots = notices.withLock { $0[key]?.reconcile(answer.slots) ?? answer.slots }
        do {
            let written = try await store.write {
                try $0.checkSignedIn(principal)
                return try commands.legAnswered(
                    key.call, showing: slots, also: others, by: principal, at: $0.now, in: $0)
            } committed: { [self] _ in
                // In the order of the commits, so that the end of the sign-in or the leaving of the call is not missed.
                owners.withLock { $0[key] = Owner(user: principal.user, signIn: principal.signIn) }
            }
            return AnsweredLeg(sdp: answer.sdp, outcome: written.value, positions: written.positions)
        } catch {
            // The endpoint has left meanwhile, its user is signed out, or the store failed.
            owners.withLock { $0[key] = nil }
            legs.end(call: key.call, endpoint: key.endpoint)
            throw error
        }
    }

    func setPreferences(_ request: WantSlots, in call: CallID, by principal: Principal) async throws -> [SlotPreference]
    {
        guard let endpoint = principal.endpoint else { throw Problem.invalid("endpoint", "Name the endpoint.") }
        let commands = commands
        try commands.check(request.slots)
        _ = try await store.read { try commands.callForLeg(call, by: principal, at: $0.now, in: $0) }
        guard let legs else { throw Problem(.unavailable, "The media gateway is not running yet.", retryAfter: 1000) }
        guard let preferences = await legs.setPreferences(request.slots, call: call, endpoint: endpoint) else {
            throw Problem(.conflict, "This endpoint has no leg in the call's media gateway: send an offer first.")
        }
        try commands.check(request.slots, against: preferences)
        return preferences
    }

    private func count(_ outcome: String) {
        Counter(label: "gateway_offers_total", dimensions: [("outcome", outcome)]).increment()
    }
}

// Events of the gateway.
extension LegCoordinator: LegObserver {
    func legIsConnected(call: CallID, endpoint: EndpointID) {
        guard !voiceRecorder.connected(endpoint) else { return }
        note(Key(call: call, endpoint: endpoint)) { $0.addConnected() }
    }

    func legSlotsChanged(_ slots: [LegSlot], call: CallID, endpoint: EndpointID) {
        guard !whipSessions.holds(endpoint), !voiceRecorder.holds(endpoint) else { return }
        note(Key(call: call, endpoint: endpoint)) { $0.add(slots) }
    }

    func legNeedsRenegotiation(call: CallID, endpoint: EndpointID) {
        guard !whipSessions.holds(endpoint) else { return }
        note(Key(call: call, endpoint: endpoint)) { $0.addOutdated() }
    }

    func legIsAlive(call: CallID, endpoint: EndpointID) {
        let key = Key(call: call, endpoint: endpoint)
        guard whipSessions.holds(endpoint) || owners.withLock({ $0[key] != nil }) else { return }
        clock?.renew(endpoint)
    }

    func legEnded(because reason: LegEndReason, call: CallID, endpoint: EndpointID) {
        guard !whipSessions.ended(endpoint, because: reason), !voiceRecorder.ended(endpoint, because: reason)
        else { return }
        note(Key(call: call, endpoint: endpoint)) { $0.add(reason) }
    }
}

package import Calls
package import Logging
import Metrics
package import Model
import ServiceLifecycle
import Storage

/// Coordinates calls and the media gateway: passes offers to the gateway, and writes the events of legs into the
/// mailboxes of their endpoints.
///
/// Legs of WHIP and WHEP have no mailbox: `WHIPSessions` handles their events. Legs of voice messages have no call:
/// `VoiceRecorder` handles them.
package final class LegCoordinator: Service {
    private let calls: CallService
    private let gateway: GatewayLegs?
    private let registry: LegRegistry
    private let whip: WHIPSessions
    private let voice: VoiceRecorder
    private let logger: Logger

    /// - Parameter gateway: nil if this process runs none.
    package init(
        calls: CallService, gateway: GatewayLegs?, registry: LegRegistry, whip: WHIPSessions, voice: VoiceRecorder,
        logger: Logger
    ) {
        self.calls = calls
        self.gateway = gateway
        self.registry = registry
        self.whip = whip
        self.voice = voice
        self.logger = logger
    }

    /// Handles offers and events of legs until the server stops.
    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                for await leg in registry.legsWithJobs { group.addTask { await self.process(leg) } }
            }
        }
    }

    /// Called after the commit that ended sign-ins: every leg that was made with one of them ends, and no longer renews
    /// a lease.
    package func signInsEnded(_ signIns: [SignInID]) {
        let ended = Set(signIns)
        endLegs { _, signIn in signIn.map { ended.contains($0) } ?? false }
    }

    /// The user is disabled, also with tokens of an external issuer.
    package func userDisabled(_ user: UserID) {
        endLegs { owner, _ in owner == user }
    }

    private func endLegs(ownedBy isOver: @escaping @Sendable (UserID, SignInID?) -> Bool) {
        whip.end(openedBy: isOver)
        voice.end(begunBy: isOver)
        for leg in registry.removeAll(ownedBy: isOver) { gateway?.end(leg) }
    }

    // MARK: Jobs of a leg

    private func process(_ leg: CallLeg) async {
        while let job = registry.next(leg) {
            do {
                switch job {
                case .answer(let offer): await answer(offer, leg)
                case .connected: try await connected(leg)
                case .ended(let reason): try await ended(because: reason, leg)
                case .outdated: try await notifyOutdated(leg)
                case .shows(let slots): try await notifyShown(slots, leg)
                }
            } catch {
                logger.error("a leg's endpoint could not be notified", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .seconds(1))
                registry.requeue(job, of: leg)
            }
        }
    }

    private func connected(_ leg: CallLeg) async throws {
        guard !voice.connected(leg.endpoint) else { return }
        try await calls.note { store, commands in
            try commands.legConnected(call: leg.call, endpoint: leg.endpoint, at: store.now, in: store)
        }
    }

    private func notifyShown(_ slots: [LegSlot], _ leg: CallLeg) async throws {
        guard !whip.holds(leg.endpoint), !voice.holds(leg.endpoint) else { return }
        let commands = calls.commands
        let others = whip.users(in: leg.call)
        let isNotified = try await calls.store.write {
            try commands.legSlotsChanged(slots, also: others, call: leg.call, endpoint: leg.endpoint, in: $0)
        }.value
        if !isNotified { gateway?.end(leg) }
    }

    private func notifyOutdated(_ leg: CallLeg) async throws {
        guard !whip.holds(leg.endpoint) else { return }
        let commands = calls.commands
        _ = try await calls.store.write {
            try commands.legNeedsRenegotiation(call: leg.call, endpoint: leg.endpoint, in: $0)
        }
    }

    private func ended(because reason: LegEndReason, _ leg: CallLeg) async throws {
        guard !whip.ended(leg.endpoint, because: reason), !voice.ended(leg.endpoint, because: reason) else { return }
        let commands = calls.commands
        _ = try await calls.store.write {
            try commands.legEnded(because: reason, call: leg.call, endpoint: leg.endpoint, in: $0)
        }
    }
}

// Requests of endpoints.
extension LegCoordinator {
    /// Answers an offer of the principal's endpoint. Throws a `Problem` if it fails.
    package func answer(_ request: OfferLeg, in call: CallID, by principal: Principal) async throws -> AnsweredLeg {
        guard let endpoint = principal.endpoint else { throw Problem.invalid("endpoint", "Name the endpoint.") }
        return try await withCheckedThrowingContinuation { answered in
            registry.add(
                .init(request: request, principal: principal, answered: answered),
                to: CallLeg(call: call, endpoint: endpoint))
        }
    }

    private func answer(_ offer: LegRegistry.Offer, _ leg: CallLeg) async {
        do {
            offer.answered.resume(returning: try await answer(offer.request, leg, offer.principal))
            count("answered")
        } catch {
            offer.answered.resume(throwing: error)
            count("refused")
        }
    }

    private func answer(_ request: OfferLeg, _ leg: CallLeg, _ principal: Principal) async throws -> AnsweredLeg {
        let commands = calls.commands
        let sources = request.sources ?? [:]
        try commands.check(request.offer, sources: sources)
        _ = try await calls.store.read { try commands.callForLeg(leg.call, by: principal, at: $0.now, in: $0) }
        guard let gateway else { throw Problem.noGateway }
        let answer = try await gateway.answer(request.offer.sdp, of: leg, sources: sources)
        let others = whip.users(in: leg.call)
        let slots = registry.reconcile(answer.slots, of: leg)
        do {
            let written = try await calls.store.write {
                try $0.checkSignedIn(principal)
                return try commands.legAnswered(
                    leg.call, showing: slots, also: others, by: principal, at: $0.now, in: $0)
            } committed: { [registry] _ in
                // In the order of the commits, so that the end of the sign-in or the leaving of the call is not missed.
                registry.setOwner(.init(user: principal.user, signIn: principal.signIn), of: leg)
            }
            return AnsweredLeg(
                sdp: answer.sdp, outcome: written.value, positions: written.positions, rejected: answer.rejected)
        } catch {
            // The endpoint has left meanwhile, its user is signed out, or the store failed.
            registry.setOwner(nil, of: leg)
            gateway.end(leg)
            throw error
        }
    }

    /// Sets the preferred quality of video slots of the endpoint's leg. Returns the preferences of all of them.
    package func setPreferences(
        _ request: WantSlots, in call: CallID, by principal: Principal
    ) async throws -> [SlotPreference] {
        guard let endpoint = principal.endpoint else { throw Problem.invalid("endpoint", "Name the endpoint.") }
        let commands = calls.commands
        try commands.check(request.slots)
        _ = try await calls.store.read { try commands.callForLeg(call, by: principal, at: $0.now, in: $0) }
        guard let gateway else { throw Problem.noGateway }
        let leg = CallLeg(call: call, endpoint: endpoint)
        guard let preferences = await gateway.setPreferences(request.slots, on: leg) else {
            throw Problem(.conflict, "This endpoint has no leg in the call's media gateway: send an offer first.")
        }
        try commands.check(request.slots, against: preferences)
        return preferences
    }

    private func count(_ outcome: String) {
        Counter(label: "gateway_offers_total", dimensions: [("outcome", outcome)]).increment()
    }
}

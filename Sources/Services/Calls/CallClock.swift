import Bus
import Calls
import DatagramIO
import Logging
import Metrics
import Model
import Realtime
import Relay
import ServiceLifecycle
import Storage
import Synchronization
import WebAPI

/// The clock of calls: fires their deadlines, watches the leases of their participants, and performs the effects of
/// commands outside the store.
///
/// All of its state is derived from rows: after a start the deadlines and leases are read from them, and each lease is
/// restarted.
final class CallClock: CallEffectPerformer, Service {
    private struct State {
        var times: CallTimes
        var live: Set<CallID> = []
        /// Calls with captions.
        var captioned: Set<CallID> = []
    }

    private let store: Store
    private let commands: CallCommands
    private let hub: RealtimeHub
    private let bus: any EventBus
    private let relay: RelayServer?
    private let coordinator: LegCoordinator
    private let logger: Logger
    private let state: Mutex<State>
    /// Who was in a call when the server started.
    private let restored = Mutex<[CallLeases.Holder]>([])
    private let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let ended = Counter(label: "calls_ended_total")
    private let rings = Counter(label: "calls_rings_total")

    init(
        store: Store, commands: CallCommands, leaseSeconds: Int64, hub: RealtimeHub, bus: any EventBus,
        relay: RelayServer?, coordinator: LegCoordinator, logger: Logger
    ) {
        self.store = store
        self.commands = commands
        self.hub = hub
        self.bus = bus
        self.relay = relay
        self.coordinator = coordinator
        self.logger = logger
        state = Mutex(State(times: CallTimes(leaseSeconds: leaseSeconds, at: .now)))
    }

    /// How many deadlines and leases are watched.
    var load: (deadlines: Int, leases: Int) { state.withLock { ($0.times.deadlineCount, $0.times.leaseCount) } }

    /// How many calls are ringing or active.
    var liveCalls: Int { state.withLock { $0.live.count } }

    // MARK: Effects of commands

    func perform(_ effects: [CallEffect]) {
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: CallEffect) {
        switch effect {
        case .attachUser(let user, let stream): hub.attach(user: user, stream: stream)
        case .attachEndpoint(let endpoint, let stream): hub.attach(endpoint: endpoint, stream: stream)
        case .dropEndpoint(let endpoint, let stream): hub.drop(endpoint: endpoint, from: stream)
        case .detach(let stream): hub.detach(stream: stream)
        case .schedule(let deadline): schedule(deadline)
        case .unschedule(let key): state.withLock { $0.times.unschedule(key) }
        case .leaseStarted(let call, let user, let endpoint):
            let holder = CallLeases.Holder(call: call, user: user, endpoint: endpoint)
            state.withLock { state in
                state.live.insert(call)
                state.times.startLease(holder, at: .now)
            }
            // The endpoint may have detached while its request was processed, before it had a lease.
            if !isPresent(endpoint) { noteDetached(endpoint, of: user) }
        case .leaseRenewed(let call, let user): state.withLock { $0.times.renewLease(call, user, at: .now) }
        case .leaseEnded(let call, let user):
            state.withLock { $0.times.endLease(call, user) }
            coordinator.whipSessions.userLeft(call, user)
        case .relayEnded(let call, let user):
            relay?.revoke(
                user: user.text, in: call.text, credentialSeconds: ICEServerIssuer.maximumLifetimeSeconds)
        case .ringPush: rings.increment()
        case .legEnded(let call, let endpoint): coordinator.endLeg(in: call, of: endpoint)
        case .recordingBegan(let call, let recording): coordinator.recorder.begin(recording, of: call)
        case .recordingEnded(let call, _): coordinator.recorder.end(call)
        case .captionsBegan(let call):
            _ = state.withLock { $0.captioned.insert(call) }
            coordinator.recorder.caption(call)
        case .captionsEnded(let call):
            _ = state.withLock { $0.captioned.remove(call) }
            coordinator.recorder.uncaption(call)
        case .caption(let call, let json, let audience):
            bus.publish(EphemeralEvent(stream: .captions(call), data: json, audience: audience))
        case .ended(let call):
            ended.increment()
            _ = state.withLock { $0.live.remove(call) }
            relay?.revoke(call: call.text, credentialSeconds: ICEServerIssuer.maximumLifetimeSeconds)
        }
    }

    private func schedule(_ deadline: CallDeadline) {
        let remaining = Duration.milliseconds(deadline.at.milliseconds(since: Timestamp.systemClock()))
        let isFirst = state.withLock { $0.times.schedule(deadline, in: remaining, at: .now) }
        if isFirst { wake.continuation.yield() }
    }

    /// Removes a disabled user from every live call.
    func withdraw(_ user: UserID) {
        note { [commands] in try commands.withdraw(user, at: $0.now, in: $0) }
    }

    /// Removes a user from the calls that they joined with sign-ins that have ended.
    func signedOut(_ signIns: [SignInID], of user: UserID) {
        note { [commands] in try commands.signedOut(Set(signIns), of: user, at: $0.now, in: $0) }
    }

    // MARK: Time

    /// Fires deadlines and watches leases until the server stops.
    func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.fireDeadlines() }
                group.addTask { await self.watchLeases() }
                group.addTask { await self.noteMissing() }
            }
        }
    }

    /// Schedules every deadline and lease that is stored, and moves calls to the new gateway epoch. Called before the
    /// server listens.
    func restore() async throws {
        let commands = commands
        _ = try await store.write { transaction in
            try commands.gatewayRestarted(at: transaction.now, in: transaction)
        } committed: { [self] outcomes in
            for outcome in outcomes { perform(outcome.effects) }
        }
        let (deadlines, holders, byWHIP) = try await store.read { transaction in
            let holders = try commands.leases(in: transaction)
            // Endpoints without a client were made for sessions of WHIP and WHEP.
            let byWHIP = try holders.filter { try transaction.endpoint($0.endpoint) == nil }
            return (try commands.deadlines(in: transaction), holders, byWHIP)
        }
        coordinator.whipSessions.expect(byWHIP)
        for deadline in deadlines { schedule(deadline) }
        state.withLock { state in
            for holder in holders {
                state.live.insert(holder.call)
                state.times.startLease(holder, at: .now)
            }
        }
        restored.withLock { $0 = holders }
        if !deadlines.isEmpty || !holders.isEmpty {
            logger.info("resumed calls", metadata: ["deadlines": "\(deadlines.count)", "leases": "\(holders.count)"])
        }
    }

    /// After a restart, marks endpoints as detached that have not reconnected within a few seconds, so that a caller
    /// whose tab was closed during the restart can call again.
    private func noteMissing() async {
        try? await Task.sleep(for: .seconds(5))
        guard !Task.isCancelled else { return }
        let holders = restored.withLock { holders in
            defer { holders = [] }
            return holders
        }
        for holder in holders where !hub.isConnected(holder.endpoint) {
            note { [commands] in try commands.detached(holder.endpoint, of: holder.user, at: $0.now, in: $0) }
        }
    }

    private func fireDeadlines() async {
        var timer: Task<Void, Never>?
        wake.continuation.yield()
        for await _ in wake.stream {
            let due = state.withLock { $0.times.takeDue(at: .now) }
            await withDiscardingTaskGroup { group in
                for deadline in due { group.addTask { await self.fire(deadline) } }
            }
            timer?.cancel()
            guard let next = state.withLock({ $0.times.nextDeadline() }) else { continue }
            timer = Task { [wake] in
                try? await Task.sleep(until: next, clock: .continuous)
                if !Task.isCancelled { wake.continuation.yield() }
            }
        }
        timer?.cancel()
    }

    private func fire(_ deadline: CallDeadline) async {
        await attempt("deadline") { [commands] transaction in
            // The wall clock may lag behind the monotonic one: the deadline is reached all the same.
            let now = max(transaction.now, deadline.at)
            return try commands.expire(deadline, at: now, in: transaction).map { [$0] } ?? []
        } retry: {
            self.schedule(deadline)
        }
    }

    private func watchLeases() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: CallTimes.tickInterval)
            let lapsed = state.withLock { $0.times.tick(at: .now) }
            // The next tick does not wait for it: a late tick counts as a stall.
            for holder in lapsed { Task { await lapse(holder) } }
        }
    }

    private func lapse(_ holder: CallLeases.Holder) async {
        await attempt("lease") { [commands] transaction in
            try commands.leaseLapsed(holder.call, holder.user, at: transaction.now, in: transaction)
                .map { [$0] } ?? []
        } retry: {
            self.state.withLock { $0.times.startLease(holder, at: .now) }
        }
    }

    /// Runs a command of the clock itself. If the store fails, it is retried a second later.
    private func attempt(
        _ what: String, _ command: @escaping @Sendable (StoreTransaction) throws -> [CallOutcome],
        retry: @escaping @Sendable () -> Void
    ) async {
        do {
            _ = try await store.write(command) { [self] outcomes in
                for outcome in outcomes { perform(outcome.effects) }
            }
        } catch {
            logger.error("\(what) failed", metadata: ["error": "\(error)"])
            try? await Task.sleep(for: .seconds(1))
            retry()
        }
    }
}

// Leases are renewed by the sessions of the endpoints that are in calls.
extension CallClock: SessionObserver {
    func attached(endpoint: EndpointID, user: UserID, session: SessionID) {
        guard renew(endpoint) else { return }
        let captioned = state.withLock { state in
            state.times.calls(of: endpoint).filter { state.captioned.contains($0) }
        }
        for call in captioned { hub.attach(endpoint: endpoint, stream: .captions(call)) }
        note { [commands] in try commands.attached(endpoint, of: user, at: $0.now, in: $0) }
    }

    func detached(endpoint: EndpointID, user: UserID, session: SessionID) {
        // The endpoint may have reconnected in another session before this one was found to be gone.
        guard !hub.isConnected(endpoint), renew(endpoint) else { return }
        noteDetached(endpoint, of: user)
    }

    func alive(endpoint: EndpointID, user: UserID, session: SessionID) { renew(endpoint) }

    /// Renews the endpoint's leases. Returns false if it has none: then it is in no call, and no transaction is needed.
    @discardableResult
    func renew(_ endpoint: EndpointID) -> Bool {
        state.withLock { $0.times.renewLeases(of: endpoint, at: .now) }
    }

    private func noteDetached(_ endpoint: EndpointID, of user: UserID) {
        note { [self] in isPresent(endpoint) ? [] : try commands.detached(endpoint, of: user, at: $0.now, in: $0) }
    }

    /// Whether the endpoint is connected, or is a session of WHIP or WHEP, which needs no connection.
    private func isPresent(_ endpoint: EndpointID) -> Bool {
        hub.isConnected(endpoint) || coordinator.whipSessions.holds(endpoint)
    }

    /// Records an event from outside the store.
    private func note(_ command: @escaping @Sendable (StoreTransaction) throws -> [CallOutcome]) {
        Task { await attempt("notice", command, retry: {}) }
    }
}

extension CallTimes.Moment {
    static var now: Self { Self(awake: SystemClock.now(), continuous: .now) }
}

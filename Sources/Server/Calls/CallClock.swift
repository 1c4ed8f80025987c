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

/// Keeps the time of calls: fires their deadlines, watches the leases of their participants, and carries out what
/// commands leave to be done outside the store.
///
/// Everything that it holds follows from the rows: after a start the deadlines and leases are read from them, and each
/// lease starts anew.
final class CallClock: CallEffectPerformer, Service {
    private struct State {
        var times: CallTimes
        var live: Set<CallID> = []
        /// Of which there are captions.
        var captioned: Set<CallID> = []
    }

    private let store: Store
    private let commands: CallCommands
    private let hub: RealtimeHub
    private let bus: any EventBus
    private let relay: RelayServer?
    private let gateway: GatewayLink
    private let logger: Logger
    private let state: Mutex<State>
    /// Who was in a call when the server started.
    private let restored = Mutex<[CallLeases.Holder]>([])
    private let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let ended = Counter(label: "calls_ended_total")
    private let rings = Counter(label: "calls_rings_total")

    init(
        store: Store, commands: CallCommands, leaseSeconds: Int64, hub: RealtimeHub, bus: any EventBus,
        relay: RelayServer?,
        gateway: GatewayLink, logger: Logger
    ) {
        self.store = store
        self.commands = commands
        self.hub = hub
        self.bus = bus
        self.relay = relay
        self.gateway = gateway
        self.logger = logger
        state = Mutex(State(times: CallTimes(leaseSeconds: leaseSeconds, at: .now)))
    }

    /// How many deadlines and leases are watched.
    var load: (deadlines: Int, leases: Int) { state.withLock { ($0.times.deadlineCount, $0.times.leaseCount) } }

    /// How many calls ring or go on.
    var liveCalls: Int { state.withLock { $0.live.count } }

    // MARK: What follows from commands

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
            // It may have gone while its request was under way, before there was a lease that could tell.
            if !isPresent(endpoint) { noteDetached(endpoint, of: user) }
        case .leaseRenewed(let call, let user): state.withLock { $0.times.renewLease(call, user, at: .now) }
        case .leaseEnded(let call, let user):
            state.withLock { $0.times.endLease(call, user) }
            gateway.doors.userLeft(call, user)
        case .relayEnded(let call, let user):
            relay?.revoke(
                user: user.text, in: call.text, credentialSeconds: ICEServerIssuer.maximumLifetimeSeconds)
        case .ringPush: rings.increment()
        case .legEnded(let call, let endpoint): gateway.endLeg(in: call, of: endpoint)
        case .recordingBegan(let call, let recording): gateway.recorder.begin(recording, of: call)
        case .recordingEnded(let call, _): gateway.recorder.end(call)
        case .captionsBegan(let call):
            _ = state.withLock { $0.captioned.insert(call) }
            gateway.recorder.caption(call)
        case .captionsEnded(let call):
            _ = state.withLock { $0.captioned.remove(call) }
            gateway.recorder.uncaption(call)
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

    /// Takes a disabled user out of every live call.
    func withdraw(_ user: UserID) {
        note { [commands] in try commands.withdraw(user, at: $0.now, in: $0) }
    }

    /// Takes a user out of what they had joined by sign-ins that have ended.
    func signedOut(_ signIns: [SignInID], of user: UserID) {
        note { [commands] in try commands.signedOut(Set(signIns), of: user, at: $0.now, in: $0) }
    }

    // MARK: Time

    /// Reads what has to be watched, then watches it until the server stops.
    func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.fireDeadlines() }
                group.addTask { await self.watchLeases() }
                group.addTask { await self.noteMissing() }
            }
        }
    }

    /// Arms every deadline and lease that the rows know of, and has endpoints join this life of the gateway; before the
    /// doors open.
    func restore() async throws {
        let commands = commands
        _ = try await store.write { transaction in
            try commands.renewGateway(at: transaction.now, in: transaction)
        } committed: { [self] outcomes in
            for outcome in outcomes { perform(outcome.effects) }
        }
        let (deadlines, holders, byDoor) = try await store.read { transaction in
            let holders = try commands.leases(in: transaction)
            // Endpoints that no client has ever named were made for doors.
            let byDoor = try holders.filter { try transaction.endpoint($0.endpoint) == nil }
            return (try commands.deadlines(in: transaction), holders, byDoor)
        }
        gateway.doors.expect(byDoor)
        for deadline in deadlines { schedule(deadline) }
        state.withLock { state in
            for holder in holders {
                state.live.insert(holder.call)
                state.times.startLease(holder, at: .now)
            }
        }
        restored.withLock { $0 = holders }
        if !deadlines.isEmpty || !holders.isEmpty {
            logger.info("calls go on", metadata: ["deadlines": "\(deadlines.count)", "leases": "\(holders.count)"])
        }
    }

    /// After a restart, notes as detached whoever has not come back within a few seconds: a caller whose tab died with
    /// the server may then call again, and nobody's ghost is in the way.
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
            try? await Task.sleep(for: CallTimes.look)
            let lapsed = state.withLock { $0.times.look(at: .now) }
            // The next look does not wait for it: it would find that nobody has looked.
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

    /// Runs a command of the clock's own; when the store fails it is tried again a second later.
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

// Leases live on the sessions of the endpoints that are in calls.
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
        // The endpoint may have come back through another session before this one was noticed to be gone.
        guard !hub.isConnected(endpoint), renew(endpoint) else { return }
        noteDetached(endpoint, of: user)
    }

    func heard(endpoint: EndpointID, user: UserID, session: SessionID) { renew(endpoint) }

    /// Renews the endpoint's leases. False when it has none: it is in no call, and costs no transaction.
    @discardableResult
    func renew(_ endpoint: EndpointID) -> Bool {
        state.withLock { $0.times.renewLeases(of: endpoint, at: .now) }
    }

    private func noteDetached(_ endpoint: EndpointID, of user: UserID) {
        note { [self] in isPresent(endpoint) ? [] : try commands.detached(endpoint, of: user, at: $0.now, in: $0) }
    }

    /// Whether the endpoint can be told of its calls, or needs to hear nothing.
    private func isPresent(_ endpoint: EndpointID) -> Bool {
        hub.isConnected(endpoint) || gateway.doors.holds(endpoint)
    }

    /// Notes in the rows what was seen outside of them.
    private func note(_ command: @escaping @Sendable (StoreTransaction) throws -> [CallOutcome]) {
        Task { await attempt("notice", command, retry: {}) }
    }
}

extension CallTimes.Moment {
    static var now: Self { Self(awake: SystemClock.now(), continuous: .now) }
}

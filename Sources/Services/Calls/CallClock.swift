import Calls
package import Logging
package import Model
package import Realtime
import ServiceLifecycle
import Storage
import Synchronization

/// The clock of calls: fires their deadlines, and watches the leases of their participants.
///
/// All of its state is derived from rows: after a start the deadlines and leases are read from them, and each lease is
/// restarted.
package final class CallClock: Service {
    private let calls: CallService
    private let timers: CallTimers
    private let hub: RealtimeHub
    private let sessions: WHIPRegistry
    private let detachedEndpoints: DetachedEndpoints
    private let logger: Logger
    /// Who was in a call when the server started.
    private let restored = Mutex<[CallLeases.Holder]>([])

    package init(
        calls: CallService, timers: CallTimers, hub: RealtimeHub, sessions: WHIPRegistry, detached: DetachedEndpoints,
        logger: Logger
    ) {
        self.calls = calls
        self.timers = timers
        self.hub = hub
        self.sessions = sessions
        detachedEndpoints = detached
        self.logger = logger
    }

    /// Removes a disabled user from every live call.
    package func withdraw(_ user: UserID) {
        note { store, commands in try commands.withdraw(user, at: store.now, in: store) }
    }

    /// Removes a user from the calls that they joined with sign-ins that have ended.
    package func signedOut(_ signIns: [SignInID], of user: UserID) {
        note { store, commands in try commands.signedOut(Set(signIns), of: user, at: store.now, in: store) }
    }

    /// Fires deadlines and watches leases until the server stops.
    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.fireDeadlines() }
                group.addTask { await self.watchLeases() }
                group.addTask { await self.noteMissing() }
                group.addTask {
                    for await each in self.detachedEndpoints.all { self.noteDetached(each.endpoint, of: each.user) }
                }
            }
        }
    }

    /// Schedules every deadline and lease that is stored, and moves calls to the new gateway epoch. Called before the
    /// server listens.
    package func restore() async throws {
        try await calls.noteAll { store, commands in try commands.gatewayRestarted(at: store.now, in: store) }
        let commands = calls.commands
        let (deadlines, holders, byWHIP) = try await calls.store.read { store in
            let holders = try commands.leases(in: store)
            // Endpoints without a client were made for sessions of WHIP and WHEP.
            let byWHIP = try holders.filter { try store.endpoint($0.endpoint) == nil }
            return (try commands.deadlines(in: store), holders, byWHIP)
        }
        sessions.expect(byWHIP)
        for deadline in deadlines { timers.schedule(deadline) }
        for holder in holders { timers.startLease(holder) }
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
            note { store, commands in
                try commands.detached(holder.endpoint, of: holder.user, at: store.now, in: store)
            }
        }
    }

    private func fireDeadlines() async {
        var timer: Task<Void, Never>?
        timers.wakeClock()
        for await _ in timers.wakes {
            let due = timers.takeDue()
            await withDiscardingTaskGroup { group in
                for deadline in due { group.addTask { await self.fire(deadline) } }
            }
            timer?.cancel()
            guard let next = timers.nextDeadline() else { continue }
            timer = Task { [timers] in
                try? await Task.sleep(until: next, clock: .continuous)
                if !Task.isCancelled { timers.wakeClock() }
            }
        }
        timer?.cancel()
    }

    private func fire(_ deadline: CallDeadline) async {
        await attempt("deadline") { store, commands in
            // The wall clock may lag behind the monotonic one: the deadline is reached all the same.
            let now = max(store.now, deadline.at)
            return try commands.expire(deadline, at: now, in: store).map { [$0] } ?? []
        } retry: {
            self.timers.schedule(deadline)
        }
    }

    private func watchLeases() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: CallTimes.tickInterval)
            // The next tick does not wait for it: a late tick counts as a stall.
            for holder in timers.tick() { Task { await lapse(holder) } }
        }
    }

    private func lapse(_ holder: CallLeases.Holder) async {
        await attempt("lease") { store, commands in
            try commands.leaseLapsed(holder.call, holder.user, at: store.now, in: store).map { [$0] } ?? []
        } retry: {
            self.timers.startLease(holder)
        }
    }

    /// Records an event from outside the store.
    private func note(_ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> [CallOutcome]) {
        Task { await attempt("notice", command, retry: {}) }
    }

    /// Runs a command of the clock itself. If the store fails, it is retried a second later.
    private func attempt(
        _ what: String, _ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> [CallOutcome],
        retry: @escaping @Sendable () -> Void
    ) async {
        do {
            try await calls.noteAll(command)
        } catch {
            // A full disk is logged once, and not for each call and second.
            if (error as? SQLError)?.kind != .diskFull {
                logger.error("\(what) failed", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: .seconds(1))
            retry()
        }
    }
}

// Leases are renewed by the sessions of the endpoints that are in calls.
extension CallClock: SessionObserver {
    package func attached(endpoint: EndpointID, user: UserID, session: SessionID) {
        guard timers.renewLeases(of: endpoint) else { return }
        for call in timers.captionedCalls(of: endpoint) { hub.attach(endpoint: endpoint, stream: .captions(call)) }
        note { store, commands in try commands.attached(endpoint, of: user, at: store.now, in: store) }
    }

    package func detached(endpoint: EndpointID, user: UserID, session: SessionID) {
        // The endpoint may have reconnected in another session before this one was found to be gone.
        guard !hub.isConnected(endpoint), timers.renewLeases(of: endpoint) else { return }
        noteDetached(endpoint, of: user)
    }

    package func alive(endpoint: EndpointID, user: UserID, session: SessionID) { timers.renewLeases(of: endpoint) }

    private func noteDetached(_ endpoint: EndpointID, of user: UserID) {
        note { [detachedEndpoints] store, commands in
            detachedEndpoints.isPresent(endpoint)
                ? [] : try commands.detached(endpoint, of: user, at: store.now, in: store)
        }
    }
}

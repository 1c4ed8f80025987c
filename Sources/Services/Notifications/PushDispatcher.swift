import Accounts
import Calls
package import Logging
package import Model
package import Notifications
import ServiceLifecycle
package import Storage
import Synchronization
import Webhooks

/// Tells sleeping devices what has happened, at least once each: what a process has claimed and not settled is due again
/// after its lease, and a repeat replaces on the screen what it repeats.
///
/// What to do is decided by `PushQueue`; here are the transactions, one at a time, and the requests. A source, one row for a
/// conversation or call that has changed, becomes a push for each device, a page at a time; a push is composed when it is
/// sent, from what is then.
package final class PushDispatcher: Service {
    package struct Presence: Sendable {
        /// Whether an endpoint has a session.
        var isConnected: @Sendable (EndpointID) -> Bool
        /// How long ago its client last sent a message.
        var silence: @Sendable (EndpointID) -> Duration?

        package init(
            isConnected: @escaping @Sendable (EndpointID) -> Bool,
            silence: @escaping @Sendable (EndpointID) -> Duration?
        ) {
            self.isConnected = isConnected
            self.silence = silence
        }
    }

    package struct Limits: Sendable {
        /// Candidates of a source that are read and written together.
        package var page = 32
        /// How long a device that seems to be there has to say something; and how long it is waited for at most, where one
        /// message follows the other.
        package var confirmation = Duration.seconds(3)
        package var maxConfirmation = Duration.seconds(10)
        /// From one push of a conversation to a device to the next.
        package var interval = Duration.seconds(2)
        /// Devices of a large group that are told in a second.
        package var devicesPerSecond = 500
        /// How long attempts may go on when the server stops.
        package var grace = Duration.seconds(3)
        /// Pushes that are composed in one transaction.
        package var composed = 16

        package init() {}
    }

    /// How long claims last that another process might have made.
    static let leaseMilliseconds = PushQueue.Limits().leaseMilliseconds

    let store: Store
    let composer: NotificationComposer
    let sender: any PushSender
    let sealer: any PushSealer
    let presence: Presence
    /// By what devices are told: others' registrations wait for better times.
    let kinds: Set<PushKind>
    /// Large groups are told page by page, by turns.
    let largeGroups = ConcurrencyLimiter(maxConcurrent: 1, maxWaiting: .max)
    let limits: Limits
    let clock: @Sendable () -> Timestamp
    /// From 0 to 1.
    let random: @Sendable () -> Double
    let logger: Logger
    let state: Mutex<State>
    private let isGraceOver = Atomic(false)
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let metrics = PushMetrics()

    struct NotifiedKey: Hashable {
        var registration: Int64
        var topic: PushTopic
    }

    struct Notified {
        var at: Timestamp
        var number: Int64
    }

    struct State {
        var queue: PushQueue
        /// When the loop will be woken.
        var alarms: [Timestamp] = []
        /// What devices were last told of conversations.
        var notified = RecentMap<NotifiedKey, Notified>(capacity: 50_000)
        /// Why the last attempt of a kind failed; none if it did not.
        var failures: [PushKind: PushHealth.Failure] = [:]

        func nextAlarm(at now: Timestamp) -> Timestamp? {
            guard let deadline = queue.deadline(at: now) else { return nil }
            return alarms.contains { now < $0 && $0 <= deadline } ? nil : deadline
        }
    }

    package init(
        store: Store, composer: NotificationComposer, sender: any PushSender, sealer: any PushSealer,
        presence: Presence, kinds: Set<PushKind>, limits: Limits = Limits(),
        lanes: PushLanes.Limits = PushLanes.Limits(),
        clock: @escaping @Sendable () -> Timestamp, random: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        logger: Logger
    ) {
        self.store = store
        self.composer = composer
        self.sender = sender
        self.sealer = sealer
        self.presence = presence
        self.kinds = kinds
        self.limits = limits
        self.clock = clock
        self.random = random
        self.logger = logger
        state = Mutex(State(queue: PushQueue(lanes: lanes)))
        store.observePushes { [weak self] due in self?.notify(due: due) }
    }

    /// Adds what is known of registrations and of what waits.
    package func describe(_ health: inout PushHealth) async throws {
        let (counts, waiting) = try await store.read { (try $0.registrationCounts(), try $0.waitingPushes()) }
        let (now, failures) = (clock(), state.withLock { $0.failures })
        health.kinds = PushKind.allCases.map { kind in
            var one = PushHealth.Kind(kind)
            one.registrations = counts[kind] ?? 0
            one.waiting = waiting[kind]?.count ?? 0
            one.oldestSeconds = waiting[kind].map { max(0, Double(now.milliseconds(since: $0.oldest)) / 1_000) } ?? 0
            one.failure = failures[kind]
            return one
        }
    }

    func wake() { wakes.continuation.yield() }

    func notify(due: Timestamp) {
        let now = clock()
        let mustWake = state.withLock { state in
            state.queue.notify(due: due)
            return state.nextAlarm(at: now) != nil
        }
        if mustWake { wake() }
    }

    // MARK: The loop

    package func run() async {
        await withGracefulShutdownHandler {
            await work()
        } onGracefulShutdown: {
            self.stop()
        }
    }

    private func stop() {
        state.withLock { $0.queue.stop() }
        wake()
        Task {
            try? await Task.sleep(for: limits.grace)
            isGraceOver.store(true, ordering: .relaxed)
            wake()
        }
    }

    /// Runs until it is stopped and all is settled, or the task is cancelled.
    private func work() async {
        await releaseClaims()
        await withDiscardingTaskGroup { group in
            var woken = wakes.stream.makeAsyncIterator()
            while !Task.isCancelled {
                let now = clock()
                let (work, alarm, isFinished) = state.withLock { state in
                    let work = state.queue.work(at: now)
                    let alarm = state.nextAlarm(at: now)
                    if let alarm { state.alarms.append(alarm) }
                    return (work, alarm, state.queue.isFinished)
                }
                if isFinished { break }
                if let work {
                    let claimed = await perform(work)
                    for source in claimed.sources { group.addTask { await self.expand(source) } }
                    var rest = claimed.pushes[...]
                    while !rest.isEmpty {
                        let batch = Array(rest.prefix(limits.composed))
                        rest = rest.dropFirst(limits.composed)
                        group.addTask { await self.deliver(batch) }
                    }
                    wake()
                }
                if isGraceOver.load(ordering: .relaxed) { group.cancelAll() }
                if let alarm {
                    group.addTask {
                        try? await Task.sleep(for: .milliseconds(max(1, alarm.milliseconds(since: now))))
                        self.state.withLock { state in state.alarms.removeAll { $0 == alarm } }
                        self.wake()
                    }
                }
                _ = await woken.next()
            }
            group.cancelAll()
        }
    }

    /// What an earlier process had claimed is due at once.
    private func releaseClaims() async {
        while !Task.isCancelled {
            do {
                _ = try await store.write { try $0.releaseClaimedPushes() }
                return
            } catch {
                logger.error("pushes cannot be read", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private struct Claimed: Sendable {
        var sources: [PushSource] = []
        var pushes: [PushRecord] = []
        var next: Timestamp?
    }

    /// Settles and claims, in one transaction.
    private func perform(_ work: PushQueue.Work) async -> Claimed {
        do {
            let claimed = try await store.write { store in
                try store.settle(work.settlements)
                var claimed = Claimed()
                if work.claims {
                    claimed.sources = try store.claimPushSources(limit: work.sources, until: work.leaseUntil)
                    claimed.pushes = try store.claimPushes(limit: work.pushes, until: work.leaseUntil)
                }
                claimed.next = try store.nextPush()
                return claimed
            }.value
            state.withLock {
                $0.queue.complete(
                    work, sources: claimed.sources.count, calls: claimed.sources.count(where: \.topic.isCall),
                    pushes: claimed.pushes.count, next: claimed.next,
                    at: clock())
            }
            return claimed
        } catch {
            state.withLock { $0.queue.fail(work, at: clock()) }
            logger.error("pushes cannot be stored", metadata: ["error": "\(error)"])
            return Claimed()
        }
    }
}

extension Duration {
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

package import Logging
import Metrics
package import Model
package import Providers
import ServiceLifecycle
package import Storage
import Synchronization
package import Webhooks

/// Delivers events to the addresses of webhooks, at least once each: a delivery that is lost with its process is sent
/// again after its lease, with the same `webhook-id`.
///
/// What to do is decided by `DeliveryQueue`; here are the transactions, one at a time, and the requests.
package final class WebhookDispatcher: Service {
    /// How long attempts may go on when the server stops.
    private static let grace = Duration.seconds(3)

    private let store: Store
    private let transport: any WebhookTransport
    private let sealer: any SecretSealer
    private let clock: @Sendable () -> Timestamp
    /// From 0 to 1.
    private let random: @Sendable () -> Double
    private let logger: Logger
    private let queue: Mutex<DeliveryQueue>
    private let isGraceOver = Atomic(false)
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let metrics = DeliveryMetrics()
    /// Webhooks whose last attempt failed, so that only a change is logged.
    private let failing = Mutex<Set<WebhookID>>([])

    /// - Parameter random: from 0 to 1, for the delays before retries.
    package convenience init(
        store: Store, transport: any WebhookTransport, sealer: any SecretSealer,
        clock: @escaping @Sendable () -> Timestamp, random: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        logger: Logger
    ) {
        self.init(
            store: store, transport: transport, sealer: sealer, clock: clock, random: random, logger: logger,
            limits: DeliveryQueue.Limits())
    }

    init(
        store: Store, transport: any WebhookTransport, sealer: any SecretSealer,
        clock: @escaping @Sendable () -> Timestamp, random: @escaping @Sendable () -> Double, logger: Logger,
        limits: DeliveryQueue.Limits
    ) {
        self.store = store
        self.transport = transport
        self.sealer = sealer
        self.clock = clock
        self.random = random
        self.logger = logger
        queue = Mutex(DeliveryQueue(limits: limits))
        store.observeEvents { [weak self] notice in self?.apply(notice) }
    }

    /// Attempts that have begun and not ended.
    package var inFlight: Int { queue.withLock { $0.inFlight } }

    private func apply(_ notice: EventNotice) {
        guard notice.hasChangedWebhooks || !notice.webhooks.isEmpty else { return }
        queue.withLock { queue in
            if notice.hasChangedWebhooks { queue.reload() }
            queue.notify(notice.webhooks)
        }
        wake()
    }

    func wake() { wakes.continuation.yield() }

    // MARK: The loop

    package func run() async {
        await withGracefulShutdownHandler {
            await work()
        } onGracefulShutdown: {
            self.stop()
        }
    }

    private func stop() {
        queue.withLock { $0.stop(at: clock()) }
        wake()
        Task {
            try? await Task.sleep(for: Self.grace)
            isGraceOver.store(true, ordering: .relaxed)
            wake()
        }
    }

    private struct Step {
        var attempts: [DeliveryQueue.Attempt]
        var work: DeliveryQueue.Work?
        var deadline: Timestamp?
        var isFinished: Bool
    }

    /// Runs until it is stopped and all is settled, or the task is cancelled.
    private func work() async {
        await withDiscardingTaskGroup { group in
            var woken = wakes.stream.makeAsyncIterator()
            while !Task.isCancelled {
                let now = clock()
                let step = queue.withLock { queue in
                    let attempts = queue.begin(at: now)
                    let work = queue.work(at: now)
                    return Step(
                        attempts: attempts, work: work, deadline: queue.deadline(at: now),
                        isFinished: queue.isFinished)
                }
                if step.isFinished { return }
                for attempt in step.attempts { group.addTask { await self.send(attempt) } }
                if let work = step.work { group.addTask { await self.perform(work) } }
                if isGraceOver.load(ordering: .relaxed) { group.cancelAll() }
                let timer = step.deadline.map { deadline in
                    Task {
                        try await Task.sleep(for: .milliseconds(max(1, deadline.milliseconds(since: now))))
                        wake()
                    }
                }
                _ = await woken.next()
                timer?.cancel()
            }
        }
    }
}

// MARK: Attempts

extension WebhookDispatcher {
    private func send(_ attempt: DeliveryQueue.Attempt) async {
        let (claim, began) = (attempt.claim, ContinuousClock.now)
        let start = clock()
        let message = WebhookMessage(
            id: claim.event.id.text, body: Array(claim.event.payload(at: start).utf8),
            secrets: attempt.target.secrets(at: start))
        let result: AttemptResult
        do throws(ProviderFailure) {
            result = .response(try await transport.send(message, to: attempt.target.url))
        } catch {
            result = error == .cancelled && Task.isCancelled ? .cancelled : .noResponse(error)
        }
        let now = clock()
        let settlement = RetrySchedule.settlement(of: claim, after: result, random: random(), at: now)
        let duration = ContinuousClock.now - began
        queue.withLock { $0.finish(attempt, settlement, duration: duration, at: now) }
        wake()
        metrics.attempted(settlement, duration: duration)
        if case .delivered = settlement { metrics.delivered(after: now.milliseconds(since: claim.event.at)) }
        report(result, of: claim.delivery.webhook)
    }

    /// Logs that a webhook begins to fail or works again; without what it responded, which is others' text.
    private func report(_ result: AttemptResult, of webhook: WebhookID) {
        let reason: String
        switch result {
        case .cancelled: return
        case .response(let response) where response.isSuccess:
            let failed = failing.withLock { $0.remove(webhook) != nil }
            if failed { logger.notice("a webhook works again", metadata: ["webhook": "\(webhook)"]) }
            return
        case .response(let response): reason = "it responded \(response.status)"
        case .noResponse(let failure): reason = "\(failure)"
        }
        let isFirst = failing.withLock { failing in
            // Webhooks that were removed meanwhile are forgotten some day.
            if failing.count > 2 * WebhookLimits.webhooks { failing = [] }
            return failing.insert(webhook).inserted
        }
        guard isFirst else { return }
        logger.warning("a webhook fails", metadata: ["webhook": "\(webhook)", "reason": "\(reason)"])
    }
}

// MARK: Transactions

extension WebhookDispatcher {
    private struct Outcome: Sendable {
        var settled: Set<Int64> = []
        var targets: [DeliveryTarget]?
        var claimed: [WebhookID: DeliveryQueue.Claimed] = [:]
        var unreadable: [WebhookID] = []
    }

    /// Settles, reads the webhooks and claims, in one transaction.
    private func perform(_ work: DeliveryQueue.Work) async {
        let sealer = sealer
        do {
            let outcome = try await store.write { store in
                var outcome = Outcome()
                outcome.settled = try store.settle(work.settlements)
                if work.reloads { (outcome.targets, outcome.unreadable) = try Self.targets(in: store, sealer) }
                for (webhook, limit) in work.claims {
                    let found = try store.claimDeliveries(of: webhook, limit: limit, until: work.leaseUntil)
                    let next = found.count < limit ? try store.nextDelivery(of: webhook) : store.now
                    outcome.claimed[webhook] = DeliveryQueue.Claimed(deliveries: found, next: next)
                }
                return outcome
            }.value
            queue.withLock {
                $0.complete(work, targets: outcome.targets, claimed: outcome.claimed, at: clock())
            }
            wake()
            report(work.settlements, outcome)
        } catch {
            queue.withLock { $0.fail(work, at: clock()) }
            wake()
            logger.error("deliveries of webhooks cannot be stored", metadata: ["error": "\(error)"])
        }
    }

    /// The enabled webhooks with an address. One whose secret cannot be opened is disabled.
    private static func targets(
        in store: StoreTransaction, _ sealer: any SecretSealer
    ) throws -> (targets: [DeliveryTarget], unreadable: [WebhookID]) {
        var targets: [DeliveryTarget] = []
        var unreadable: [WebhookID] = []
        for var webhook in try store.webhooks() where webhook.isEnabled {
            do {
                if let target = try DeliveryTarget(webhook, sealer) { targets.append(target) }
            } catch {
                webhook.disabledAt = store.now
                webhook.disabledReason = "Its secret was sealed with another webhooks-key: rotate it, then enable it."
                try store.update(webhook)
                unreadable.append(webhook.id)
            }
        }
        return (targets, unreadable)
    }

    private func report(_ settlements: [Settlement], _ outcome: Outcome) {
        for settlement in settlements where outcome.settled.contains(settlement.delivery) {
            metrics.settled(settlement.result)
            guard case .disabled(let reason) = settlement.result else { continue }
            logger.warning(
                "a webhook is disabled", metadata: ["webhook": "\(settlement.webhook)", "reason": "\(reason)"])
        }
        for webhook in outcome.unreadable {
            logger.error(
                "a webhook is disabled, since its secret cannot be opened", metadata: ["webhook": "\(webhook)"])
        }
    }
}

// MARK: Stats

/// Numbers of all webhooks together.
package struct WebhookStats: Hashable, Sendable {
    package var waiting: Int64 = 0
    /// Since they were added.
    package var dropped: Int64 = 0
    /// The age of the oldest delivery that waits, in seconds.
    package var oldestSeconds = 0.0
    package var inFlight = 0
    package var disabled = 0
}

extension WebhookDispatcher {
    package func stats() async throws -> WebhookStats {
        var stats = try await store.read { store in
            var stats = WebhookStats()
            for webhook in try store.webhooks() {
                stats.dropped += webhook.dropped
                guard webhook.isEnabled else {
                    stats.disabled += 1
                    continue
                }
                stats.waiting += webhook.waiting
                guard webhook.waiting > 0, let oldest = try store.oldestWaiting(of: webhook.id) else { continue }
                stats.oldestSeconds = max(stats.oldestSeconds, Double(store.now.milliseconds(since: oldest)) / 1_000)
            }
            return stats
        }
        stats.inFlight = inFlight
        return stats
    }
}

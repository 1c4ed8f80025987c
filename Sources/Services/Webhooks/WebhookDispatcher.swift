package import Logging
import Metrics
package import Model
package import Providers
import ServiceLifecycle
package import Storage
import Synchronization
package import Webhooks

/// Delivers events to the addresses of webhooks, at least once each: a delivery that is lost with its process is sent
/// again when the next one begins, or after its lease, with the same `webhook-id`.
///
/// What to do is decided by `DeliveryQueue`; here are the transactions, one at a time, and the requests. What ends a request
/// seldom wakes the loop: the task of an attempt goes on with the next one of its webhook, and settlements wait for others.
package final class WebhookDispatcher: Service {
    /// How long attempts may go on when the server stops.
    private static let grace = Duration.seconds(3)

    let store: Store
    private let transport: any WebhookTransport
    private let sealer: any SecretSealer
    private let clock: @Sendable () -> Timestamp
    /// From 0 to 1.
    private let random: @Sendable () -> Double
    private let logger: Logger
    private let state: Mutex<State>
    private let isGraceOver = Atomic(false)
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let metrics = DeliveryMetrics()
    /// Webhooks whose last attempt failed, so that only a change is logged.
    private let failing = Mutex<Set<WebhookID>>([])

    private struct State {
        var queue: DeliveryQueue
        /// When the loop will be woken; few at a time, since one is added only if it is the earliest.
        var alarms: [Timestamp] = []

        /// When the loop has to be woken, if that is before all alarms.
        func nextAlarm(at now: Timestamp) -> Timestamp? {
            guard let deadline = queue.deadline(at: now) else { return nil }
            // One that is overdue was set before the clock was put forward.
            return alarms.contains { now < $0 && $0 <= deadline } ? nil : deadline
        }
    }

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
        state = Mutex(State(queue: DeliveryQueue(limits: limits)))
        store.claimNewDeliveries { [weak self] webhook, now in
            self?.state.withLock { $0.queue.reserve(webhook, at: now) }
        }
        store.observeEvents { [weak self] notice in self?.apply(notice) }
    }

    /// Attempts that have begun and not ended.
    package var inFlight: Int { state.withLock { $0.queue.inFlight } }

    private func apply(_ notice: EventNotice) {
        guard notice.hasChangedWebhooks || !notice.webhooks.isEmpty || !notice.claims.isEmpty else { return }
        state.withLock { state in
            if notice.hasChangedWebhooks { state.queue.reload() }
            state.queue.notify(notice.webhooks)
            state.queue.accept(notice.claims, at: clock())
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
        state.withLock { $0.queue.stop(at: clock()) }
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
        /// When the loop is to be woken, unless it is woken before that anyhow.
        var alarm: Timestamp?
        var isFinished: Bool
    }

    /// Runs until it is stopped and all is settled, or the task is cancelled.
    private func work() async {
        await withDiscardingTaskGroup { group in
            var woken = wakes.stream.makeAsyncIterator()
            while !Task.isCancelled {
                let now = clock()
                let step = step(at: now)
                if step.isFinished { break }
                for attempt in step.attempts { group.addTask { await self.send(attempt) } }
                if let work = step.work { group.addTask { await self.perform(work) } }
                if isGraceOver.load(ordering: .relaxed) { group.cancelAll() }
                if let alarm = step.alarm {
                    group.addTask {
                        try? await Task.sleep(for: .milliseconds(max(1, alarm.milliseconds(since: now))))
                        self.alarm(alarm)
                    }
                }
                _ = await woken.next()
            }
            group.cancelAll()
        }
    }

    private func step(at now: Timestamp) -> Step {
        state.withLock { state in
            let attempts = state.queue.begin(at: now)
            let work = state.queue.work(at: now)
            let alarm = state.nextAlarm(at: now)
            if let alarm { state.alarms.append(alarm) }
            return Step(attempts: attempts, work: work, alarm: alarm, isFinished: state.queue.isFinished)
        }
    }

    private func alarm(_ time: Timestamp) {
        state.withLock { state in state.alarms.removeAll { $0 == time } }
        wake()
    }
}

// MARK: Attempts

extension WebhookDispatcher {
    /// Makes the attempt, and others of the webhook while there are any.
    private func send(_ first: DeliveryQueue.Attempt) async {
        var next: DeliveryQueue.Attempt? = first
        while let attempt = next { next = await make(attempt) }
    }

    /// Returns the next attempt of the webhook, for which it has left a slot.
    private func make(_ attempt: DeliveryQueue.Attempt) async -> DeliveryQueue.Attempt? {
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
        let (next, needsLoop) = state.withLock { state in
            state.queue.finish(attempt, settlement, duration: duration, at: now)
            let next = Task.isCancelled ? nil : state.queue.begin(claim.delivery.webhook, at: now)
            return (next, state.queue.isFinished || state.nextAlarm(at: now) != nil)
        }
        if needsLoop { wake() }
        metrics.attempted(settlement, duration: duration)
        if case .delivered = settlement { metrics.delivered(after: now.milliseconds(since: claim.event.at)) }
        report(result, of: claim.delivery.webhook)
        return next
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
        var disabled: [Disabled] = []
    }

    private struct Disabled {
        var webhook: WebhookID
        var reason: String
    }

    /// Settles, reads the webhooks and claims, in one transaction.
    private func perform(_ work: DeliveryQueue.Work) async {
        let sealer = sealer
        do {
            let outcome = try await store.write { store in
                var outcome = Outcome()
                outcome.settled = try store.settle(work.settlements)
                if work.reloads { (outcome.targets, outcome.disabled) = try Self.targets(in: store, sealer) }
                for (webhook, limit) in work.claims {
                    let found = try store.claimDeliveries(of: webhook, limit: limit, until: work.leaseUntil)
                    let next = found.count < limit ? try store.nextDelivery(of: webhook) : store.now
                    outcome.claimed[webhook] = DeliveryQueue.Claimed(deliveries: found, next: next)
                }
                return outcome
            }.value
            state.withLock {
                $0.queue.complete(work, targets: outcome.targets, claimed: outcome.claimed, at: clock())
            }
            wake()
            report(work.settlements, outcome)
        } catch {
            state.withLock { $0.queue.fail(work, at: clock()) }
            wake()
            logger.error("deliveries of webhooks cannot be stored", metadata: ["error": "\(error)"])
        }
    }

    /// The enabled webhooks with an address. One whose URL or secret cannot be read is disabled.
    private static func targets(
        in store: StoreTransaction, _ sealer: any SecretSealer
    ) throws -> (targets: [DeliveryTarget], disabled: [Disabled]) {
        var targets: [DeliveryTarget] = []
        var disabled: [Disabled] = []
        for var webhook in try store.webhooks() where webhook.isEnabled {
            guard let text = webhook.url else { continue }
            let reason: String
            if let url = WebhookURL(text) {
                do {
                    targets.append(try DeliveryTarget(webhook, at: url, sealer))
                    continue
                } catch {
                    reason = "Its secret was sealed with another webhooks-key: rotate it, then enable it."
                }
            } else {
                reason = "Its URL is not valid: add a webhook with another one."
            }
            (webhook.disabledAt, webhook.disabledReason) = (store.now, reason)
            try store.update(webhook)
            disabled.append(Disabled(webhook: webhook.id, reason: reason))
        }
        return (targets, disabled)
    }

    private func report(_ settlements: [Settlement], _ outcome: Outcome) {
        for settlement in settlements where outcome.settled.contains(settlement.delivery) {
            metrics.settled(settlement.result)
            guard case .disabled(let reason) = settlement.result else { continue }
            logger.warning(
                "a webhook is disabled", metadata: ["webhook": "\(settlement.webhook)", "reason": "\(reason)"])
        }
        for disabled in outcome.disabled {
            logger.error(
                "a webhook is disabled",
                metadata: ["webhook": "\(disabled.webhook)", "reason": "\(disabled.reason)"])
        }
    }
}

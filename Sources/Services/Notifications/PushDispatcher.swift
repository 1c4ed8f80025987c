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
        package var page = 64
        /// How long a device that seems to be there has to say something; and how long it is waited for at most, where one
        /// message follows the other.
        package var confirmation = Duration.seconds(3)
        package var longestConfirmation = Duration.seconds(10)
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

    /// Seconds for which services keep a push.
    private static let maxTimeToLive = 28 * 86_400
    /// A ring that has ended is of no interest later.
    private static let endTimeToLive = 600
    /// Seconds in which a push is tried that no service takes.
    private static let lifetime: Int64 = 3 * 86_400
    /// How long claims last that another process might have made.
    private static let leaseMilliseconds = PushQueue.Limits().leaseMilliseconds

    private let store: Store
    private let composer: NotificationComposer
    private let sender: any PushSender
    private let sealer: any PushSealer
    private let presence: Presence
    /// By what devices are told: others' registrations wait for better times.
    private let kinds: Set<PushKind>
    /// Large groups are told one after the other.
    private let largeGroups = ConcurrencyLimiter(maxConcurrent: 1, maxWaiting: .max)
    private let limits: Limits
    private let clock: @Sendable () -> Timestamp
    /// From 0 to 1.
    private let random: @Sendable () -> Double
    private let logger: Logger
    private let state: Mutex<State>
    private let isGraceOver = Atomic(false)
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let metrics = PushMetrics()

    private struct NotifiedKey: Hashable {
        var registration: Int64
        var topic: PushTopic
    }

    private struct Notified {
        var at: Timestamp
        var number: Int64
    }

    private struct State {
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
        store.observePushes { [weak self] in
            self?.state.withLock { $0.queue.notify() }
            self?.wake()
        }
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

    private func wake() { wakes.continuation.yield() }

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

// MARK: Sources

extension PushDispatcher {
    /// The claim of a source is over: somebody else has it.
    private struct ClaimLost: Error {}

    /// Writes the pushes of a source, a page at a time.
    private func expand(_ source: PushSource) async {
        do {
            var count = 0
            switch source.topic {
            case .conversation(let id): count = try await expand(source, in: id)
            case .call(let id): try await expand(source, of: id)
            }
            // A large group is told at intervals of all that came meanwhile.
            let delay = count > limits.page ? limits.interval.milliseconds : 0
            let next = clock().adding(milliseconds: delay)
            _ = try await store.write { try $0.finish(source, next: next) }
        } catch is ClaimLost {
            // Whoever has it goes on.
        } catch {
            if !Task.isCancelled {
                logger.error("pushes cannot be stored", metadata: ["error": "\(error)"])
            }
            let next = clock().adding(milliseconds: 1_000)
            _ = try? await store.write { try $0.release(source, until: next) }
        }
        state.withLock { $0.queue.expanded(isCall: source.topic.isCall) }
        wake()
    }

    private func expand(_ source: PushSource, in conversation: ConversationID) async throws -> Int {
        let first = try await expand(source, in: conversation, after: nil)
        guard first.count == limits.page else { return first.count }
        return try await largeGroups.withSlot {
            var (last, count) = (first.last, first.count)
            while !Task.isCancelled {
                let page = try await self.expand(source, in: conversation, after: last)
                count += page.count
                guard page.count == self.limits.page else { break }
                last = page.last
                // Others write in between.
                try await Task.sleep(for: .seconds(1) * page.count / max(1, self.limits.devicesPerSecond))
            }
            return count
        }
    }

    private func expand(
        _ source: PushSource, in conversation: ConversationID, after last: PushCandidate?
    ) async throws -> [PushCandidate] {
        let page = try await store.read { [limits] store in
            let author = try store.onlyAuthor(in: conversation, after: source.after, upTo: source.upTo)
            return try store.pushCandidates(in: conversation, but: author, after: last, limit: limits.page)
        }
        if !page.isEmpty { try await save(page, of: source) { _ in false } }
        return page
    }

    private func expand(_ source: PushSource, of id: CallID) async throws {
        let (candidates, notified) = try await store.read { store -> ([PushCandidate], Set<UserID>) in
            guard let call = try store.call(id) else { return ([], []) }
            let notified = call.participants.filter { participant in
                guard !participant.isWithheld else { return false }
                if case .missed = participant.state { return true }
                return participant.isRinging
            }.map(\.user)
            return (try store.pushCandidates(of: call.participants.map(\.user)), Set(notified))
        }
        var rest = candidates[...]
        while !rest.isEmpty {
            try await save(Array(rest.prefix(limits.page)), of: source) { !notified.contains($0.user) }
            rest = rest.dropFirst(limits.page)
        }
    }

    private func save(
        _ page: [PushCandidate], of source: PushSource, onlyKnown: (PushCandidate) -> Bool
    ) async throws {
        let now = clock()
        let confirmed = now.adding(milliseconds: limits.confirmation.milliseconds)
        let due = page.map { candidate in
            // What ends a ring does not wait: by then the state would be another one.
            let seemsThere = !onlyKnown(candidate) && candidate.endpoints.contains(where: presence.isConnected)
            let last = state.withLock {
                $0.notified[NotifiedKey(registration: candidate.registration, topic: source.topic)]
            }
            let earliest = last.map { $0.at.adding(milliseconds: limits.interval.milliseconds) } ?? now
            return (candidate.registration, max(earliest, seemsThere ? confirmed : now), onlyKnown(candidate))
        }
        let leaseUntil = now.adding(milliseconds: Self.leaseMilliseconds)
        let isCurrent = try await store.write { store in
            try store.savePushes(
                of: source, due: due.map { (registration: $0.0, at: $0.1, onlyKnown: $0.2) }, until: leaseUntil)
        }.value
        guard isCurrent else { throw ClaimLost() }
    }
}

// MARK: Pushes

extension PushDispatcher {
    /// A claimed push that has a slot.
    private struct Admitted: Sendable {
        var record: PushRecord
        var address: PushAddress
        var slot: PushLanes.Slot
    }

    private struct Composed: Sendable {
        var outcome: NotificationComposer.Outcome
        var endpoints: [EndpointID]
    }

    private func deliver(_ records: [PushRecord]) async {
        let admitted = records.compactMap { slot($0) }
        guard !admitted.isEmpty else { return }
        let composed: [Result<Composed, any Error>]
        do {
            composed = try await store.read { [composer] store in
                admitted.map { one in Result { try Self.compose(one.record, composer, store) } }
            }
        } catch {
            composed = admitted.map { _ in .failure(error) }
        }
        await withDiscardingTaskGroup { group in
            for (one, composed) in zip(admitted, composed) { group.addTask { await self.deliver(one, composed) } }
        }
    }

    /// Nil if it is settled: nothing is composed for what cannot be sent now.
    private func slot(_ record: PushRecord) -> Admitted? {
        let now = clock()
        guard kinds.contains(record.registration.kind) else {
            settle(record, .done(next: now))
            return nil
        }
        guard let address = sealer.address(of: record.registration) else {
            // It was sealed with another key.
            settle(record, .gone)
            return nil
        }
        var isRing = false
        if case .call = record.topic { isRing = true }
        let decision = state.withLock {
            $0.queue.begin(PushLanes.host(of: address), for: record.registration.user, isRing: isRing, at: now)
        }
        switch decision {
        case .begin(let slot): return Admitted(record: record, address: address, slot: slot)
        case .wait(let milliseconds):
            settle(record, .released(at: now.adding(milliseconds: milliseconds)))
            return nil
        }
    }

    private static func compose(
        _ record: PushRecord, _ composer: NotificationComposer, _ store: StoreTransaction
    ) throws -> Composed {
        let registration = record.registration
        let endpoints =
            try registration.endpoint.map { [$0] } ?? store.endpoints(of: registration.user, on: registration.device)
        return Composed(outcome: try composer.compose(record, in: store), endpoints: endpoints)
    }

    private func deliver(_ admitted: Admitted, _ composed: Result<Composed, any Error>) async {
        let record = admitted.record
        switch composed {
        case .failure(let error):
            if !Task.isCancelled { logger.error("a push cannot be read", metadata: ["error": "\(error)"]) }
            let now = clock()
            let end = record.changedAt.adding(seconds: Self.lifetime)
            let next = PushRetries.next(
                after: record.attempt + 1, isRing: false, until: end, retryAfter: nil, random: random(), at: now)
            finish(admitted, next.map { .retry(at: $0) } ?? .done(next: now))
        case .success(let composed):
            switch composed.outcome {
            case .nothing:
                metrics.count(.unneeded, record.registration.kind)
                finish(admitted, .done(next: clock()))
            case .rings: finish(admitted, .rings)
            case .later(let time): finish(admitted, .released(at: time))
            case .quiet: finish(admitted, .quiet)
            case .tell(let notification): await tell(notification, admitted, composed.endpoints)
            }
        }
    }

    private func tell(_ notification: Notification, _ admitted: Admitted, _ endpoints: [EndpointID]) async {
        let record = admitted.record
        let now = clock()
        if record.sent == nil {
            if let until = confirmation(of: record, endpoints, at: now) {
                return finish(admitted, .released(at: until))
            }
            if isThere(record, endpoints, at: now) || isNotified(notification, record) {
                metrics.count(.unneeded, record.registration.kind)
                return finish(admitted, .done(next: now), number: notification.number)
            }
        }
        await send(notification, admitted)
    }

    /// Until when a device that seems to be there may say so; nil if that is over.
    private func confirmation(of record: PushRecord, _ endpoints: [EndpointID], at now: Timestamp) -> Timestamp? {
        guard endpoints.contains(where: presence.isConnected) else { return nil }
        let wanted = record.changedAt.adding(milliseconds: limits.confirmation.milliseconds)
        let latest = record.createdAt.adding(milliseconds: limits.longestConfirmation.milliseconds)
        let until = min(wanted, latest)
        return now < until && !isThere(record, endpoints, at: now) ? until : nil
    }

    /// Whether the app on the device has said something since what the push would tell.
    private func isThere(_ record: PushRecord, _ endpoints: [EndpointID], at now: Timestamp) -> Bool {
        endpoints.contains { endpoint in
            guard let silence = presence.silence(endpoint) else { return false }
            return now.adding(milliseconds: -silence.milliseconds) > record.changedAt
        }
    }

    private func isNotified(_ notification: Notification, _ record: PushRecord) -> Bool {
        guard let number = notification.number else { return false }
        let last = state.withLock {
            $0.notified[NotifiedKey(registration: record.registration.id, topic: record.topic)]
        }
        return last.map { $0.number >= number } ?? false
    }

    private func send(_ notification: Notification, _ admitted: Admitted) async {
        let record = admitted.record
        let outcome = await sender.send(message(notification, for: record, to: admitted.address, at: clock()))
        let now = clock()
        let kind = record.registration.kind
        report(outcome, of: kind)
        switch outcome {
        case .delivered:
            let due = max(record.changedAt, record.quietUntil ?? record.changedAt)
            metrics.delivered(kind, after: now.milliseconds(since: due))
            let next = notified(notification, record, at: now)
            let result: PushSettlement.Result = notification.isRing ? .rings : .done(next: next)
            finish(admitted, result, number: notification.number, hasResponded: true)
        case .gone:
            metrics.count(.gone, kind)
            finish(admitted, .gone, hasResponded: true)
        case .rejected:
            metrics.count(.rejected, kind)
            finish(admitted, .done(next: now), hasResponded: true)
        case .retry(let retryAfter, _):
            finish(admitted, retry(notification, record, after: retryAfter, at: now), hasResponded: true)
        case .unreachable: finish(admitted, retry(notification, record, after: nil, at: now), hasResponded: false)
        case .cancelled: finish(admitted, .released(at: now))
        }
    }

    private func retry(
        _ notification: Notification, _ record: PushRecord, after retryAfter: Duration?, at now: Timestamp
    ) -> PushSettlement.Result {
        let (end, isRing) =
            switch notification.content {
            case .ring(_, _, let until): (until, true)
            case .ringEnded: (record.changedAt.adding(seconds: Int64(Self.endTimeToLive)), true)
            case .message, .missedCall: (record.changedAt.adding(seconds: Self.lifetime), false)
            }
        let next = PushRetries.next(
            after: record.attempt + 1, isRing: isRing, until: end, retryAfter: retryAfter,
            random: random(), at: now)
        metrics.count(next == nil ? .dropped : .retried, record.registration.kind)
        return next.map { .retry(at: $0) } ?? .done(next: now)
    }

    /// Notes that a device was told of a conversation. Returns when it is told of more of it.
    private func notified(_ notification: Notification, _ record: PushRecord, at now: Timestamp) -> Timestamp {
        guard let number = notification.number else { return now }
        let key = NotifiedKey(registration: record.registration.id, topic: record.topic)
        state.withLock { $0.notified[key] = Notified(at: now, number: number) }
        return now.adding(milliseconds: limits.interval.milliseconds)
    }

    private func message(
        _ notification: Notification, for record: PushRecord, to address: PushAddress, at now: Timestamp
    ) -> PushMessage {
        let seconds: Int
        switch notification.content {
        case .ring(_, _, let until): seconds = max(1, Int(until.milliseconds(since: now) / 1_000))
        case .ringEnded: seconds = Self.endTimeToLive
        case .message, .missedCall: seconds = Self.maxTimeToLive
        }
        return PushMessage(
            address: address, payload: Array(notification.json.utf8), secondsToLive: seconds,
            isUrgent: notification.isUrgent, topic: record.topic.text)
    }

    private func finish(
        _ admitted: Admitted, _ result: PushSettlement.Result, number: Int64? = nil, hasResponded: Bool? = nil
    ) {
        state.withLock { $0.queue.end(admitted.slot, hasResponded: hasResponded, at: clock()) }
        settle(admitted.record, result, number: number)
    }

    private func settle(_ record: PushRecord, _ result: PushSettlement.Result, number: Int64? = nil) {
        let now = clock()
        let mustWake = state.withLock { state in
            state.queue.settle(PushSettlement(record, result, number: number), at: now)
            return state.queue.isFinished || state.nextAlarm(at: now) != nil
        }
        if mustWake { wake() }
    }

    /// Logs that pushes begin to fail or work again, without anything of the device.
    private func report(_ outcome: PushOutcome, of kind: PushKind) {
        switch outcome {
        case .delivered:
            let failure = state.withLock { exchange(&$0.failures[kind], with: nil) }
            if failure != nil { logger.notice("pushes work again", metadata: ["kind": "\(kind)"]) }
        case .rejected(let reason), .retry(_, let reason), .unreachable(let reason):
            let now = clock()
            let isFirst = state.withLock { state in
                let before = state.failures[kind]
                state.failures[kind] = PushHealth.Failure(reason: reason, since: before?.since ?? now)
                return before == nil
            }
            guard isFirst else { return }
            logger.warning("a push fails", metadata: ["kind": "\(kind)", "reason": "\(reason)"])
        // No fault, but many at once are: of an address or a key that is for others.
        case .gone(let reason):
            state.withLock { $0.failures[kind] = nil }
            logger.info("a device is not known any more", metadata: ["kind": "\(kind)", "reason": "\(reason)"])
        case .cancelled: break
        }
    }
}

extension Notification {
    fileprivate var isRing: Bool {
        if case .ring = content { true } else { false }
    }

    /// Of the message that it tells.
    fileprivate var number: Int64? {
        if case .message(_, let number) = content { number } else { nil }
    }

    /// Wakes the device: who calls waits. What ends a ring has to come as soon, and a missed call is its end too.
    fileprivate var isUrgent: Bool {
        switch content {
        case .ring, .ringEnded, .missedCall: true
        case .message: false
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

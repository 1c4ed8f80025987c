import Accounts
import Logging
import Model
import Notifications
import Storage
import Synchronization

// Pushes are composed, sent and settled.
extension PushDispatcher {
    /// Seconds for which services keep a push.
    private static let maxTimeToLive = 28 * 86_400
    /// A ring that has ended is of no interest later.
    private static let endTimeToLive = 600
    /// Seconds in which a push is tried that no service takes.
    private static let lifetime: Int64 = 3 * 86_400

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

    func deliver(_ records: [PushRecord]) async {
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
        let latest = record.createdAt.adding(milliseconds: limits.maxConfirmation.milliseconds)
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

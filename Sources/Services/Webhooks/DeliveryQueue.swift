import Model
import Webhooks

/// Decides which deliveries are claimed, attempted and settled. It does no I/O.
///
/// Every webhook has slots of its own, so that one whose server never responds delays no other. Claims and settlements of
/// all webhooks go into one transaction at a time: what ends while it runs waits for the next one. A webhook that
/// responds quickly has further deliveries claimed ahead, so that its slots need not wait for a transaction; of one that
/// does not, no more are claimed than have a slot, and what cannot begin soon after its claim is released. Where nothing
/// waits, a new delivery is claimed by the transaction that writes it, and needs no other before its attempt.
struct DeliveryQueue {
    struct Limits: Sendable {
        /// Attempts at a time, of each webhook.
        var inFlight = 16
        /// Deliveries that are claimed in addition, of a webhook that responds quickly.
        var ahead = 64
        /// How quickly it has to respond for that.
        var quickResponse = Duration.milliseconds(250)
        /// Claims in one transaction, of all webhooks together.
        var claims = 512
        /// How long a claim lasts. It has time for the wait before the attempt, and for the attempt of 15 seconds.
        var leaseMilliseconds: Int64 = 30_000
        /// How long after its claim an attempt may begin.
        var waitMilliseconds: Int64 = 10_000
        /// How long a settlement waits for others, to share their transaction.
        var settleMilliseconds: Int64 = 100
        /// How many settlements need not wait.
        var settlements = 128
        /// After how long the rows are read again without a cause, in case others have written some.
        var pollMilliseconds: Int64 = 60_000
        /// How long nothing is tried after a transaction has failed.
        var pauseMilliseconds: Int64 = 1_000
    }

    /// A delivery to be sent now.
    struct Attempt: Sendable {
        var claim: ClaimedDelivery
        var target: DeliveryTarget
    }

    /// What the next transaction does, in this order.
    struct Work: Sendable {
        var settlements: [Settlement] = []
        /// Whether the webhooks are read again.
        var reloads = false
        var claims: [(webhook: WebhookID, limit: Int)] = []
        var leaseUntil: Timestamp
    }

    /// What a transaction found for one webhook.
    struct Claimed: Sendable {
        var deliveries: [ClaimedDelivery]
        /// When its next delivery is due.
        var next: Timestamp?
    }

    private struct Ready {
        var claim: ClaimedDelivery
        var beginsBefore: Timestamp
    }

    private struct Entry {
        var target: DeliveryTarget
        /// Claimed, without a slot yet; the first is attempted first.
        var ready: ArraySlice<Ready> = []
        /// Claimed by transactions that write them, and not known to be committed.
        var reserved = 0
        var inFlight = 0
        var isQuick = false
        /// When deliveries are due; nil if none wait.
        var due: Timestamp?
        /// Whether a delivery was written since the last transaction began.
        var isNotified = true
    }

    private let limits: Limits
    private var entries: [WebhookID: Entry] = [:]
    /// The order in which webhooks get their share of a transaction's claims.
    private var order: [WebhookID] = []
    private var settlements: [Settlement] = []
    private var oldestSettlement: Timestamp?
    private var needsReload = true
    private var reloadAt: Timestamp?
    private var pausedUntil: Timestamp?
    /// Attempts of webhooks that were removed or disabled meanwhile.
    private var orphaned: [WebhookID: Int] = [:]
    /// Whether a transaction runs.
    private var isWriting = false
    private(set) var isStopping = false

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Attempts that have begun and not ended.
    var inFlight: Int { entries.values.reduce(0) { $0 + $1.inFlight } + orphaned.values.reduce(0, +) }
    /// Whether it was stopped and everything is settled.
    var isFinished: Bool { isStopping && !isWriting && settlements.isEmpty && inFlight == 0 }

    // MARK: What has happened

    /// Deliveries of these webhooks were written.
    mutating func notify(_ webhooks: some Sequence<WebhookID>) {
        for webhook in webhooks {
            // A webhook that is not known yet was just added.
            if entries[webhook] == nil { needsReload = true } else { entries[webhook]?.isNotified = true }
        }
    }

    /// Webhooks were added, removed or changed.
    mutating func reload() { needsReload = true }

    /// The attempt has ended after `duration`.
    mutating func finish(_ attempt: Attempt, _ result: Settlement.Result, duration: Duration, at now: Timestamp) {
        let webhook = attempt.target.webhook
        if let others = orphaned[webhook] { orphaned[webhook] = others > 1 ? others - 1 : nil }
        entries[webhook]?.inFlight -= 1
        var isDelivered = false
        if case .delivered = result { isDelivered = true }
        entries[webhook]?.isQuick = isDelivered && duration <= limits.quickResponse
        settle(attempt.claim, result, at: now)
        if case .retry(let next, _, _) = result { expect(webhook, at: next) }
        if case .disabled = result { remove(webhook, at: now) }
    }

    /// A delivery of the webhook is due at this time.
    private mutating func expect(_ webhook: WebhookID, at time: Timestamp) {
        let due = entries[webhook]?.due ?? time
        entries[webhook]?.due = min(due, time)
    }

    /// From now on, nothing is claimed or attempted; what has no slot is released.
    mutating func stop(at now: Timestamp) {
        isStopping = true
        for webhook in order { release(webhook, at: now) }
    }
}

// MARK: Attempts

extension DeliveryQueue {
    /// The attempts that begin now.
    mutating func begin(at now: Timestamp) -> [Attempt] {
        guard !isStopping else { return [] }
        var attempts: [Attempt] = []
        for webhook in order {
            while let attempt = begin(webhook, at: now) { attempts.append(attempt) }
        }
        return attempts
    }

    /// The next attempt of a webhook that begins now.
    mutating func begin(_ webhook: WebhookID, at now: Timestamp) -> Attempt? {
        guard !isStopping else { return nil }
        while let entry = entries[webhook], entry.inFlight < limits.inFlight,
            let next = entries[webhook]?.ready.popFirst()
        {
            if let expiresAt = next.claim.event.expiresAt, expiresAt <= now {
                settle(next.claim, .expired, at: now)
            } else if next.beginsBefore <= now {
                settle(next.claim, .released, at: now)
            } else {
                entries[webhook]?.inFlight += 1
                return Attempt(claim: next.claim, target: entry.target)
            }
        }
        return nil
    }

    private mutating func settle(_ claim: ClaimedDelivery, _ result: Settlement.Result, at now: Timestamp) {
        settlements.append(Settlement(claim.delivery, result))
        if oldestSettlement == nil { oldestSettlement = now }
        // It is due again at once.
        if case .released = result { entries[claim.delivery.webhook]?.isNotified = true }
    }

    private mutating func release(_ webhook: WebhookID, at now: Timestamp) {
        let ready = entries[webhook]?.ready ?? []
        entries[webhook]?.ready = []
        for next in ready { settle(next.claim, .released, at: now) }
    }

    private mutating func remove(_ webhook: WebhookID, at now: Timestamp) {
        release(webhook, at: now)
        guard let entry = entries.removeValue(forKey: webhook) else { return }
        order.removeAll { $0 == webhook }
        if entry.inFlight > 0 { orphaned[webhook] = entry.inFlight }
    }
}

// MARK: Claims of new deliveries

extension DeliveryQueue {
    /// Until when a new delivery is claimed by the transaction that writes it; nil if others wait before it, or it has
    /// neither a slot nor may be claimed ahead.
    mutating func reserve(_ webhook: WebhookID, at now: Timestamp) -> Timestamp? {
        guard !isStopping, let entry = entries[webhook], !isDue(entry, at: now),
            entry.inFlight + entry.ready.count + entry.reserved < limits.inFlight + ahead(of: entry)
        else { return nil }
        entries[webhook]?.reserved += 1
        return now.adding(milliseconds: limits.leaseMilliseconds)
    }

    /// Deliveries that were claimed as they were written are durable.
    mutating func accept(_ claims: [ClaimedDelivery], at now: Timestamp) {
        for claim in claims {
            let webhook = claim.delivery.webhook
            guard let entry = entries[webhook], !isStopping else {
                settle(claim, .released, at: now)
                continue
            }
            entries[webhook]?.reserved = max(0, entry.reserved - 1)
            let written = claim.delivery.createdAt
            entries[webhook]?.ready.append(
                Ready(claim: claim, beginsBefore: written.adding(milliseconds: limits.waitMilliseconds)))
        }
    }

    private func ahead(of entry: Entry) -> Int { entry.isQuick ? limits.ahead : 0 }
}

// MARK: Transactions

extension DeliveryQueue {
    /// The next transaction, if there is a reason for one now.
    mutating func work(at now: Timestamp) -> Work? {
        guard let earliest = deadline(at: now), earliest <= now else { return nil }
        isWriting = true
        var work = Work(leaseUntil: now.adding(milliseconds: limits.leaseMilliseconds))
        (work.settlements, settlements, oldestSettlement) = (settlements, [], nil)
        guard !isStopping else { return work }
        if needsReload || reloadAt.map({ $0 <= now }) ?? true {
            work.reloads = true
            needsReload = false
            reloadAt = now.adding(milliseconds: limits.pollMilliseconds)
            for webhook in order { entries[webhook]?.isNotified = true }
        }
        var left = limits.claims
        var served: [WebhookID] = []
        for webhook in order where left > 0 {
            guard let entry = entries[webhook], isDue(entry, at: now) else { continue }
            let limit = min(room(in: entry), left)
            guard limit > 0 else { continue }
            entries[webhook]?.isNotified = false
            entries[webhook]?.due = nil
            work.claims.append((webhook, limit))
            served.append(webhook)
            left -= limit
        }
        // Who was served goes to the end.
        if left == 0 { order = order.filter { !served.contains($0) } + served }
        return work
    }

    /// The transaction is durable.
    ///
    /// - Parameters:
    ///   - targets: the enabled webhooks with an address, if they were read.
    ///   - claimed: for each of the work's claims.
    mutating func complete(
        _ work: Work, targets: [DeliveryTarget]?, claimed: [WebhookID: Claimed], at now: Timestamp
    ) {
        isWriting = false
        if let targets { replace(targets, at: now) }
        // Transactions that failed have left some. A few are counted out too early.
        for webhook in order { entries[webhook]?.reserved = 0 }
        let beginsBefore = work.leaseUntil.adding(milliseconds: limits.waitMilliseconds - limits.leaseMilliseconds)
        for (webhook, found) in claimed {
            guard entries[webhook] != nil, !isStopping else {
                for claim in found.deliveries { settle(claim, .released, at: now) }
                continue
            }
            // An attempt may have failed while the transaction ran.
            if let next = found.next { expect(webhook, at: next) }
            entries[webhook]?.ready += found.deliveries.map { Ready(claim: $0, beginsBefore: beginsBefore) }
        }
    }

    /// The transaction failed and is repeated after a while; but not if the server stops: leases end by themselves.
    mutating func fail(_ work: Work, at now: Timestamp) {
        isWriting = false
        guard !isStopping else { return }
        settlements = work.settlements + settlements
        if !settlements.isEmpty { oldestSettlement = now }
        needsReload = needsReload || work.reloads
        for (webhook, _) in work.claims { entries[webhook]?.isNotified = true }
        pausedUntil = now.adding(milliseconds: limits.pauseMilliseconds)
    }

    /// When the next transaction has to begin; nil if nothing waits for one, or one runs.
    func deadline(at now: Timestamp) -> Timestamp? {
        guard !isWriting else { return nil }
        var earliest: Timestamp?
        func consider(_ time: Timestamp) { earliest = min(earliest ?? time, time) }
        if let oldestSettlement {
            let isUrgent = settlements.count >= limits.settlements || isStopping
            consider(isUrgent ? now : oldestSettlement.adding(milliseconds: limits.settleMilliseconds))
        }
        if !isStopping {
            consider(needsReload ? now : reloadAt ?? now)
            for entry in entries.values where room(in: entry) > 0 {
                if entry.isNotified { consider(now) } else if let due = entry.due { consider(due) }
            }
        }
        guard let pausedUntil, now < pausedUntil, let found = earliest else { return earliest }
        return max(found, pausedUntil)
    }

    private func isDue(_ entry: Entry, at now: Timestamp) -> Bool {
        entry.isNotified || entry.due.map { $0 <= now } ?? false
    }

    /// How many more deliveries may be claimed. Of those ahead, none until half of them have begun.
    private func room(in entry: Entry) -> Int {
        let ahead = ahead(of: entry)
        guard entry.ready.count <= ahead / 2 else { return 0 }
        return max(0, limits.inFlight - entry.inFlight + ahead - entry.ready.count - entry.reserved)
    }

    private mutating func replace(_ targets: [DeliveryTarget], at now: Timestamp) {
        let known = Set(targets.map(\.webhook))
        for webhook in order where !known.contains(webhook) { remove(webhook, at: now) }
        for target in targets {
            if entries[target.webhook] != nil {
                entries[target.webhook]?.target = target
            } else {
                entries[target.webhook] = Entry(
                    target: target, inFlight: orphaned.removeValue(forKey: target.webhook) ?? 0)
                order.append(target.webhook)
            }
        }
    }
}

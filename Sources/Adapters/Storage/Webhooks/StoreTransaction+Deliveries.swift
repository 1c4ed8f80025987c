package import Model
package import Webhooks

// The rows of deliveries.
extension StoreTransaction {
    private static let deliveryColumns = """
        d.id, d.webhook_id, d.event_number, d.attempt, d.not_before, d.lease_until, d.fence, d.created_at, d.done_at,
        d.outcome, d.status, d.reason
        """
    private static let deliveryColumnCount = 12
    /// How many of the newest deliveries are searched for those of one webhook.
    private static let searchedDeliveries = 10_000

    package func claimDeliveries(
        of webhook: WebhookID, limit: Int, until leaseUntil: Timestamp
    ) throws -> [ClaimedDelivery] {
        var claimed: [ClaimedDelivery] = []
        for isUrgent in [true, false] where claimed.count < limit {
            let due = try sql.query(
                """
                SELECT \(Self.deliveryColumns), \(Self.eventColumns) FROM deliveries d
                JOIN webhooks w ON w.id = d.webhook_id AND w.disabled_at IS NULL AND w.removed_at IS NULL
                LEFT JOIN events e ON e.number = d.event_number
                WHERE d.webhook_id = ?1 AND d.urgent = ?2 AND d.done_at IS NULL AND d.not_before <= ?3
                ORDER BY d.not_before, d.id LIMIT ?4
                """, [.id(webhook), .bool(isUrgent), .time(now), .integer(limit - claimed.count)])
            for row in due {
                if let claim = try claim(row, until: leaseUntil) { claimed.append(claim) }
            }
        }
        return claimed
    }

    /// Nil if it was settled instead, or claimed by somebody else.
    private func claim(_ row: SQLRow, until leaseUntil: Timestamp) throws -> ClaimedDelivery? {
        var delivery = try Self.delivery(row)
        let start = Self.deliveryColumnCount
        // Events and deliveries are removed at the same age, but a replay's deliveries are younger than their events.
        guard try !row.isNull(start), let event = try Self.event(row, from: start) else {
            try finish(delivery, .dropped)
            return nil
        }
        if let expiresAt = event.expiresAt, expiresAt <= now {
            try finish(delivery, .expired)
            return nil
        }
        let claimed = try sql.execute(
            """
            UPDATE deliveries SET not_before = ?3, lease_until = ?3, fence = fence + 1
            WHERE id = ?1 AND fence = ?2 AND done_at IS NULL
            """, [.integer(delivery.id), .integer(delivery.fence), .time(leaseUntil)])
        guard claimed == 1 else { return nil }
        (delivery.notBefore, delivery.leaseUntil, delivery.fence) = (leaseUntil, leaseUntil, delivery.fence + 1)
        return ClaimedDelivery(delivery: delivery, event: event)
    }

    package func nextDelivery(of webhook: WebhookID) throws -> Timestamp? {
        try [true, false].compactMap { isUrgent in
            try sql.first(
                """
                SELECT not_before FROM deliveries WHERE webhook_id = ?1 AND urgent = ?2 AND done_at IS NULL
                ORDER BY not_before LIMIT 1
                """, [.id(webhook), .bool(isUrgent)])?.time(0)
        }.min()
    }

    package func settle(_ settlements: [Settlement]) throws -> Set<Int64> {
        var settled: Set<Int64> = []
        var done: [WebhookID: Int] = [:]
        for settlement in settlements where try apply(settlement) {
            settled.insert(settlement.delivery)
            switch settlement.result {
            case .delivered, .givenUp, .expired, .disabled: done[settlement.webhook, default: 0] += 1
            case .retry, .released: break
            }
            guard case .disabled(let reason) = settlement.result else { continue }
            hasChangedWebhooks = true
            try sql.execute(
                "UPDATE webhooks SET disabled_at = ?2, disabled_reason = ?3 WHERE id = ?1 AND disabled_at IS NULL",
                [.id(settlement.webhook), .time(now), .text(reason)])
        }
        for (webhook, count) in done { try addWaiting(-count, to: webhook) }
        return settled
    }

    /// Returns false if the claim's fence is no longer current.
    private func apply(_ settlement: Settlement) throws -> Bool {
        let claim: [SQLValue] = [.integer(settlement.delivery), .integer(settlement.fence)]
        let isCurrent = "WHERE id = ?1 AND fence = ?2 AND done_at IS NULL"
        let (notBefore, outcome, status, reason): (Timestamp?, DeliveryRecord.Outcome?, Int?, String?)
        switch settlement.result {
        case .delivered(let code): (notBefore, outcome, status, reason) = (nil, .delivered, code, nil)
        case .retry(let at, let code, let why): (notBefore, outcome, status, reason) = (at, nil, code, why)
        case .givenUp(let code, let why): (notBefore, outcome, status, reason) = (nil, .failed, code, why)
        case .expired: (notBefore, outcome, status, reason) = (nil, .expired, nil, nil)
        case .disabled(let why): (notBefore, outcome, status, reason) = (nil, .failed, 410, why)
        case .released:
            return try sql.execute(
                "UPDATE deliveries SET not_before = ?3, lease_until = NULL, fence = fence + 1 \(isCurrent)",
                claim + [.time(now)]) == 1
        }
        let code = status.map { SQLValue.integer($0) } ?? .null
        if let notBefore {
            return try sql.execute(
                """
                UPDATE deliveries SET attempt = attempt + 1, not_before = ?3, lease_until = NULL, fence = fence + 1,
                    status = ?4, reason = ?5 \(isCurrent)
                """, claim + [.time(notBefore), code, .text(reason)]) == 1
        }
        return try sql.execute(
            """
            UPDATE deliveries SET attempt = attempt + 1, lease_until = NULL, fence = fence + 1, done_at = ?3,
                outcome = ?4, status = ?5, reason = ?6 \(isCurrent)
            """, claim + [.time(now), .text(outcome?.rawValue), code, .text(reason)]) == 1
    }

    package func deliveries(of webhook: WebhookID, limit: Int) throws -> [DeliveryRecord] {
        try sql.query(
            """
            SELECT \(Self.deliveryColumns) FROM deliveries d
            WHERE d.webhook_id = ?1 AND d.id > (SELECT COALESCE(MAX(id), 0) FROM deliveries) - ?3
            ORDER BY d.id DESC LIMIT ?2
            """, [.id(webhook), .integer(limit), .integer(Self.searchedDeliveries)]
        ).map { try Self.delivery($0) }
    }

    package func oldestWaiting(of webhook: WebhookID) throws -> Timestamp? {
        try sql.first(
            "SELECT created_at FROM deliveries WHERE webhook_id = ?1 AND done_at IS NULL ORDER BY id LIMIT 1",
            [.id(webhook)])?.time(0)
    }

    /// Writes a delivery of a new event, as a claim of this process if it can attempt it at once.
    func insertDelivery(of event: EventRecord, to webhook: WebhookID) throws {
        guard let waiting = try countDelivery(to: webhook) else { return }
        guard waiting <= WebhookLimits.waiting, let leaseUntil = deliveryClaimer?.leaseEnd(webhook, now) else {
            return try insertDelivery(of: event.number, event.expiresAt, to: webhook, waiting)
        }
        let row = try sql.first(
            """
            INSERT INTO deliveries (webhook_id, event_number, urgent, not_before, lease_until, fence, created_at)
            VALUES (?1, ?2, ?3, ?4, ?4, 1, ?5) RETURNING id
            """,
            [
                .id(webhook), .integer(event.number), .bool(event.expiresAt != nil), .time(leaseUntil), .time(now),
            ])
        guard let row else { throw SQLError(.failed, "A new delivery has no id.") }
        let delivery = DeliveryRecord(
            id: try row.integer(0), webhook: webhook, event: event.number, notBefore: leaseUntil,
            leaseUntil: leaseUntil, fence: 1, createdAt: now)
        hasInsertedEvents = true
        claims.append(ClaimedDelivery(delivery: delivery, event: event))
    }

    /// Returns false if the webhook was disabled or removed in the meantime.
    func insertDelivery(of event: Int64, _ expiresAt: Timestamp?, to webhook: WebhookID) throws -> Bool {
        guard let waiting = try countDelivery(to: webhook) else { return false }
        try insertDelivery(of: event, expiresAt, to: webhook, waiting)
        return true
    }

    /// Returns how many wait then; nil if the webhook was disabled or removed in the meantime.
    private func countDelivery(to webhook: WebhookID) throws -> Int64? {
        try sql.first(
            """
            UPDATE webhooks SET waiting = waiting + 1 WHERE id = ?1 AND disabled_at IS NULL AND removed_at IS NULL
            RETURNING waiting
            """, [.id(webhook)])?.integer(0)
    }

    private func insertDelivery(
        of event: Int64, _ expiresAt: Timestamp?, to webhook: WebhookID, _ waiting: Int64
    ) throws {
        try sql.execute(
            """
            INSERT INTO deliveries (webhook_id, event_number, urgent, not_before, created_at) VALUES (?1, ?2, ?3, ?4, ?4)
            """, [.id(webhook), .integer(event), .bool(expiresAt != nil), .time(now)])
        hasInsertedEvents = true
        notifiedWebhooks.insert(webhook)
        if waiting > WebhookLimits.waiting { try dropOldest(waiting - WebhookLimits.waiting, of: webhook) }
    }

    private func dropOldest(_ count: Int64, of webhook: WebhookID) throws {
        let dropped = try sql.execute(
            """
            UPDATE deliveries SET done_at = ?2, outcome = 'dropped', lease_until = NULL WHERE id IN (
                SELECT id FROM deliveries WHERE webhook_id = ?1 AND done_at IS NULL ORDER BY id LIMIT ?3)
            """, [.id(webhook), .time(now), .integer(count)])
        try addWaiting(-dropped, to: webhook, dropped: dropped)
    }

    private func finish(_ delivery: DeliveryRecord, _ outcome: DeliveryRecord.Outcome) throws {
        let finished = try sql.execute(
            "UPDATE deliveries SET done_at = ?2, outcome = ?3, lease_until = NULL WHERE id = ?1 AND done_at IS NULL",
            [.integer(delivery.id), .time(now), .text(outcome.rawValue)])
        try addWaiting(-finished, to: delivery.webhook, dropped: outcome == .dropped ? finished : 0)
    }

    private func addWaiting(_ count: Int, to webhook: WebhookID, dropped: Int = 0) throws {
        try sql.execute(
            "UPDATE webhooks SET waiting = waiting + ?2, dropped = dropped + ?3 WHERE id = ?1",
            [.id(webhook), .integer(count), .integer(dropped)])
    }

    /// Those that still waited, for a webhook that was disabled for as long, are counted as dropped.
    func trimDeliveries(before time: Timestamp, limit: Int) throws -> Int {
        var last: Int64?
        var waited: [WebhookID: Int] = [:]
        try sql.visit(
            "SELECT id, created_at, done_at, webhook_id FROM deliveries ORDER BY id LIMIT ?1", [.integer(limit)]
        ) { row in
            guard try row.time(1) < time else { return false }
            last = try row.integer(0)
            if try row.isNull(2) { waited[try row.id(3), default: 0] += 1 }
            return true
        }
        guard let last else { return 0 }
        for (webhook, count) in waited { try addWaiting(-count, to: webhook, dropped: count) }
        return try sql.execute("DELETE FROM deliveries WHERE id <= ?1", [.integer(last)])
    }

    func removeDeliveriesOfRemovedWebhooks(limit: Int) throws -> Int {
        guard let row = try sql.first("SELECT id FROM webhooks WHERE removed_at IS NOT NULL LIMIT 1") else { return 0 }
        let removed = try sql.execute(
            """
            DELETE FROM deliveries WHERE id IN (
                SELECT id FROM deliveries WHERE webhook_id = ?1 AND done_at IS NULL ORDER BY id LIMIT ?2)
            """, [try row.value(0), .integer(limit)])
        guard removed < limit else { return removed }
        return removed + (try sql.execute("DELETE FROM webhooks WHERE id = ?1", [try row.value(0)]))
    }

    private static func delivery(_ row: SQLRow) throws -> DeliveryRecord {
        DeliveryRecord(
            id: try row.integer(0), webhook: try row.id(1), event: try row.integer(2), attempt: try row.int(3),
            notBefore: try row.time(4), leaseUntil: try row.timeIfPresent(5), fence: try row.integer(6),
            createdAt: try row.time(7), doneAt: try row.timeIfPresent(8),
            outcome: try row.textIfPresent(9).flatMap(DeliveryRecord.Outcome.init),
            status: try row.integerIfPresent(10).flatMap { Int(exactly: $0) }, reason: try row.textIfPresent(11))
    }
}

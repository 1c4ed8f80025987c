package import Model
package import Webhooks

// The rows of events.
extension StoreTransaction {
    static let eventColumns = """
        e.number, e.id, e.type, e.at, e.expires_at, e.user_id, e.call_id, e.recording_id, e.data
        """

    package func insert(_ event: EventRecord) throws {
        guard subscriptions.includes(event.type) else { return }
        let recipients = subscriptions.recipients(of: event.type)
        let inserted = try insert(event, isPulled: subscriptions.isPulled(event.type))
        for webhook in recipients { try insertDelivery(of: inserted, to: webhook) }
    }

    @discardableResult
    package func insert(_ event: EventRecord, for webhook: WebhookRecord) throws -> Int64 {
        let inserted = try insert(event, isPulled: webhook.isPuller)
        if !webhook.isPuller { try insertDelivery(of: inserted, to: webhook.id) }
        return inserted.number
    }

    /// Returns the event with its number.
    private func insert(_ event: EventRecord, isPulled: Bool) throws -> EventRecord {
        let row = try sql.first("UPDATE event_log SET number = number + 1 WHERE id = 1 RETURNING number")
        guard let row else { throw SQLError(.failed, "The log of events is missing: the database was never prepared.") }
        let number = try row.integer(0)
        try sql.execute(
            """
            INSERT INTO events (number, id, type, at, expires_at, user_id, call_id, recording_id, pulled, data)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """,
            [
                .integer(number), .id(event.id), .text(event.type.rawValue), .time(event.at), .time(event.expiresAt),
                .id(event.user), .id(event.call), .id(event.recording), .bool(isPulled), .text(event.data),
            ])
        hasInsertedEvents = true
        var inserted = event
        inserted.number = number
        return inserted
    }

    package func eventPositions() throws -> (epoch: String, last: Int64, trimmed: Int64) {
        let row = try sql.first(
            "SELECT l.epoch, e.number, e.trimmed FROM log l JOIN event_log e ON e.id = l.id WHERE l.id = 1")
        guard let row else { throw SQLError(.failed, "The log of events is missing: the database was never prepared.") }
        return (try row.text(0), try row.integer(1), try row.integer(2))
    }

    /// Numbers have no gaps and rise with the time, so this searches by halving and needs no index.
    package func lastEvent(before time: Timestamp) throws -> Int64 {
        let (_, last, trimmed) = try eventPositions()
        var (low, high) = (trimmed, last)
        while low < high {
            let middle = low + (high - low + 1) / 2
            let at = try sql.first("SELECT at FROM events WHERE number = ?1", [.integer(middle)])?.time(0)
            if let at, at >= time { high = middle - 1 } else { low = middle }
        }
        return low
    }

    package func event(_ number: Int64) throws -> EventRecord? {
        try sql.first("SELECT \(Self.eventColumns) FROM events e WHERE e.number = ?1", [.integer(number)])
            .flatMap { try Self.event($0) }
    }

    package func pulledEvents(after number: Int64, limit: Int) throws -> [EventRecord] {
        try sql.query(
            "SELECT \(Self.eventColumns) FROM events e WHERE e.pulled = 1 AND e.number > ?1 ORDER BY e.number LIMIT ?2",
            [.integer(number), .integer(limit)]
        ).compactMap { try Self.event($0) }
    }

    package func replay(
        to webhook: WebhookRecord, after number: Int64, upTo last: Int64, limit: Int, count: inout Int
    ) throws -> Int64? {
        let rows = try sql.query(
            "SELECT number, type, expires_at FROM events WHERE number > ?1 AND number <= ?2 ORDER BY number LIMIT ?3",
            [.integer(number), .integer(last), .integer(limit)])
        for row in rows {
            guard let type = EventType(rawValue: try row.text(1)), type != .webhookTest,
                webhook.types?.contains(type) ?? true
            else { continue }
            let expiresAt = try row.timeIfPresent(2)
            if let expiresAt, expiresAt <= now { continue }
            if try insertDelivery(of: row.integer(0), expiresAt, to: webhook.id) { count += 1 }
        }
        guard rows.count == limit else { return nil }
        return try rows.last?.integer(0)
    }

    package func redactEvents(of user: UserID, after number: Int64, limit: Int) throws -> Int64? {
        var last: Int64?
        var count = 0
        var redacted: [(number: Int64, data: String)] = []
        try sql.visit(
            "SELECT number, data, user_id FROM events WHERE number > ?1 AND type <> ?3 ORDER BY number LIMIT ?2",
            [.integer(number), .integer(limit), .text(EventType.userDeleted.rawValue)]
        ) { row in
            count += 1
            last = try row.integer(0)
            let data = try row.text(1)
            let isOwn = try row.textIfPresent(2) == user.text
            let changed = EventData.redacting(user, isOwn: isOwn, in: data)
            if changed != data { redacted.append((try row.integer(0), changed)) }
            return true
        }
        for (number, data) in redacted {
            try sql.execute("UPDATE events SET data = ?2 WHERE number = ?1", [.integer(number), .text(data)])
        }
        return count == limit ? last : nil
    }

    package func trimEvents(before time: Timestamp, limit: Int) throws -> Int {
        var last: Int64?
        var removed = 0
        try sql.visit("SELECT number, at FROM events ORDER BY number LIMIT ?1", [.integer(limit)]) { row in
            guard try row.time(1) < time else { return false }
            last = try row.integer(0)
            return true
        }
        if let last {
            removed += try sql.execute("DELETE FROM events WHERE number <= ?1", [.integer(last)])
            try sql.execute("UPDATE event_log SET trimmed = ?1 WHERE id = 1", [.integer(last)])
        }
        return removed + (try trimDeliveries(before: time, limit: limit))
            + (try removeDeliveriesOfRemovedWebhooks(limit: limit))
    }

    /// Nil for a type that this version does not know.
    static func event(_ row: SQLRow, from start: Int = 0) throws -> EventRecord? {
        guard let type = EventType(rawValue: try row.text(start + 2)) else { return nil }
        return EventRecord(
            id: try row.id(start + 1), number: try row.integer(start), type: type, at: try row.time(start + 3),
            expiresAt: try row.timeIfPresent(start + 4), user: try row.idIfPresent(start + 5),
            call: try row.idIfPresent(start + 6), recording: try row.idIfPresent(start + 7),
            data: try row.text(start + 8))
    }
}

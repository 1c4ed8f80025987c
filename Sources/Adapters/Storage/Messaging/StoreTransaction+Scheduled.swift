package import Messaging
package import Model

// The rows of scheduled messages.
extension StoreTransaction {
    private static let scheduledColumns = """
        conversation_id, author, client_id, text, reply_to, thread, send_at, created_at, failure, failure_detail, digest,
        counter
        """

    package func scheduled(_ clientID: ClientID, by author: UserID) throws -> ScheduledMessage? {
        try sql.first(
            "SELECT \(Self.scheduledColumns) FROM scheduled WHERE author = ?1 AND client_id = ?2",
            [.id(author), .id(clientID)]
        ).map { try Self.scheduled($0) }
    }

    package func scheduled(
        by author: UserID, in conversation: ConversationID, limit: Int
    ) throws -> [ScheduledMessage] {
        try sql.query(
            """
            SELECT \(Self.scheduledColumns) FROM scheduled WHERE author = ?1 AND conversation_id = ?2
            ORDER BY send_at, client_id LIMIT ?3
            """, [.id(author), .id(conversation), .integer(limit)]
        ).map { try Self.scheduled($0) }
    }

    package func scheduledSummary(
        of author: UserID, in conversation: ConversationID
    ) throws -> ScheduledSummary {
        let row = try sql.first(
            """
            SELECT COUNT(*), COUNT(failure), COALESCE(MAX(counter), 0) FROM scheduled
            WHERE author = ?1 AND conversation_id = ?2
            """, [.id(author), .id(conversation)])
        return ScheduledSummary(
            count: try row?.int(0) ?? 0, failed: try row?.int(1) ?? 0, counter: try row?.integer(2) ?? 0)
    }

    package func scheduledCount(by author: UserID, limit: Int) throws -> Int {
        try sql.first(
            "SELECT COUNT(*) FROM (SELECT 1 FROM scheduled WHERE author = ?1 LIMIT ?2) found",
            [.id(author), .integer(limit)])?.int(0) ?? 0
    }

    package func dueScheduled(limit: Int) throws -> [ScheduledMessage] {
        try sql.query(
            """
            SELECT \(Self.scheduledColumns) FROM scheduled WHERE failure IS NULL AND send_at <= ?1
            ORDER BY send_at LIMIT ?2
            """, [.time(now), .integer(limit)]
        ).map { try Self.scheduled($0) }
    }

    package func nextScheduled() throws -> Timestamp? {
        try sql.first("SELECT send_at FROM scheduled WHERE failure IS NULL ORDER BY send_at LIMIT 1")?.time(0)
    }

    package func save(_ scheduled: ScheduledMessage) throws {
        // A text may be in its place.
        hasErasedTexts = true
        try sql.execute(
            """
            INSERT INTO scheduled (\(Self.scheduledColumns))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            ON CONFLICT (author, client_id)
            DO UPDATE SET text = ?4, send_at = ?7, failure = ?9, failure_detail = ?10, counter = ?12
            """,
            [
                .id(scheduled.conversation), .id(scheduled.author), .id(scheduled.clientID), .text(scheduled.text),
                .integer(scheduled.replyTo), .integer(scheduled.thread), .time(scheduled.sendAt),
                .time(scheduled.createdAt), .text(scheduled.failure?.kind.rawValue),
                .text(scheduled.failure?.detail), .blob(scheduled.digest), .integer(scheduled.counter),
            ])
        try notify(scheduled.author, of: scheduled.conversation, counter: scheduled.counter)
        if scheduled.failure == nil { note(due: scheduled.sendAt) }
    }

    package func removeScheduled(_ scheduled: ScheduledMessage, counter: Int64) throws {
        hasErasedTexts = true
        try sql.execute(
            "DELETE FROM scheduled WHERE author = ?1 AND client_id = ?2",
            [.id(scheduled.author), .id(scheduled.clientID)])
        try notify(scheduled.author, of: scheduled.conversation, counter: counter)
    }

    package func removeScheduled(by author: UserID, in conversation: ConversationID, counter: Int64) throws {
        hasErasedTexts = true
        try sql.execute(
            "DELETE FROM scheduled WHERE author = ?1 AND conversation_id = ?2", [.id(author), .id(conversation)])
        try notify(author, of: conversation, counter: counter)
    }

    private func notify(_ author: UserID, of conversation: ConversationID, counter: Int64) throws {
        // Notes its state before.
        _ = try self.conversation(conversation)
        touched.scheduled(by: author, in: conversation, counter: counter)
    }

    private static func scheduled(_ row: SQLRow) throws -> ScheduledMessage {
        var reader = ColumnReader(row)
        let (conversation, author, clientID): (ConversationID, UserID, ClientID) =
            (try reader.id(), try reader.id(), try reader.id())
        let text = try reader.text()
        let (replyTo, thread) = (try reader.integerIfPresent(), try reader.integerIfPresent())
        let (sendAt, createdAt) = (try reader.time(), try reader.time())
        let (kind, detail) = (try reader.textIfPresent(), try reader.textIfPresent())
        let failure = kind.map {
            ScheduledMessage.Failure(kind: Problem.Kind(rawValue: $0) ?? .internalError, detail: detail ?? "")
        }
        return ScheduledMessage(
            conversation: conversation, author: author, clientID: clientID, text: text, replyTo: replyTo,
            thread: thread, sendAt: sendAt, createdAt: createdAt, failure: failure, digest: try row.blob(10),
            counter: try row.integer(11))
    }
}

package import Messaging
package import Model

// Messages that are older than they may be.
extension StoreTransaction: RetentionStore {
    /// One that is being imported has no members yet.
    private static let isComplete = "EXISTS (SELECT 1 FROM members m WHERE m.conversation_id = c.id)"

    package func conversationsWithOldMessages(before time: Timestamp?, limit: Int) throws -> [ConversationID] {
        let old = try time.map { time in
            try sql.query(
                """
                SELECT id FROM conversations c WHERE kept_since < ?1 AND \(Self.isComplete)
                ORDER BY kept_since LIMIT ?2
                """, [.time(time), .integer(limit)]
            ).map { try $0.id(0) as ConversationID }
        }
        let due = try sql.query(
            """
            SELECT id FROM conversations c
            WHERE keep_days > 0 AND (kept_since + keep_days * 86400000) < ?1 AND \(Self.isComplete)
            ORDER BY (kept_since + keep_days * 86400000) LIMIT ?2
            """, [.time(now), .integer(limit)]
        ).map { try $0.id(0) as ConversationID }
        let ended = try sql.query(
            """
            SELECT id FROM conversations
            WHERE ended_at IS NOT NULL AND kept_since < ended_at + 604800000 AND ended_at < ?1
            ORDER BY ended_at LIMIT ?2
            """, [.time(MessageRetention.endedBefore(now)), .integer(limit)]
        ).map { try $0.id(0) as ConversationID }
        var known: Set<ConversationID> = []
        return Array(((old ?? []) + due + ended).filter { known.insert($0).inserted }.prefix(limit))
    }

    package func retentionMark(of conversation: ConversationID) throws -> RetentionMark {
        try sql.first("SELECT erased_to, kept_since FROM conversations WHERE id = ?1", [.id(conversation)])
            .map { RetentionMark(erasedTo: try $0.integer(0), keptSince: try $0.time(1)) }
            ?? RetentionMark(erasedTo: 0, keptSince: Timestamp(milliseconds: 0))
    }

    package func save(_ mark: RetentionMark, of conversation: ConversationID) throws {
        try sql.execute(
            "UPDATE conversations SET erased_to = ?2, kept_since = ?3 WHERE id = ?1",
            [.id(conversation), .integer(mark.erasedTo), .time(mark.keptSince)])
    }

    package func sentTimes(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [(number: Int64, sentAt: Timestamp)] {
        try sql.query(
            """
            SELECT number, sent_at FROM messages WHERE conversation_id = ?1 AND number > ?2 ORDER BY number LIMIT ?3
            """, [.id(conversation), .integer(number), .integer(limit)]
        ).map { (try $0.integer(0), try $0.time(1)) }
    }
}

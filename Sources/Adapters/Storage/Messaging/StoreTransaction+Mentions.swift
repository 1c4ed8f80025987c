package import Messaging
package import Model

// The rows of mentions, and counts of what was not read.
//
// `CROSS JOIN` keeps SQLite from reading all unread messages to look for the few that mention somebody, or are calls.
extension StoreTransaction {
    /// What counts as unread, as the index `messages_counted` says.
    ///
    /// - Parameter parameter: the index of the statement's parameter that is the time.
    private static func isCounted(at parameter: Int) -> String {
        """
        m.withheld = 0 AND m.deleted_at IS NULL AND m.kind <> 'notice'
            AND (m.expires_at IS NULL OR m.expires_at > ?\(parameter))
        """
    }
    /// The calls that the user has missed, one row each: `?1` is the user, `?2` the conversation, `?3` the number.
    private static func missedCalls(_ isNotHidden: String) -> String {
        """
        SELECT 1 FROM missed_calls c
        CROSS JOIN messages m
        WHERE m.conversation_id = c.conversation_id AND m.number = c.number
            AND c.user_id = ?1 AND c.conversation_id = ?2 AND c.number > ?3 AND m.author <> ?1
            AND \(isCounted(at: 5)) AND \(isNotHidden)
        """
    }
    private static let isNotHidden = """
        m.number NOT IN (
            SELECT number FROM own WHERE user_id = ?1 AND conversation_id = ?2 AND number > ?3 AND hidden = 1)
        """

    /// The condition that leaves out what the user has hidden. Who has hidden nothing needs none, and counting takes half as
    /// long: of a large group with much that is unread, that is done for each listener of an inbox.
    private func isNotHidden(
        from user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> String {
        // To find one, looking that up first is more than it saves.
        guard limit > 1 else { return Self.isNotHidden }
        return try hasHidden(by: user, in: conversation, after: number) ? Self.isNotHidden : "1 = 1"
    }

    package func hasHidden(by user: UserID, in conversation: ConversationID, after number: Int64) throws -> Bool {
        try sql.first(
            "SELECT 1 FROM own WHERE user_id = ?1 AND conversation_id = ?2 AND number > ?3 AND hidden = 1 LIMIT 1",
            [.id(user), .id(conversation), .integer(number)]) != nil
    }

    package func insertMentions(
        of users: [UserID], all: Bool, by number: Int64, in conversation: ConversationID
    ) throws {
        for user in users.map(\.text) + (all ? [""] : []) {
            try connection.execute(
                """
                INSERT INTO mentions (conversation_id, number, user_id) VALUES (?1, ?2, ?3)
                ON CONFLICT (conversation_id, number, user_id) DO NOTHING
                """, [.id(conversation), .integer(number), .text(user)])
        }
    }

    package func removeMentions(by number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            "DELETE FROM mentions WHERE conversation_id = ?1 AND number = ?2", [.id(conversation), .integer(number)])
    }

    private static let readPositions = """
        SELECT m.conversation_id, COALESCE(k.read, 0), COALESCE((
            SELECT MAX(s.from_number) FROM spans s
            WHERE s.conversation_id = m.conversation_id AND s.user_id = m.user_id), 0)
        FROM members m LEFT JOIN marks k ON k.conversation_id = m.conversation_id AND k.user_id = m.user_id
        WHERE m.user_id = ?1 AND m.state = 'member'
        """

    package func readPositions(of user: UserID, in ids: [ConversationID]) throws -> [ReadPosition] {
        let rows = try ids.batches.flatMap { batch in
            try sql.query(
                Self.readPositions + " AND m.conversation_id IN \(Placeholders.list(batch.count, from: 2))",
                [.id(user)] + batch.map { .id($0) })
        }
        return try rows.map { row in
            ReadPosition(conversation: try row.id(0), read: try row.integer(1), from: try row.integer(2))
        }
    }

    /// One statement: asked for each conversation, those of an inbox of 1,000 took most of the time until it was open.
    package func unreadConversations(of user: UserID, isArchive: Bool) throws -> UnreadCount {
        let isVisible = """
            m.author <> ?1 AND \(Self.isCounted(at: 2)) AND NOT EXISTS (
                SELECT 1 FROM own o
                WHERE o.user_id = ?1 AND o.conversation_id = p.id AND o.number = m.number AND o.hidden = 1)
            """
        let row = try sql.first(
            """
            WITH latest AS MATERIALIZED (
                SELECT m.conversation_id AS id, COALESCE(k.read, 0) AS read_to, COALESCE((
                    SELECT MAX(s.from_number) FROM spans s
                    WHERE s.conversation_id = m.conversation_id AND s.user_id = m.user_id), 0) AS from_number,
                    COALESCE(o.marked_unread, 0) AS marked
                FROM members m LEFT JOIN marks k ON k.conversation_id = m.conversation_id AND k.user_id = m.user_id
                LEFT JOIN memberships o ON o.user_id = m.user_id AND o.conversation_id = m.conversation_id
                WHERE m.user_id = ?1 AND m.state = 'member' AND COALESCE(o.archived, 0) = ?3),
            positions AS MATERIALIZED (
                SELECT id, marked, CASE WHEN read_to > from_number THEN read_to ELSE from_number END AS after_number
                FROM latest),
            found AS MATERIALIZED (
                SELECT p.id, p.marked, p.after_number, CASE WHEN EXISTS (
                    SELECT 1 FROM messages m
                    WHERE m.conversation_id = p.id AND m.number > p.after_number AND m.kind <> 'call' AND \(isVisible))
                OR EXISTS (
                    SELECT 1 FROM missed_calls c
                    CROSS JOIN messages m
                    WHERE m.conversation_id = c.conversation_id AND m.number = c.number
                        AND c.user_id = ?1 AND c.conversation_id = p.id AND c.number > p.after_number AND \(isVisible))
                THEN 1 ELSE 0 END AS unread
                FROM positions p)
            SELECT COUNT(CASE WHEN p.unread = 1 OR p.marked = 1 THEN 1 END), COUNT(CASE WHEN p.unread = 1 AND EXISTS (
                SELECT 1 FROM mentions n
                CROSS JOIN messages m
                WHERE m.conversation_id = n.conversation_id AND m.number = n.number
                    AND n.user_id IN (?1, '') AND n.conversation_id = p.id AND n.number > p.after_number AND \(isVisible))
            THEN 1 END)
            FROM found p
            """, [.id(user), .time(now), .integer(isArchive ? 1 : 0)])
        return UnreadCount(messages: try row?.int(0) ?? 0, mentions: try row?.int(1) ?? 0)
    }

    package func countedMessages(in conversation: ConversationID, limit: Int) throws -> CountedMessages {
        let rows = try sql.query(
            """
            SELECT m.number, m.author, m.expires_at FROM messages m
            WHERE m.conversation_id = ?1 AND m.kind <> 'call' AND \(Self.isCounted(at: 2))
            ORDER BY m.number DESC LIMIT ?3
            """, [.id(conversation), .time(now), .integer(limit)])
        let newest = try rows.map { row in
            CountedMessages.Entry(
                number: try row.integer(0), author: try row.id(1), expiresAt: try row.timeIfPresent(2))
        }
        return CountedMessages(newest: newest, isComplete: newest.count < limit)
    }

    package func missedCallCount(
        of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> Int {
        let isNotHidden = try isNotHidden(from: user, in: conversation, after: number, limit: limit)
        return try sql.first(
            """
            SELECT COUNT(*) FROM (
                \(Self.missedCalls(isNotHidden))
                LIMIT ?4) found
            """, [.id(user), .id(conversation), .integer(number), .integer(limit), .time(now)])?.int(0) ?? 0
    }

    package func unreadCount(
        of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> Int {
        let isNotHidden = try isNotHidden(from: user, in: conversation, after: number, limit: limit)
        return try sql.first(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM messages m
                WHERE m.conversation_id = ?2 AND m.number > ?3 AND m.author <> ?1 AND \(Self.isCounted(at: 5))
                    AND m.kind <> 'call' AND \(isNotHidden)
                UNION ALL
                \(Self.missedCalls(isNotHidden))
                LIMIT ?4) found
            """, [.id(user), .id(conversation), .integer(number), .integer(limit), .time(now)])?.int(0) ?? 0
    }

    package func mentionCount(
        of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> Int {
        let isNotHidden = try isNotHidden(from: user, in: conversation, after: number, limit: limit)
        return try sql.first(
            """
            SELECT COUNT(*) FROM (
                SELECT DISTINCT m.number FROM mentions n
                CROSS JOIN messages m
                WHERE m.conversation_id = n.conversation_id AND m.number = n.number
                    AND n.user_id IN (?1, '') AND n.conversation_id = ?2 AND n.number > ?3 AND m.author <> ?1
                    AND \(Self.isCounted(at: 5)) AND \(isNotHidden)
                LIMIT ?4) found
            """, [.id(user), .id(conversation), .integer(number), .integer(limit), .time(now)])?.int(0) ?? 0
    }
}

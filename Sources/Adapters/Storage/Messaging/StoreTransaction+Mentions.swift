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
    ///
    /// - Parameter isNotLeftOut: what of hidden messages and blocked authors is left out.
    private static func missedCalls(_ isNotLeftOut: String) -> String {
        """
        SELECT 1 FROM missed_calls c
        CROSS JOIN messages m
        WHERE m.conversation_id = c.conversation_id AND m.number = c.number
            AND c.user_id = ?1 AND c.conversation_id = ?2 AND c.number > ?3 AND m.author <> ?1
            AND \(isCounted(at: 5)) AND \(isNotLeftOut)
        """
    }
    private static let isNotBlocked =
        "NOT EXISTS (SELECT 1 FROM blocks b WHERE b.blocker = ?1 AND b.user_id = m.author)"
    private static let isNotHidden = """
        m.number NOT IN (
            SELECT number FROM own WHERE user_id = ?1 AND conversation_id = ?2 AND number > ?3 AND hidden = 1)
        """

    /// The condition that leaves out what the user has hidden, and what those write in a group whom the user has blocked. Who
    /// has hidden nothing and blocked nobody there needs none, and counting takes half as long: of a large group with much
    /// that is unread, that is done for each listener of an inbox.
    private func isNotLeftOut(
        from user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> String {
        let isNotBlocked = try hasBlockedAuthors(user, in: conversation) ? Self.isNotBlocked : "1 = 1"
        // To find one, looking that up first is more than it saves.
        guard limit > 1 else { return "\(Self.isNotHidden) AND \(isNotBlocked)" }
        let isHiding = try hasHidden(by: user, in: conversation, after: number)
        return isHiding ? "\(Self.isNotHidden) AND \(isNotBlocked)" : isNotBlocked
    }

    /// Those whom the user has blocked, from there: most have blocked few, and a group may have thousands of members.
    private static let blockedAuthors = """
        SELECT b.user_id FROM conversations c CROSS JOIN blocks b CROSS JOIN members m
        WHERE c.id = ?2 AND c.kind = 'group' AND b.blocker = ?1 AND m.conversation_id = ?2 AND m.user_id = b.user_id
        """

    package func blockedAuthors(of user: UserID, in conversation: ConversationID) throws -> Set<UserID> {
        let rows = try sql.query(Self.blockedAuthors, [.id(user), .id(conversation)])
        return Set(try rows.map { try $0.id(0) })
    }

    private func hasBlockedAuthors(_ user: UserID, in conversation: ConversationID) throws -> Bool {
        try sql.first(Self.blockedAuthors + " LIMIT 1", [.id(user), .id(conversation)]) != nil
    }

    /// The groups in which something may be unread of somebody whom the user has blocked, or blocks no more: the ones that were
    /// active last, so that it takes some milliseconds. In others the count is right when their row moves.
    func groupsWithUnread(of user: UserID, by author: UserID) throws -> [ConversationID] {
        try sql.query(
            """
            SELECT m.conversation_id FROM members m
            JOIN members o ON o.conversation_id = m.conversation_id AND o.user_id = ?2
            JOIN conversations c ON c.id = m.conversation_id AND c.kind = 'group'
            LEFT JOIN marks k ON k.conversation_id = m.conversation_id AND k.user_id = m.user_id
            WHERE m.user_id = ?1 AND m.state = 'member' AND c.last_number > COALESCE(k.read, 0)
            ORDER BY c.activity DESC, m.conversation_id LIMIT 100
            """, [.id(user), .id(author)]
        ).map { try $0.id(0) }
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
        // Most have blocked nobody.
        let hasBlocked = try sql.first("SELECT 1 FROM blocks WHERE blocker = ?1 LIMIT 1", [.id(user)]) != nil
        let isNotBlocked = hasBlocked ? "AND (p.kind <> 'group' OR \(Self.isNotBlocked))" : ""
        let isVisible = """
            m.author <> ?1 AND \(Self.isCounted(at: 2)) AND NOT EXISTS (
                SELECT 1 FROM own o
                WHERE o.user_id = ?1 AND o.conversation_id = p.id AND o.number = m.number AND o.hidden = 1)
            \(isNotBlocked)
            """
        let row = try sql.first(
            """
            WITH latest AS MATERIALIZED (
                SELECT m.conversation_id AS id, COALESCE(k.read, 0) AS read_to, COALESCE((
                    SELECT MAX(s.from_number) FROM spans s
                    WHERE s.conversation_id = m.conversation_id AND s.user_id = m.user_id), 0) AS from_number,
                    COALESCE(o.marked_unread, 0) AS marked,
                    (SELECT c.kind FROM conversations c WHERE c.id = m.conversation_id) AS kind
                FROM members m LEFT JOIN marks k ON k.conversation_id = m.conversation_id AND k.user_id = m.user_id
                LEFT JOIN memberships o ON o.user_id = m.user_id AND o.conversation_id = m.conversation_id
                WHERE m.user_id = ?1 AND m.state = 'member' AND COALESCE(o.archived, 0) = ?3),
            positions AS MATERIALIZED (
                SELECT id, marked, kind, CASE WHEN read_to > from_number THEN read_to ELSE from_number END AS after_number
                FROM latest),
            found AS MATERIALIZED (
                SELECT p.id, p.marked, p.kind, p.after_number, CASE WHEN EXISTS (
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
        let isNotLeftOut = try isNotLeftOut(from: user, in: conversation, after: number, limit: limit)
        return try sql.first(
            """
            SELECT COUNT(*) FROM (
                \(Self.missedCalls(isNotLeftOut))
                LIMIT ?4) found
            """, [.id(user), .id(conversation), .integer(number), .integer(limit), .time(now)])?.int(0) ?? 0
    }

    package func unreadCount(
        of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> Int {
        let isNotLeftOut = try isNotLeftOut(from: user, in: conversation, after: number, limit: limit)
        return try sql.first(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM messages m
                WHERE m.conversation_id = ?2 AND m.number > ?3 AND m.author <> ?1 AND \(Self.isCounted(at: 5))
                    AND m.kind <> 'call' AND \(isNotLeftOut)
                UNION ALL
                \(Self.missedCalls(isNotLeftOut))
                LIMIT ?4) found
            """, [.id(user), .id(conversation), .integer(number), .integer(limit), .time(now)])?.int(0) ?? 0
    }

    package func mentionCount(
        of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> Int {
        let isNotLeftOut = try isNotLeftOut(from: user, in: conversation, after: number, limit: limit)
        return try sql.first(
            """
            SELECT COUNT(*) FROM (
                SELECT DISTINCT m.number FROM mentions n
                CROSS JOIN messages m
                WHERE m.conversation_id = n.conversation_id AND m.number = n.number
                    AND n.user_id IN (?1, '') AND n.conversation_id = ?2 AND n.number > ?3 AND m.author <> ?1
                    AND \(Self.isCounted(at: 5)) AND \(isNotLeftOut)
                LIMIT ?4) found
            """, [.id(user), .id(conversation), .integer(number), .integer(limit), .time(now)])?.int(0) ?? 0
    }
}

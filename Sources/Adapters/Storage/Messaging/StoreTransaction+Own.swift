import Languages
package import Messaging
package import Model

// The rows of what is one user's own: notes on messages, and memberships.
extension StoreTransaction {
    static let ownColumns = "conversation_id, number, starred_at, hidden, listened_at, counter"
    private static let membershipColumns = """
        muted, muted_until, mentions, pinned, archived, marked_unread, receipts, draft, draft_reply_to, draft_revision,
        removed_after, counter, translation_mode, translation_into, translation_tone, intelligence, hints,
        choices_since
        """

    package func nextCounter() throws -> Int64 {
        let row = try sql.first("UPDATE log SET own_counter = own_counter + 1 WHERE id = 1 RETURNING own_counter")
        guard let row else { throw SQLError(.failed, "The counter of own rows is missing.") }
        return try row.integer(0)
    }

    package func ownRows(
        of user: UserID, in conversation: ConversationID, _ numbers: ClosedRange<Int64>
    ) throws -> [OwnRow] {
        try sql.query(
            """
            SELECT \(Self.ownColumns) FROM own
            WHERE user_id = ?1 AND conversation_id = ?2 AND number BETWEEN ?3 AND ?4 ORDER BY number
            """, [.id(user), .id(conversation), .integer(numbers.lowerBound), .integer(numbers.upperBound)]
        ).map { try Self.ownRow($0) }
    }

    package func ownRows(
        of user: UserID, in conversation: ConversationID, changedAfter counter: Int64, limit: Int
    ) throws -> [OwnRow] {
        try sql.query(
            """
            SELECT \(Self.ownColumns) FROM own WHERE user_id = ?1 AND conversation_id = ?2 AND counter > ?3
            ORDER BY counter LIMIT ?4
            """, [.id(user), .id(conversation), .integer(counter), .integer(limit)]
        ).map { try Self.ownRow($0) }
    }

    /// The position of the streams of marks.
    package func marksPosition() throws -> Position {
        let row = try sql.first("SELECT own_counter FROM log WHERE id = 1")
        return Position(epoch: try epoch(), sequence: try row?.integer(0) ?? 0)
    }

    package func hiddenNumbers(
        of user: UserID, in conversation: ConversationID, _ numbers: ClosedRange<Int64>, limit: Int
    ) throws -> [Int64] {
        try sql.query(
            """
            SELECT number FROM own
            WHERE user_id = ?1 AND conversation_id = ?2 AND number BETWEEN ?3 AND ?4 AND hidden = 1
            ORDER BY number DESC LIMIT ?5
            """,
            [
                .id(user), .id(conversation), .integer(numbers.lowerBound), .integer(numbers.upperBound),
                .integer(limit),
            ]
        ).map { try $0.integer(0) }
    }

    package func hidden(of numbers: [Int64], by user: UserID, in conversation: ConversationID) throws -> [Int64] {
        try numbers.batches.flatMap { batch in
            try sql.query(
                """
                SELECT number FROM own WHERE user_id = ?1 AND conversation_id = ?2 AND hidden = 1
                    AND number IN \(Placeholders.list(batch.count, from: 3))
                """, [.id(user), .id(conversation)] + batch.map { .integer($0) }
            ).map { try $0.integer(0) }
        }
    }

    package func save(_ row: OwnRow, of user: UserID) throws {
        try sql.execute(
            """
            INSERT INTO own (user_id, \(Self.ownColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (user_id, conversation_id, number) DO UPDATE SET starred_at = ?4, hidden = ?5, listened_at = ?6,
                counter = ?7
            """,
            [
                .id(user), .id(row.conversation), .integer(row.number), .time(row.starredAt), .bool(row.isHidden),
                .time(row.listenedAt), .integer(row.counter),
            ])
        if row.isHidden { touched.hide(by: user, in: row.conversation) }
        touched.save(row, of: user)
    }

    package func starred(of user: UserID, after position: StarredPosition?, limit: Int) throws -> [OwnRow] {
        try sql.query(
            """
            SELECT \(Self.ownColumns) FROM own
            WHERE user_id = ?1 AND starred_at IS NOT NULL AND starred_at <= ?2
                AND (starred_at < ?2 OR conversation_id < ?3 OR (conversation_id = ?3 AND number < ?4))
            ORDER BY starred_at DESC, conversation_id DESC, number DESC LIMIT ?5
            """,
            [
                .id(user), .integer(position?.starredAt.milliseconds ?? .max),
                .text(position?.conversation.text ?? ""), .integer(position?.number ?? 0), .integer(limit),
            ]
        ).map { try Self.ownRow($0) }
    }

    package func membership(of user: UserID, in conversation: ConversationID) throws -> Membership {
        try sql.first(
            "SELECT \(Self.membershipColumns) FROM memberships WHERE user_id = ?1 AND conversation_id = ?2",
            [.id(user), .id(conversation)]
        ).map { try Self.membership($0) } ?? Membership()
    }

    package func save(_ membership: Membership, of user: UserID, in conversation: ConversationID) throws {
        let before = try self.membership(of: user, in: conversation)
        if before.receipts != membership.receipts { touched.receipts(of: user, in: conversation) }
        if before.choices != membership.choices { touched.choices(of: user, in: conversation) }
        try sql.execute(
            """
            INSERT INTO memberships (user_id, conversation_id, \(Self.membershipColumns))
            VALUES (
                ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
            ON CONFLICT (user_id, conversation_id) DO UPDATE SET muted = ?3, muted_until = ?4, mentions = ?5, pinned = ?6,
                archived = ?7, marked_unread = ?8, receipts = ?9, draft = ?10, draft_reply_to = ?11, draft_revision = ?12,
                removed_after = ?13, counter = ?14, translation_mode = ?15, translation_into = ?16, translation_tone = ?17,
                intelligence = ?18, hints = ?19, choices_since = ?20
            """,
            [
                .id(user), .id(conversation), .bool(membership.mute != nil), .time(membership.mute?.until),
                .bool(membership.mute?.allowsMentions ?? false), .bool(membership.isPinned),
                .bool(membership.isArchived), .bool(membership.isMarkedUnread),
                membership.receipts.map { .bool($0) } ?? .null, .text(membership.draft?.text),
                .integer(membership.draft?.replyTo), .integer(membership.draft?.revision),
                .integer(membership.removedAfter), .integer(membership.counter),
            ] + Self.values(of: membership.choices) + [.integer(membership.choicesSince)])
        touched.own(of: user, in: conversation)
    }

    package func pinnedConversationCount(of user: UserID) throws -> Int {
        try sql.first("SELECT COUNT(*) FROM memberships WHERE user_id = ?1 AND pinned = 1", [.id(user)])?.int(0) ?? 0
    }

    static func ownRow(_ row: SQLRow) throws -> OwnRow {
        var reader = ColumnReader(row)
        return OwnRow(
            conversation: try reader.id(), number: try reader.integer(), starredAt: try reader.timeIfPresent(),
            isHidden: try reader.bool(), listenedAt: try reader.timeIfPresent(), counter: try reader.integer())
    }

    private static func membership(_ row: SQLRow) throws -> Membership {
        var reader = ColumnReader(row)
        var membership = Membership()
        let (isMuted, until, allowsMentions) = (
            try reader.bool(), try reader.timeIfPresent(), try reader.bool()
        )
        if isMuted { membership.mute = Membership.Mute(until: until, allowsMentions: allowsMentions) }
        membership.isPinned = try reader.bool()
        membership.isArchived = try reader.bool()
        membership.isMarkedUnread = try reader.bool()
        membership.receipts = try reader.integerIfPresent().map { $0 != 0 }
        let (text, replyTo, revision) = (
            try reader.textIfPresent(), try reader.integerIfPresent(), try reader.integerIfPresent()
        )
        if let text, let revision { membership.draft = Draft(stored: text, replyTo: replyTo, revision: revision) }
        membership.removedAfter = try reader.integerIfPresent()
        membership.counter = try reader.integer()
        membership.choices = try choices(&reader)
        membership.choicesSince = try reader.integer()
        return membership
    }
}

package import Messaging
package import Model

// The rows of conversations and their members.
extension StoreTransaction {
    private static let conversationColumns = """
        id, kind, name, created_at, last_number, last_sent_at, sequence, member_count, who_writes, who_adds, who_renames,
        version
        """
    private static let memberColumns = "user_id, role, state, joined_at, version"

    package func conversation(_ id: ConversationID) throws -> Conversation? {
        try sql.first("SELECT \(Self.conversationColumns) FROM conversations WHERE id = ?1", [.id(id)])
            .map { try Self.conversation($0) }
    }

    package func conversation(of pair: ConversationPair) throws -> Conversation? {
        try sql.first("SELECT \(Self.conversationColumns) FROM conversations WHERE pair = ?1", [.text(pair.text)])
            .map { try Self.conversation($0) }
    }

    package func insert(_ conversation: Conversation, pair: ConversationPair?) throws {
        try sql.execute(
            """
            INSERT INTO conversations (
                id, kind, name, created_at, last_number, last_sent_at, sequence, member_count, who_writes, who_adds,
                who_renames, version, pair)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """,
            [
                .id(conversation.id), .text(conversation.kind.rawValue), .text(conversation.name),
                .time(conversation.createdAt), .integer(conversation.lastNumber), .time(conversation.lastSentAt),
                .integer(conversation.sequence), .integer(conversation.memberCount),
                .text(conversation.settings.write.rawValue), .text(conversation.settings.add.rawValue),
                .text(conversation.settings.rename.rawValue), .integer(conversation.version), .text(pair?.text),
            ])
    }

    package func update(_ conversation: Conversation) throws {
        try sql.execute(
            """
            UPDATE conversations SET name = ?2, last_number = ?3, last_sent_at = ?4, sequence = ?5, member_count = ?6,
                who_writes = ?7, who_adds = ?8, who_renames = ?9, version = ?10
            WHERE id = ?1
            """,
            [
                .id(conversation.id), .text(conversation.name), .integer(conversation.lastNumber),
                .time(conversation.lastSentAt), .integer(conversation.sequence), .integer(conversation.memberCount),
                .text(conversation.settings.write.rawValue), .text(conversation.settings.add.rawValue),
                .text(conversation.settings.rename.rawValue), .integer(conversation.version),
            ])
    }

    package func conversationCount(of user: UserID) throws -> Int {
        try sql.first("SELECT COUNT(*) FROM members WHERE user_id = ?1", [.id(user)])?.int(0) ?? 0
    }

    package func conversations(of user: UserID, after id: ConversationID?, limit: Int) throws -> [ConversationID] {
        try sql.query(
            """
            SELECT conversation_id FROM members WHERE user_id = ?1 AND conversation_id > ?2
            ORDER BY conversation_id LIMIT ?3
            """, [.id(user), .text(id?.text ?? ""), .integer(limit)]
        ).map { try $0.id(0) }
    }

    package func member(_ user: UserID, of conversation: ConversationID) throws -> Member? {
        try sql.first(
            "SELECT \(Self.memberColumns) FROM members WHERE conversation_id = ?1 AND user_id = ?2",
            [.id(conversation), .id(user)]
        ).map { try Self.member($0) }
    }

    package func members(of conversation: ConversationID, after user: UserID?, limit: Int) throws -> [Member] {
        try sql.query(
            """
            SELECT \(Self.memberColumns) FROM members WHERE conversation_id = ?1 AND user_id > ?2
            ORDER BY user_id LIMIT ?3
            """, [.id(conversation), .text(user?.text ?? ""), .integer(limit)]
        ).map { try Self.member($0) }
    }

    package func memberCount(of conversation: ConversationID) throws -> Int {
        try sql.first(
            "SELECT COUNT(*) FROM members WHERE conversation_id = ?1 AND state <> 'left'", [.id(conversation)])?.int(0)
            ?? 0
    }

    package func nextOwner(of conversation: ConversationID) throws -> Member? {
        try sql.first(
            """
            SELECT \(Self.memberColumns) FROM members WHERE conversation_id = ?1 AND state = 'member'
            ORDER BY CASE role WHEN 'owner' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END, joined_at, user_id LIMIT 1
            """, [.id(conversation)]
        ).map { try Self.member($0) }
    }

    package func save(_ member: Member, of conversation: ConversationID) throws {
        try sql.execute(
            """
            INSERT INTO members (conversation_id, user_id, role, state, joined_at, version)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (conversation_id, user_id)
            DO UPDATE SET role = ?3, state = ?4, joined_at = ?5, version = ?6
            """,
            [
                .id(conversation), .id(member.user), .text(member.role.rawValue), .text(member.state.rawValue),
                .time(member.joinedAt), .integer(member.version),
            ])
    }

    package func spans(of user: UserID, in conversation: ConversationID) throws -> MembershipSpans {
        let spans = try sql.query(
            """
            SELECT from_number, until_number, until_sequence FROM spans WHERE conversation_id = ?1 AND user_id = ?2
            ORDER BY from_number
            """, [.id(conversation), .id(user)]
        ).map { row in
            MembershipSpans.Span(
                from: try row.integer(0), until: try row.integerIfPresent(1),
                untilSequence: try row.integerIfPresent(2))
        }
        return MembershipSpans(spans)
    }

    package func save(_ spans: MembershipSpans, of user: UserID, in conversation: ConversationID) throws {
        try sql.execute(
            "DELETE FROM spans WHERE conversation_id = ?1 AND user_id = ?2", [.id(conversation), .id(user)])
        for span in spans.spans {
            try sql.execute(
                """
                INSERT INTO spans (conversation_id, user_id, from_number, until_number, until_sequence)
                VALUES (?1, ?2, ?3, ?4, ?5)
                """,
                [
                    .id(conversation), .id(user), .integer(span.from), .integer(span.until),
                    .integer(span.untilSequence),
                ])
        }
    }

    private static func conversation(_ row: SQLRow) throws -> Conversation {
        var reader = ColumnReader(row)
        return Conversation(
            id: try reader.id(), kind: try reader.enumCase(), name: try reader.textIfPresent(),
            createdAt: try reader.time(), lastNumber: try reader.integer(), lastSentAt: try reader.time(),
            sequence: try reader.integer(), memberCount: try reader.int(),
            settings: ConversationSettings(
                write: try reader.enumCase(), add: try reader.enumCase(), rename: try reader.enumCase()),
            version: try reader.integer())
    }

    private static func member(_ row: SQLRow) throws -> Member {
        var reader = ColumnReader(row)
        return Member(
            user: try reader.id(), role: try reader.enumCase(), state: try reader.enumCase(),
            joinedAt: try reader.time(), version: try reader.integer())
    }
}

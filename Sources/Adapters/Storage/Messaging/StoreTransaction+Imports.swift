import Accounts
package import Messaging
package import Model
package import Transfer

extension StoreTransaction: ImportStore {}

// The rows of imports.
extension StoreTransaction {
    package func withoutUpdates<Value>(_ body: () throws -> Value) throws -> Value {
        let before = touched.isSuspended
        touched.isSuspended = true
        defer { touched.isSuspended = before }
        return try body()
    }

    package func importedRecord(_ key: [UInt8]) throws -> ImportedRecord? {
        try sql.first(
            "SELECT kind, entity, user_id, digest, is_done, last_number FROM imported WHERE key = ?1", [.blob(key)]
        ).map { row in
            ImportedRecord(
                key: key, kind: try row.text(0), entity: try row.text(1),
                user: try row.textIfPresent(2).flatMap { UserID($0) }, digest: try row.blob(3),
                isDone: try row.bool(4), lastNumber: try row.integer(5))
        }
    }

    package func save(_ record: ImportedRecord) throws {
        try sql.execute(
            """
            INSERT INTO imported (key, kind, entity, user_id, digest, is_done, last_number)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (key) DO UPDATE SET entity = ?3, user_id = ?4, digest = ?5, is_done = ?6, last_number = ?7
            """,
            [
                .blob(record.key), .text(record.kind), .text(record.entity), .text(record.user?.text),
                .blob(record.digest), .bool(record.isDone), .integer(record.lastNumber),
            ])
    }

    package func importedMessage(_ id: ClientID) throws -> (message: Message, digest: [UInt8])? {
        try sql.first(
            "SELECT \(Self.messageColumns), digest FROM messages WHERE client_id = ?1 AND imported = 1", [.id(id)]
        ).map { (try Self.message($0), try $0.blob(Self.messageColumnCount)) }
    }

    package func firebaseHash() throws -> String? {
        try sql.first(
            """
            SELECT password_hash FROM users
            WHERE password_hash >= '$fbscrypt$' AND password_hash < '$fbscrypt%' LIMIT 1
            """)?.text(0)
    }
}

// Those who wait for the messages of their conversation.
extension StoreTransaction {
    private static let waitingColumns = "user_id, role, state, joined_at, is_unread"

    package func save(_ member: WaitingMember, of conversation: ConversationID) throws {
        try sql.execute(
            """
            INSERT INTO import_members (conversation_id, \(Self.waitingColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (conversation_id, user_id) DO UPDATE SET role = ?3, state = ?4, joined_at = ?5, is_unread = ?6
            """,
            [
                .id(conversation), .id(member.user), .text(member.role.rawValue), .text(member.state.rawValue),
                .time(member.joinedAt), .bool(member.isUnread),
            ])
    }

    package func waitingMembers(
        of conversation: ConversationID, after user: UserID?, limit: Int
    ) throws -> [WaitingMember] {
        try sql.query(
            """
            SELECT \(Self.waitingColumns) FROM import_members WHERE conversation_id = ?1 AND user_id > ?2
            ORDER BY user_id LIMIT ?3
            """, [.id(conversation), .text(user?.text ?? ""), .integer(limit)]
        ).map { try Self.waitingMember($0) }
    }

    package func removeDeletedWaiting(of conversation: ConversationID) throws {
        try sql.execute(
            """
            DELETE FROM import_members WHERE conversation_id = ?1
                AND EXISTS (SELECT 1 FROM users u WHERE u.id = import_members.user_id AND u.deleted_at IS NOT NULL)
            """, [.id(conversation)])
    }

    package func waitingCounts(of conversation: ConversationID) throws -> (members: Int, owners: Int) {
        let row = try sql.first(
            """
            SELECT COUNT(*), COALESCE(SUM(CASE role WHEN 'owner' THEN 1 ELSE 0 END), 0) FROM import_members
            WHERE conversation_id = ?1 AND state = 'member'
            """, [.id(conversation)])
        return (try row?.int(0) ?? 0, try row?.int(1) ?? 0)
    }

    package func nextWaitingOwner(of conversation: ConversationID) throws -> WaitingMember? {
        try sql.first(
            """
            SELECT \(Self.waitingColumns) FROM import_members WHERE conversation_id = ?1 AND state = 'member'
            ORDER BY CASE role WHEN 'owner' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END, joined_at, user_id LIMIT 1
            """, [.id(conversation)]
        ).map { try Self.waitingMember($0) }
    }

    package func admitWaiting(to conversation: Conversation, marksCounter: Int64) throws {
        let (id, last) = (SQLValue.id(conversation.id), SQLValue.integer(conversation.lastNumber))
        try sql.execute(
            """
            INSERT INTO spans (conversation_id, user_id, from_number, until_number, until_sequence)
            SELECT conversation_id, user_id, 0, NULL, NULL FROM import_members w
            WHERE conversation_id = ?1 AND state <> 'left' AND NOT EXISTS (
                SELECT 1 FROM spans s WHERE s.conversation_id = w.conversation_id AND s.user_id = w.user_id)
            """, [id])
        if conversation.lastNumber > 0 {
            let shown = try Self.text(of: [ReadMarks.Shown(from: 0, to: conversation.lastNumber)])
            try sql.execute(
                """
                INSERT INTO marks (conversation_id, user_id, read, delivered, shown, counter)
                SELECT conversation_id, user_id, ?2, ?2, ?3, ?4 FROM import_members w
                WHERE conversation_id = ?1 AND state = 'member' AND is_unread = 0 AND NOT EXISTS (
                    SELECT 1 FROM marks m WHERE m.conversation_id = w.conversation_id AND m.user_id = w.user_id)
                """, [id, last, .text(shown), .integer(marksCounter)])
        }
        let former = try Self.formerConversation(conversation)
        try sql.execute(
            """
            INSERT INTO members (conversation_id, user_id, role, state, joined_at, version, at_leaving)
            SELECT conversation_id, user_id, role, state, joined_at, ?2, CASE state WHEN 'left' THEN ?3 ELSE NULL END
            FROM import_members WHERE conversation_id = ?1
            """, [id, .integer(conversation.version), .text(former)])
        try sql.execute("DELETE FROM import_members WHERE conversation_id = ?1", [id])
    }

    package func setPair(_ pair: ConversationPair?, of conversation: ConversationID) throws {
        try sql.execute(
            "UPDATE conversations SET pair = ?2 WHERE id = ?1", [.id(conversation), .text(pair?.text)])
    }

    package func announceRetired(_ conversation: ConversationID, _ body: () throws -> Void) throws {
        let before = touched.isSuspended
        touched.isSuspended = false
        defer { touched.isSuspended = before }
        // Notes its state before.
        _ = try self.conversation(conversation)
        try body()
    }

    package func announceImported(_ conversation: ConversationID) throws {
        if !touched.imported.contains(conversation) { touched.imported.append(conversation) }
    }

    private static func waitingMember(_ row: SQLRow) throws -> WaitingMember {
        var reader = ColumnReader(row)
        return WaitingMember(
            user: try reader.id(), role: try reader.enumCase(), state: try reader.enumCase(),
            joinedAt: try reader.time(), isUnread: try reader.bool())
    }
}

// What is published of an import.
extension StoreTransaction {
    /// The activity of a conversation in which nobody has written here: below zero, so that it stands below those in which
    /// somebody has, in the order of the last messages.
    private static func activity(of conversation: Conversation) -> Int64 {
        conversation.lastSentAt.milliseconds &- 1 << 52
    }

    func finishImported(counter: Int64, epoch: String) throws -> [ConversationUpdate] {
        try touched.imported.compactMap { id in
            guard let conversation = try conversation(id) else { return nil }
            try sql.execute(
                """
                UPDATE conversations SET counter = ?2, activity = CASE WHEN activity > 0 THEN activity ELSE ?3 END,
                    kept_since = 0
                WHERE id = ?1
                """, [.id(id), .integer(counter), .integer(Self.activity(of: conversation))])
            try sql.execute(
                """
                UPDATE members SET counter = ?2, activity = ?3
                WHERE conversation_id = ?1 AND activity <= 0
                """, [.id(id), .integer(counter), .integer(Self.activity(of: conversation))])
            let members = try inboxUsers(of: id)
            return ConversationUpdate(
                conversation: id, epoch: epoch, after: conversation.sequence, upTo: conversation.sequence, rows: [],
                counter: counter, movesEverybody: true,
                access: Dictionary(members.map { ($0, ListenerAccess.changed) }) { first, _ in first })
        }
    }
}

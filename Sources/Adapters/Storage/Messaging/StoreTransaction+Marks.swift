package import Messaging
package import Model

// The rows of marks, and of when they rose.
extension StoreTransaction {
    private static let markColumns = "user_id, read, delivered, shown, counter, received"
    private static let joinedMarkColumns = "k.user_id, k.read, k.delivered, k.shown, k.counter, k.received"

    package func sendsReceipts(_ user: UserID) throws -> Bool {
        try sql.first("SELECT receipts FROM users WHERE id = ?1", [.id(user)])?.bool(0) ?? false
    }

    package func marks(of user: UserID, in conversation: ConversationID) throws -> MemberMarks? {
        try sql.first(
            "SELECT \(Self.markColumns) FROM marks WHERE conversation_id = ?1 AND user_id = ?2",
            [.id(conversation), .id(user)]
        ).map { try Self.marks($0) }
    }

    package func marks(in conversation: ConversationID, after user: UserID?, limit: Int) throws -> [MemberMarks] {
        try sql.query(
            """
            SELECT \(Self.markColumns) FROM marks WHERE conversation_id = ?1 AND user_id > ?2
            ORDER BY user_id LIMIT ?3
            """, [.id(conversation), .text(user?.text ?? ""), .integer(limit)]
        ).map { try Self.marks($0) }
    }

    package func marksOfMembers(of conversation: ConversationID, limit: Int) throws -> [MemberMarks] {
        try sql.query(
            """
            SELECT \(Self.joinedMarkColumns) FROM members m
            JOIN marks k ON k.conversation_id = m.conversation_id AND k.user_id = m.user_id
            WHERE m.conversation_id = ?1 AND m.state = 'member' ORDER BY m.user_id LIMIT ?2
            """, [.id(conversation), .integer(limit)]
        ).map { try Self.marks($0) }
    }

    package func save(_ marks: MemberMarks, in conversation: ConversationID) throws {
        let before = try self.marks(of: marks.user, in: conversation)?.marks ?? ReadMarks()
        touched.save(
            marks, in: conversation,
            isShown: before.shown != marks.marks.shown || before.delivered != marks.marks.delivered
                || touched[conversation]?.spans.contains(marks.user) == true)
        try sql.execute(
            """
            INSERT INTO marks (conversation_id, \(Self.markColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (conversation_id, user_id)
            DO UPDATE SET read = ?3, delivered = ?4, shown = ?5, counter = ?6, received = ?7
            """,
            [
                .id(conversation), .id(marks.user), .integer(marks.marks.read), .integer(marks.marks.delivered),
                .text(try Self.text(of: marks.marks.shown)), .integer(marks.counter), .integer(marks.marks.received),
            ])
        touched.own(of: marks.user, in: conversation)
    }

    package func insert(_ rise: MarkRise, in conversation: ConversationID) throws {
        try sql.execute(
            """
            INSERT INTO mark_rises (conversation_id, user_id, kind, to_number, from_number, at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (conversation_id, user_id, kind, to_number) DO UPDATE SET from_number = ?5, at = ?6
            """,
            [
                .id(conversation), .id(rise.user), .text(rise.kind.rawValue), .integer(rise.to),
                .integer(rise.from), .time(rise.at),
            ])
    }

    package func rise(
        _ kind: MarkRise.Kind, of user: UserID, over number: Int64, in conversation: ConversationID
    ) throws -> MarkRise? {
        let row = try sql.first(
            """
            SELECT from_number, to_number, at FROM mark_rises
            WHERE conversation_id = ?1 AND user_id = ?2 AND kind = ?3 AND to_number >= ?4 ORDER BY to_number LIMIT 1
            """, [.id(conversation), .id(user), .text(kind.rawValue), .integer(number)])
        guard let row, try row.integer(0) < number else { return nil }
        return MarkRise(
            user: user, kind: kind, from: try row.integer(0), to: try row.integer(1), at: try row.time(2))
    }

    package func removeRises(of user: UserID, upTo number: Int64, in conversation: ConversationID) throws {
        for kind in MarkRise.Kind.allCases {
            try sql.execute(
                """
                DELETE FROM mark_rises WHERE conversation_id = ?1 AND user_id = ?2 AND kind = ?3 AND to_number <= ?4
                """, [.id(conversation), .id(user), .text(kind.rawValue), .integer(number)])
        }
    }

    /// Removes up to `limit` of those that are no longer kept. Returns how many.
    package func removeOldRises(limit: Int) throws -> Int {
        let time = now.adding(seconds: -ConversationLimits().receiptSeconds)
        return try sql.execute(
            """
            DELETE FROM mark_rises WHERE (conversation_id, user_id, kind, to_number) IN (
                SELECT conversation_id, user_id, kind, to_number FROM mark_rises WHERE at < ?1 ORDER BY at LIMIT ?2)
            """, [.time(time), .integer(limit)])
    }

    private static func marks(_ row: SQLRow) throws -> MemberMarks {
        var reader = ColumnReader(row)
        let user: UserID = try reader.id()
        let (read, delivered) = (try reader.integer(), try reader.integer())
        let shown: [ReadMarks.Shown] = try array(try reader.textIfPresent())
        let counter = try reader.integer()
        return MemberMarks(
            user: user,
            marks: ReadMarks(read: read, delivered: delivered, shown: shown, received: try reader.integer()),
            counter: counter)
    }
}

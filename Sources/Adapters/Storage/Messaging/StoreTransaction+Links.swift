package import Messaging
package import Model

// The links of groups.
extension StoreTransaction {
    private static let linkColumns = """
        id, conversation_id, maker, created_at, expires_at, max_uses, uses, sequence
        """

    package func groupLink(hash: [UInt8]) throws -> GroupLink? {
        try sql.first("SELECT \(Self.linkColumns) FROM group_links WHERE hash = ?1", [.blob(hash)])
            .map { try Self.groupLink($0) }
    }

    package func groupLinks(of conversation: ConversationID) throws -> [GroupLink] {
        try sql.query(
            "SELECT \(Self.linkColumns) FROM group_links WHERE conversation_id = ?1 ORDER BY id", [.id(conversation)]
        ).map { try Self.groupLink($0) }
    }

    package func insert(_ link: GroupLink, hash: [UInt8]) throws {
        try sql.execute(
            """
            INSERT INTO group_links (\(Self.linkColumns), hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """,
            [
                .id(link.id), .id(link.conversation), .id(link.maker), .time(link.createdAt), .time(link.expiresAt),
                .integer(link.maxUses.map { Int64($0) }), .integer(link.uses), .integer(link.sequence), .blob(hash),
            ])
    }

    package func update(_ link: GroupLink) throws {
        try sql.execute(
            "UPDATE group_links SET uses = ?3 WHERE conversation_id = ?1 AND id = ?2",
            [.id(link.conversation), .id(link.id), .integer(link.uses)])
    }

    package func remove(_ link: GroupLink) throws {
        try sql.execute(
            "DELETE FROM group_links WHERE conversation_id = ?1 AND id = ?2", [.id(link.conversation), .id(link.id)])
    }

    private static func groupLink(_ row: SQLRow) throws -> GroupLink {
        var reader = ColumnReader(row)
        return GroupLink(
            id: try reader.id(), conversation: try reader.id(), maker: try reader.id(), createdAt: try reader.time(),
            expiresAt: try reader.time(), maxUses: try reader.integerIfPresent().map { Int(clamping: $0) },
            uses: try reader.int(), sequence: try reader.integer())
    }
}

// What people have declined.
extension StoreTransaction {
    package func declines(of user: UserID, _ subject: DeclineSubject) throws -> Declines? {
        try sql.first(
            "SELECT count, last_at FROM declines WHERE user_id = ?1 AND subject = ?2",
            [.id(user), .text(subject.text)]
        ).map { Declines(count: try $0.int(0), last: try $0.time(1)) }
    }

    package func save(_ declines: Declines, of user: UserID, _ subject: DeclineSubject) throws {
        try sql.execute(
            """
            INSERT INTO declines (user_id, subject, count, last_at) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (user_id, subject) DO UPDATE SET count = ?3, last_at = ?4
            """, [.id(user), .text(subject.text), .integer(declines.count), .time(declines.last)])
    }
}

internal import Foundation
package import Messaging
package import Model

extension StoreTransaction: MessagingStore {}

// The rows of messages.
extension StoreTransaction {
    private static let messageColumns = """
        conversation_id, number, client_id, author, sent_at, kind, text, ranges, version, text_version, reply_to, edited_at,
        deleted_at, withheld, text_withheld
        """

    package func message(_ number: Int64, in conversation: ConversationID) throws -> Message? {
        try sql.first(
            "SELECT \(Self.messageColumns) FROM messages WHERE conversation_id = ?1 AND number = ?2",
            [.id(conversation), .integer(number)]
        ).map { try Self.message($0) }
    }

    package func messages(
        in conversation: ConversationID, _ numbers: ClosedRange<Int64>, visibleTo user: UserID, isNewestFirst: Bool,
        limit: Int
    ) throws -> [Message] {
        try sql.query(
            """
            SELECT \(Self.messageColumns) FROM messages
            WHERE conversation_id = ?1 AND number BETWEEN ?2 AND ?3 AND (withheld = 0 OR author = ?4)
            ORDER BY number \(isNewestFirst ? "DESC" : "ASC") LIMIT ?5
            """,
            [
                .id(conversation), .integer(numbers.lowerBound), .integer(numbers.upperBound), .id(user),
                .integer(limit),
            ]
        ).map { try Self.message($0) }
    }

    package func message(sentWith clientID: ClientID, by author: UserID) throws -> (message: Message, digest: [UInt8])?
    {
        let row = try sql.first(
            "SELECT \(Self.messageColumns), digest FROM messages WHERE author = ?1 AND client_id = ?2",
            [.id(author), .id(clientID)])
        return try row.map { (try Self.message($0), try $0.blob(15)) }
    }

    package func messageCount(by author: UserID, in conversation: ConversationID, limit: Int) throws -> Int {
        try sql.first(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM messages WHERE conversation_id = ?1 AND author = ?2 LIMIT ?3) found
            """, [.id(conversation), .id(author), .integer(limit)])?.int(0) ?? 0
    }

    package func messages(by author: UserID, after clientID: ClientID?, limit: Int) throws -> [Message] {
        try sql.query(
            """
            SELECT \(Self.messageColumns) FROM messages WHERE author = ?1 AND client_id > ?2
            ORDER BY client_id LIMIT ?3
            """, [.id(author), .text(clientID?.text ?? ""), .integer(limit)]
        ).map { try Self.message($0) }
    }

    package func insert(_ message: Message, digest: [UInt8]) throws {
        try sql.execute(
            """
            INSERT INTO messages (\(Self.messageColumns), digest)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
            """,
            [
                .id(message.conversation), .integer(message.number), .id(message.clientID), .id(message.author),
                .time(message.sentAt), .text(message.kind.rawValue), .text(message.text),
                .text(try Self.text(of: message.ranges)), .integer(message.version), .integer(message.textVersion),
                .integer(message.replyTo), .time(message.editedAt), .time(message.deletedAt),
                .bool(message.isWithheld), .bool(message.isTextWithheld), .blob(digest),
            ])
    }

    package func update(_ message: Message) throws {
        try sql.execute(
            """
            UPDATE messages SET text = ?3, ranges = ?4, version = ?5, text_version = ?6, edited_at = ?7, deleted_at = ?8,
                text_withheld = ?9
            WHERE conversation_id = ?1 AND number = ?2
            """,
            [
                .id(message.conversation), .integer(message.number), .text(message.text),
                .text(try Self.text(of: message.ranges)), .integer(message.version), .integer(message.textVersion),
                .time(message.editedAt), .time(message.deletedAt), .bool(message.isTextWithheld),
            ])
    }

    package func eraseDigest(of number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            "UPDATE messages SET digest = ?3 WHERE conversation_id = ?1 AND number = ?2",
            [.id(conversation), .integer(number), .blob([])])
    }

    package func edits(of number: Int64, in conversation: ConversationID) throws -> [MessageEdit] {
        try sql.query(
            """
            SELECT text_version, text, written_at, withheld FROM edits WHERE conversation_id = ?1 AND number = ?2
            ORDER BY text_version
            """, [.id(conversation), .integer(number)]
        ).map { row in
            MessageEdit(
                textVersion: try row.integer(0), text: try row.text(1), writtenAt: try row.time(2),
                isWithheld: try row.bool(3))
        }
    }

    package func insert(_ edit: MessageEdit, of number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            """
            INSERT INTO edits (conversation_id, number, text_version, text, written_at, withheld)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            [
                .id(conversation), .integer(number), .integer(edit.textVersion), .text(edit.text),
                .time(edit.writtenAt), .bool(edit.isWithheld),
            ])
    }

    package func removeEdits(of number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            "DELETE FROM edits WHERE conversation_id = ?1 AND number = ?2", [.id(conversation), .integer(number)])
    }

    private static func message(_ row: SQLRow) throws -> Message {
        var reader = ColumnReader(row)
        var message = Message(
            conversation: try reader.id(), number: try reader.integer(), clientID: try reader.id(),
            author: try reader.id(), sentAt: try reader.time(), kind: try reader.enumCase(),
            text: try reader.textIfPresent(), ranges: try ranges(try reader.textIfPresent()),
            version: try reader.integer(), textVersion: try reader.integer(), replyTo: try reader.integerIfPresent(),
            editedAt: try reader.timeIfPresent(), deletedAt: try reader.timeIfPresent(),
            isWithheld: try reader.bool())
        message.isTextWithheld = try reader.bool()
        return message
    }

    /// Nil for none, as most messages have none.
    private static func text(of ranges: [TextRange]) throws -> String? {
        ranges.isEmpty ? nil : try json(ranges)
    }

    private static func ranges(_ text: String?) throws -> [TextRange] {
        guard let text else { return [] }
        return try JSONDecoder().decode([TextRange].self, from: Data(text.utf8))
    }
}

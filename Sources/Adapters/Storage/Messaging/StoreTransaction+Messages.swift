internal import Foundation
import Languages
package import Messaging
package import Model

extension StoreTransaction: MessagingStore {}

// The rows of messages.
extension StoreTransaction {
    static let messageColumns = """
        conversation_id, number, client_id, author, sent_at, kind, text, ranges, version, text_version, reply_to, edited_at,
        deleted_at, withheld, text_withheld, reactions, shown_version,
        thread, replies, forwarded_from, call, expires_at, voice, notice, language, language_is_sure
        """
    /// The number of `messageColumns`.
    static let messageColumnCount = 26

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
        try messages(
            in: conversation, numbers, visibleTo: user, isNewestFirst: isNewestFirst, limit: limit, thread: nil)
    }

    package func replies(
        to root: Int64, in conversation: ConversationID, _ numbers: ClosedRange<Int64>, visibleTo user: UserID,
        isNewestFirst: Bool, limit: Int
    ) throws -> [Message] {
        try messages(
            in: conversation, numbers, visibleTo: user, isNewestFirst: isNewestFirst, limit: limit, thread: root)
    }

    private func messages(
        in conversation: ConversationID, _ numbers: ClosedRange<Int64>, visibleTo user: UserID, isNewestFirst: Bool,
        limit: Int, thread: Int64?
    ) throws -> [Message] {
        try sql.query(
            """
            SELECT \(Self.messageColumns) FROM messages
            WHERE conversation_id = ?1 AND number BETWEEN ?2 AND ?3 AND (withheld = 0 OR author = ?4)
                AND NOT EXISTS (
                    SELECT 1 FROM own o WHERE o.user_id = ?4 AND o.conversation_id = ?1 AND o.number = messages.number
                        AND o.hidden = 1)
                \(thread == nil ? "" : "AND thread = ?6")
            ORDER BY number \(isNewestFirst ? "DESC" : "ASC") LIMIT ?5
            """,
            [
                .id(conversation), .integer(numbers.lowerBound), .integer(numbers.upperBound), .id(user),
                .integer(limit),
            ] + (thread.map { [.integer($0)] } ?? [])
        ).map { try Self.message($0) }
    }

    /// `born` rises with the number: the number is found by halving.
    package func lastNumber(of conversation: ConversationID, at sequence: Int64) throws -> Int64 {
        var known: Int64 = 0
        var above = try (self.conversation(conversation)?.lastNumber ?? 0) + 1
        while above - known > 1 {
            let middle = known + (above - known) / 2
            let row = try sql.first(
                "SELECT born FROM messages WHERE conversation_id = ?1 AND number = ?2",
                [.id(conversation), .integer(middle)])
            if try row?.integer(0) ?? 0 <= sequence { known = middle } else { above = middle }
        }
        return known
    }

    package func changedMessages(
        in conversation: ConversationID, after sequence: Int64, numbers: ClosedRange<Int64>, limit: Int
    ) throws -> [Message] {
        try sql.query(
            """
            SELECT \(Self.messageColumns) FROM messages
            WHERE conversation_id = ?1 AND version > ?2 AND version > born AND number BETWEEN ?3 AND ?4
            ORDER BY version LIMIT ?5
            """,
            [
                .id(conversation), .integer(sequence), .integer(numbers.lowerBound), .integer(numbers.upperBound),
                .integer(limit),
            ]
        ).map { try Self.message($0) }
    }

    package func withheldReplyCounts(
        by author: UserID, to roots: ClosedRange<Int64>, in conversation: ConversationID
    ) throws -> [Int64: Int] {
        let rows = try sql.query(
            """
            SELECT thread, COUNT(*) FROM messages
            WHERE conversation_id = ?1 AND thread BETWEEN ?2 AND ?3 AND withheld = 1 AND author = ?4
                AND deleted_at IS NULL
            GROUP BY thread
            """, [.id(conversation), .integer(roots.lowerBound), .integer(roots.upperBound), .id(author)])
        return try Dictionary(rows.map { (try $0.integer(0), try $0.int(1)) }) { count, _ in count }
    }

    package func message(sentWith clientID: ClientID, by author: UserID) throws -> (message: Message, digest: [UInt8])?
    {
        if let waiting = waitingMessage(sentWith: clientID, by: author) { return waiting }
        let row = try connection.first(
            "SELECT \(Self.messageColumns), digest FROM messages WHERE author = ?1 AND client_id = ?2",
            [.id(author), .id(clientID)])
        return try row.map { (try Self.message($0), try $0.blob(Self.messageColumnCount)) }
    }

    package func messageCount(by author: UserID, in conversation: ConversationID, limit: Int) throws -> Int {
        try sql.first(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM messages WHERE conversation_id = ?1 AND author = ?2 AND kind NOT IN ('call', 'notice') LIMIT ?3) found
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
        if !wait(toInsert: message, digest: digest) { try insert([(message, digest)]) }
        touched.save(message, isNew: true)
        conversationsWithNewMessages.insert(message.conversation)
        if message.deletedAt == nil, let time = message.expiresAt { note(due: time) }
    }

    func insert(_ messages: ArraySlice<(message: Message, digest: [UInt8])>) throws {
        let columns = Self.messageColumnCount + 3
        try connection.execute(
            """
            INSERT INTO messages (\(Self.messageColumns), digest, imported, born)
            VALUES \(Placeholders.rows(messages.count, of: columns))
            """, messages.flatMap { try values(of: $0.message, digest: $0.digest) })
    }

    private func values(of message: Message, digest: [UInt8]) throws -> [SQLValue] {
        [
            .id(message.conversation), .integer(message.number), .id(message.clientID), .id(message.author),
            .time(message.sentAt), .text(message.kind.rawValue), .text(message.text),
            .text(Self.text(of: message.ranges)), .integer(message.version), .integer(message.textVersion),
            .integer(message.replyTo), .time(message.editedAt), .time(message.deletedAt),
            .bool(message.isWithheld), .bool(message.isTextWithheld), .text(Self.text(of: message.reactions)),
            .integer(message.shownVersion), .integer(message.thread), .integer(message.replies),
            .id(message.forwardedFrom), .text(message.call.map { Self.text(of: $0) }),
            .time(message.expiresAt), .text(try message.voice.map { try Self.text(of: $0) }),
            .text(try message.notice.map { try Self.text(of: $0) }), .text(message.language?.code.string),
            .bool(message.language?.confidence == .high), .blob(digest), .bool(touched.isSuspended),
            .integer(message.version),
        ]
    }

    package func update(_ message: Message) throws {
        // What is deleted stays so. A column of an index costs a page of the index, whatever is set.
        let deletion = message.deletedAt == nil ? "" : "deleted_at = ?8,"
        try sql.execute(
            """
            UPDATE messages SET text = ?3, ranges = ?4, version = ?5, text_version = ?6, edited_at = ?7, \(deletion)
                text_withheld = ?9, reactions = ?10, shown_version = ?11, replies = ?12, forwarded_from = ?13, call = ?14,
                voice = ?15, notice = ?16, language = ?17, language_is_sure = ?18
            WHERE conversation_id = ?1 AND number = ?2
            """,
            [
                .id(message.conversation), .integer(message.number), .text(message.text),
                .text(Self.text(of: message.ranges)), .integer(message.version), .integer(message.textVersion),
                .time(message.editedAt), .time(message.deletedAt), .bool(message.isTextWithheld),
                .text(Self.text(of: message.reactions)), .integer(message.shownVersion),
                .integer(message.replies), .id(message.forwardedFrom),
                .text(message.call.map { Self.text(of: $0) }),
                .text(try message.voice.map { try Self.text(of: $0) }),
                .text(try message.notice.map { try Self.text(of: $0) }),
                .text(message.language?.code.string), .bool(message.language?.confidence == .high),
            ])
        touched.save(message, isNew: false)
    }

    package func eraseDigest(of number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            "UPDATE messages SET digest = ?3 WHERE conversation_id = ?1 AND number = ?2",
            [.id(conversation), .integer(number), .blob([])])
    }

    package func edits(of number: Int64, in conversation: ConversationID) throws -> [MessageEdit] {
        try sql.query(
            """
            SELECT \(Self.editColumns) FROM edits WHERE conversation_id = ?1 AND number = ?2
            ORDER BY text_version
            """, [.id(conversation), .integer(number)]
        ).map { try Self.edit($0) }
    }

    package func edits(
        of number: Int64, in conversation: ConversationID, after version: Int64, limit: Int
    ) throws -> [MessageEdit] {
        try sql.query(
            """
            SELECT \(Self.editColumns) FROM edits
            WHERE conversation_id = ?1 AND number = ?2 AND text_version > ?3 ORDER BY text_version LIMIT ?4
            """, [.id(conversation), .integer(number), .integer(version), .integer(limit)]
        ).map { try Self.edit($0) }
    }

    package func editCount(of number: Int64, in conversation: ConversationID) throws -> Int {
        try sql.first(
            "SELECT COUNT(*) FROM edits WHERE conversation_id = ?1 AND number = ?2",
            [.id(conversation), .integer(number)])?.int(0) ?? 0
    }

    package func edit(
        of number: Int64, in conversation: ConversationID, upTo version: Int64, includingWithheld: Bool
    ) throws -> (edit: MessageEdit, isFirst: Bool)? {
        let row = try sql.first(
            """
            SELECT \(Self.editColumns), NOT EXISTS (
                SELECT 1 FROM edits f WHERE f.conversation_id = ?1 AND f.number = ?2
                    AND f.text_version < edits.text_version)
            FROM edits WHERE conversation_id = ?1 AND number = ?2 AND text_version <= ?3 AND withheld <= ?4
            ORDER BY text_version DESC LIMIT 1
            """, [.id(conversation), .integer(number), .integer(version), .bool(includingWithheld)])
        return try row.map { (try Self.edit($0), try $0.bool(7)) }
    }

    private static let editColumns = "text_version, text, written_at, withheld, language, language_is_sure, ranges"

    private static func edit(_ row: SQLRow) throws -> MessageEdit {
        MessageEdit(
            textVersion: try row.integer(0), text: try row.text(1),
            ranges: try row.textIfPresent(6).map { try ranges($0) },
            language: language(try row.textIfPresent(4), isSure: try row.bool(5)), writtenAt: try row.time(2),
            isWithheld: try row.bool(3))
    }

    package func insert(_ edit: MessageEdit, of number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            """
            INSERT INTO edits (
                conversation_id, number, text_version, text, written_at, withheld, language, language_is_sure, ranges)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """,
            [
                .id(conversation), .integer(number), .integer(edit.textVersion), .text(edit.text),
                .time(edit.writtenAt), .bool(edit.isWithheld), .text(edit.language?.code.string),
                .bool(edit.language?.confidence == .high),
                .text(edit.storedRanges.map { Self.text(of: $0) ?? Self.noRanges }),
            ])
    }

    /// NULL is for those that were not looked for.
    private static let noRanges = "[]"

    package func removeEdits(of number: Int64, in conversation: ConversationID) throws -> Int {
        try sql.query(
            "DELETE FROM edits WHERE conversation_id = ?1 AND number = ?2 RETURNING LENGTH(text)",
            [.id(conversation), .integer(number)]
        ).reduce(0) { $0 + (try $1.int(0)) }
    }

    static func message(_ row: SQLRow) throws -> Message {
        var reader = ColumnReader(row)
        var message = Message(
            conversation: try reader.id(), number: try reader.integer(), clientID: try reader.id(),
            author: try reader.id(), sentAt: try reader.time(), kind: try reader.enumCase(),
            text: try reader.textIfPresent(), ranges: try ranges(try reader.textIfPresent()),
            version: try reader.integer(), textVersion: try reader.integer(), replyTo: try reader.integerIfPresent(),
            editedAt: try reader.timeIfPresent(), deletedAt: try reader.timeIfPresent(),
            isWithheld: try reader.bool())
        message.isTextWithheld = try reader.bool()
        message.reactions = try reactions(try reader.textIfPresent())
        message.shownVersion = try reader.integerIfPresent() ?? message.version
        message.thread = try reader.integerIfPresent()
        message.replies = try reader.int()
        message.forwardedFrom = try reader.idIfPresent()
        message.call = try reader.textIfPresent().map { try callRecord($0) }
        message.expiresAt = try reader.timeIfPresent()
        message.voice = try reader.textIfPresent().map { try voiceRecord($0) }
        message.notice = try reader.textIfPresent().map { try notice($0) }
        message.language = language(try reader.textIfPresent(), isSure: try reader.bool())
        return message
    }

    private static func language(_ code: String?, isSure: Bool) -> MessageLanguage? {
        code.flatMap { LanguageTag(wellFormed: $0) }.map {
            MessageLanguage(code: $0, confidence: isSure ? .high : .low)
        }
    }
}

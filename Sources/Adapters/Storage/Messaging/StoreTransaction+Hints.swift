package import Languages
package import Messaging
package import Model

// The rows of hints.
extension StoreTransaction {
    private static let hintColumns =
        "conversation_id, number, language, of_version, status, reason, items, engine, kind, level, touched, earlier"

    package func hints(
        of numbers: [Int64], in language: LanguageTag, in conversation: ConversationID
    ) throws -> [MessageHints] {
        try numbers.batches.flatMap { batch in
            try sql.query(
                """
                SELECT \(Self.hintColumns) FROM hints
                WHERE conversation_id = ?1 AND language = ?2 AND number IN \(Placeholders.list(batch.count, from: 3))
                """, [.id(conversation), .text(language.string)] + batch.map { .integer($0) }
            ).map { try Self.hints($0) }
        }
    }

    package func hints(
        in conversation: ConversationID, in language: LanguageTag, touchedAfter counter: Int64, limit: Int
    ) throws -> [MessageHints] {
        try sql.query(
            """
            SELECT \(Self.hintColumns) FROM hints
            WHERE conversation_id = ?1 AND language = ?2 AND touched > ?3 ORDER BY touched LIMIT ?4
            """, [.id(conversation), .text(language.string), .integer(counter), .integer(limit)]
        ).map { try Self.hints($0) }
    }

    package func hints(
        of number: Int64, textVersion: Int64, in language: LanguageTag, in conversation: ConversationID
    ) throws -> MessageHints? {
        try sql.first(
            """
            SELECT \(Self.hintColumns) FROM hints
            WHERE conversation_id = ?1 AND number = ?2 AND language = ?3 AND of_version = ?4
            """, [.id(conversation), .integer(number), .text(language.string), .integer(textVersion)]
        ).map { try Self.hints($0) }
    }

    package func hints(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [MessageHints] {
        try sql.query(
            """
            SELECT \(Self.hintColumns) FROM hints WHERE conversation_id = ?1 AND number > ?2
            ORDER BY number LIMIT ?3
            """, [.id(conversation), .integer(number), .integer(limit)]
        ).map { try Self.hints($0) }
    }

    package func hints(restingOn number: Int64, in conversation: ConversationID) throws -> [MessageHints] {
        try sql.query(
            """
            SELECT \(Self.hintColumns) FROM hints
            WHERE conversation_id = ?1 AND number > ?2 AND number <= ?3 AND earlier IS NOT NULL
            """, [.id(conversation), .integer(number), .integer(number + Int64(EarlierMessage.maxCount) + 1)]
        ).map { try Self.hints($0) }.filter { $0.earlier.contains(number) }
    }

    package func save(_ hints: MessageHints, for audience: TranslationAudience) throws {
        if hints.items.isEmpty, !hasErasedTexts,
            let known = try self.hints(
                of: hints.number, textVersion: hints.of, in: hints.language, in: hints.conversation)
        {
            hasErasedTexts = !known.items.isEmpty
        }
        var writer = JSONWriter()
        writer.array(hints.items) { $1.write(to: &$0) }
        try sql.execute(
            """
            INSERT INTO hints (\(Self.hintColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            ON CONFLICT (conversation_id, number, language, of_version)
            DO UPDATE SET status = ?5, reason = ?6, items = ?7, engine = ?8, kind = ?9, level = ?10, touched = ?11,
                earlier = ?12
            """,
            [
                .id(hints.conversation), .integer(hints.number), .text(hints.language.string), .integer(hints.of),
                .text(hints.status.rawValue), .text(hints.reason?.rawValue),
                .text(hints.items.isEmpty ? nil : writer.text), .text(hints.engine), .text(hints.kind?.rawValue),
                .text(hints.level.rawValue), .integer(hints.touched),
                .text(hints.earlier.isEmpty ? nil : hints.earlier.map(String.init).joined(separator: ",")),
            ])
        touched.save(hints, for: audience)
    }

    package func latestStart(before number: Int64, in conversation: ConversationID) throws -> Int64 {
        try sql.first(
            """
            SELECT MAX(from_number) FROM spans
            WHERE conversation_id = ?1 AND from_number < ?2 AND (until_number IS NULL OR until_number >= ?2)
            """, [.id(conversation), .integer(number)])?.integerIfPresent(0) ?? 0
    }

    package func earliestEnd(
        after sequence: Int64, _ number: Int64, in conversation: ConversationID
    ) throws -> Int64? {
        try sql.first(
            """
            SELECT MIN(until_sequence) FROM spans
            WHERE conversation_id = ?1 AND from_number < ?2 AND until_number >= ?2 AND until_sequence >= ?3
            """, [.id(conversation), .integer(number), .integer(sequence)])?.integerIfPresent(0)
    }

    private static func hints(_ row: SQLRow) throws -> MessageHints {
        var reader = ColumnReader(row)
        return MessageHints(
            conversation: try reader.id(), number: try reader.integer(), language: try language(&reader),
            of: try reader.integer(), status: try reader.enumCase(),
            reason: try reader.textIfPresent().flatMap { MessageTranslation.Reason(rawValue: $0) },
            items: try reader.textIfPresent().map { try Hint.list($0) } ?? [], engine: try reader.textIfPresent(),
            kind: try reader.textIfPresent().flatMap { MessageHints.Kind(rawValue: $0) },
            level: try reader.enumCase(), touched: try reader.integer(), earlier: try reader.textIfPresent())
    }
}

extension MessageHints {
    /// - Parameter earlier: numbers with commas between them.
    fileprivate init(
        conversation: ConversationID, number: Int64, language: LanguageTag, of: Int64,
        status: MessageTranslation.Status, reason: MessageTranslation.Reason?, items: [Hint], engine: String?,
        kind: Kind?, level: IntelligenceLevel, touched: Int64, earlier: String?
    ) {
        self.init(
            conversation: conversation, number: number, language: language, of: of, status: status, reason: reason,
            items: items, engine: engine, kind: kind, level: level,
            earlier: (earlier ?? "").split(separator: ",").compactMap { Int64($0) }, touched: touched)
    }
}

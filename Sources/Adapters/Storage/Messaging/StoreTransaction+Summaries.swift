package import Languages
package import Messaging
package import Model

// The rows of summaries.
extension StoreTransaction {
    private static let summaryColumns = "conversation_id, block, language, engine, level, fingerprint, items"

    package func summary(
        of block: Int64, in language: LanguageTag, in conversation: ConversationID
    ) throws -> SummaryBlock? {
        try sql.first(
            """
            SELECT \(Self.summaryColumns) FROM summary_blocks
            WHERE conversation_id = ?1 AND block = ?2 AND language = ?3
            """, [.id(conversation), .integer(block), .text(language.string)]
        ).map { try Self.summary($0) }
    }

    package func save(_ block: SummaryBlock) throws {
        var writer = JSONWriter()
        writer.array(block.items) { $1.write(to: &$0) }
        try sql.execute(
            """
            INSERT INTO summary_blocks (\(Self.summaryColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (conversation_id, block, language)
            DO UPDATE SET engine = ?4, level = ?5, fingerprint = ?6, items = ?7
            """,
            [
                .id(block.conversation), .integer(block.block), .text(block.language.string), .text(block.engine),
                .text(block.level.rawValue), .integer(block.fingerprint), .text(writer.text),
            ])
    }

    package func summaries(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [SummaryBlock] {
        try sql.query(
            """
            SELECT \(Self.summaryColumns) FROM summary_blocks
            WHERE conversation_id = ?1 AND block IN (
                SELECT DISTINCT block FROM summary_blocks WHERE conversation_id = ?1 AND block >= ?2
                ORDER BY block LIMIT ?3)
            ORDER BY block, language
            """, [.id(conversation), .integer(number / SummaryBlock.length), .integer(limit)]
        ).map { try Self.summary($0) }
    }

    package func removeSummary(
        of block: Int64, in language: LanguageTag, in conversation: ConversationID
    ) throws {
        hasErasedTexts = true
        try sql.execute(
            "DELETE FROM summary_blocks WHERE conversation_id = ?1 AND block = ?2 AND language = ?3",
            [.id(conversation), .integer(block), .text(language.string)])
    }

    /// In all languages.
    func removeSummaries(with number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            "DELETE FROM summary_blocks WHERE conversation_id = ?1 AND block = ?2",
            [.id(conversation), .integer(SummaryBlock.block(of: number))])
    }

    private static func summary(_ row: SQLRow) throws -> SummaryBlock {
        var reader = ColumnReader(row)
        return SummaryBlock(
            conversation: try reader.id(), block: try reader.integer(), language: try language(&reader),
            engine: try reader.text(), level: try reader.enumCase(), fingerprint: try reader.integer(),
            items: try MessageSummary.Item.list(try reader.text()))
    }
}

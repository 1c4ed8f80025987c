import Languages
import Model

extension DatabaseSchema {
    /// A glossary is one row: `terms` is a list of entries as JSON. As rows of their own, of which there are two hundred, they
    /// kept others waiting while they were written.
    static let glossaries = [
        Migration(
            61, "glossaries",
            ["CREATE TABLE glossaries (conversation_id TEXT PRIMARY KEY, terms TEXT NOT NULL)"],
            work: OlderGlossaries.move)
    ]
}

/// Glossaries of before, each entry of which is a row.
private enum OlderGlossaries {
    /// Moves those of one conversation.
    ///
    /// - Returns: whether there was one.
    static func move(_ sql: any SQLTransaction) throws -> Bool {
        let first = try sql.first("SELECT conversation_id FROM glossary_terms LIMIT 1", [])
        guard let conversation: ConversationID = try first?.id(0) else {
            try sql.execute("DROP TABLE glossary_terms")
            return false
        }
        let entries = try sql.query(
            "SELECT source, target, language FROM glossary_terms WHERE conversation_id = ?1 ORDER BY position",
            [.id(conversation)]
        ).compactMap { row -> GlossaryEntry? in
            guard let language = try? LanguageTag(row.text(2)) else { return nil }
            return GlossaryEntry(source: try row.text(0), target: try row.text(1), language: language)
        }
        try sql.execute(
            "INSERT INTO glossaries (conversation_id, terms) VALUES (?1, ?2)",
            [.id(conversation), .text(GlossaryEntry.json(entries))])
        try sql.execute("DELETE FROM glossary_terms WHERE conversation_id = ?1", [.id(conversation)])
        return true
    }
}

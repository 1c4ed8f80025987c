package import Languages
package import Model

// Glossaries, which are read and written as a whole.
extension StoreTransaction {
    package func glossary(of conversation: ConversationID) throws -> [GlossaryEntry] {
        let row = try sql.first("SELECT terms FROM glossaries WHERE conversation_id = ?1", [.id(conversation)])
        return try row.map { try GlossaryEntry.list($0.text(0)) } ?? []
    }

    package func setGlossary(_ entries: [GlossaryEntry], of conversation: ConversationID) throws {
        guard !entries.isEmpty else {
            try sql.execute("DELETE FROM glossaries WHERE conversation_id = ?1", [.id(conversation)])
            return
        }
        try sql.execute(
            """
            INSERT INTO glossaries (conversation_id, terms) VALUES (?1, ?2)
            ON CONFLICT (conversation_id) DO UPDATE SET terms = ?2
            """, [.id(conversation), .text(GlossaryEntry.json(entries))])
    }
}

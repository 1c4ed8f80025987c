package import Messaging
package import Model

// The rows of the search index.
extension StoreTransaction {
    private static let indexColumns = "index_key, indexed_to, terms_version"

    package func searchIndex(of conversation: ConversationID) throws -> SearchIndex? {
        try sql.first(
            "SELECT \(Self.indexColumns) FROM search_indexes WHERE conversation_id = ?1", [.id(conversation)]
        ).map { SearchIndex(key: try $0.integer(0), indexedTo: try $0.integer(1), version: try $0.integer(2)) }
    }

    package func insertSearchIndex(of conversation: ConversationID) throws -> SearchIndex {
        let last = try sql.first("SELECT MAX(index_key) FROM search_indexes")?.integerIfPresent(0) ?? 0
        let index = SearchIndex(key: last &+ 1)
        try sql.execute(
            "INSERT INTO search_indexes (conversation_id, \(Self.indexColumns)) VALUES (?1, ?2, ?3, ?4)",
            [.id(conversation), .integer(index.key), .integer(index.indexedTo), .integer(index.version)])
        return index
    }

    package func update(_ index: SearchIndex) throws {
        try sql.execute(
            "UPDATE search_indexes SET indexed_to = ?2, terms_version = ?3 WHERE index_key = ?1",
            [.integer(index.key), .integer(index.indexedTo), .integer(index.version)])
    }

    package func insert(_ postings: [SearchPosting], in index: SearchIndex) throws {
        for batch in postings.batches {
            try sql.execute(
                """
                INSERT INTO postings (index_key, block, term, number) VALUES \(Placeholders.rows(batch.count, of: 4))
                ON CONFLICT (index_key, block, term, number) DO NOTHING
                """, batch.flatMap { Self.key(of: $0, in: index) })
        }
    }

    package func remove(_ postings: [SearchPosting], from index: SearchIndex) throws {
        for posting in postings {
            try sql.execute(
                "DELETE FROM postings WHERE index_key = ?1 AND block = ?2 AND term = ?3 AND number = ?4",
                Self.key(of: posting, in: index))
        }
    }

    package func removeRows(of index: SearchIndex, limit: Int) throws -> Int {
        let removed = try sql.execute(
            """
            DELETE FROM postings WHERE (index_key, block, term, number) IN (
                SELECT index_key, block, term, number FROM postings WHERE index_key = ?1 LIMIT ?2)
            """, [.integer(index.key), .integer(limit)])
        guard removed < limit else { return removed }
        return removed
            + (try sql.execute(
                """
                DELETE FROM message_terms WHERE index_key = ?1 AND number IN (
                    SELECT number FROM message_terms WHERE index_key = ?1 LIMIT ?2)
                """, [.integer(index.key), .integer(limit - removed)]))
    }

    package func indexedTerms(of number: Int64, in index: SearchIndex) throws -> [SearchTerm] {
        let row = try sql.first(
            "SELECT terms FROM message_terms WHERE index_key = ?1 AND number = ?2",
            [.integer(index.key), .integer(number)])
        return try row?.text(0).utf8.split(separator: UInt8(ascii: "\n")).map { SearchTerm(String($0) ?? "") } ?? []
    }

    package func setIndexedTerms(_ terms: [Int64: [SearchTerm]], in index: SearchIndex) throws {
        for batch in terms.filter({ !$0.value.isEmpty }).sorted(by: { $0.key < $1.key }).batches {
            try sql.execute(
                """
                INSERT INTO message_terms (index_key, number, terms) VALUES \(Placeholders.rows(batch.count, of: 3))
                ON CONFLICT (index_key, number) DO UPDATE SET terms = excluded.terms
                """,
                batch.flatMap { number, terms in
                    [.integer(index.key), .integer(number), .text(terms.map(\.text).joined(separator: "\n"))]
                })
        }
        for (number, terms) in terms where terms.isEmpty {
            try sql.execute(
                "DELETE FROM message_terms WHERE index_key = ?1 AND number = ?2",
                [.integer(index.key), .integer(number)])
        }
    }

    private static func key(of posting: SearchPosting, in index: SearchIndex) -> [SQLValue] {
        [.integer(index.key), .integer(posting.block), .text(posting.term.text), .integer(posting.number)]
    }
}

// Texts that have changed since they were indexed.
extension StoreTransaction {
    package func noteChangedText(of number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            """
            INSERT INTO changed_texts (conversation_id, number)
            SELECT conversation_id, CAST(?2 AS BIGINT) FROM search_indexes
            WHERE conversation_id = ?1 AND indexed_to >= ?2 ON CONFLICT DO NOTHING
            """, [.id(conversation), .integer(number)])
    }

    package func removeChangedText(of number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            "DELETE FROM changed_texts WHERE conversation_id = ?1 AND number = ?2",
            [.id(conversation), .integer(number)])
    }

    package func changedTexts(
        of numbers: ClosedRange<Int64>, in conversation: ConversationID, limit: Int
    ) throws -> [Int64] {
        try sql.query(
            """
            SELECT number FROM changed_texts WHERE conversation_id = ?1 AND number BETWEEN ?2 AND ?3
            ORDER BY number LIMIT ?4
            """,
            [.id(conversation), .integer(numbers.lowerBound), .integer(numbers.upperBound), .integer(limit)]
        ).map { try $0.integer(0) }
    }

    package func deletedTexts(limit: Int) throws -> [(conversation: ConversationID, number: Int64)] {
        try sql.query(
            """
            SELECT t.conversation_id, t.number FROM changed_texts t
                JOIN messages m ON m.conversation_id = t.conversation_id AND m.number = t.number
            WHERE m.deleted_at IS NOT NULL LIMIT ?1
            """, [.integer(limit)]
        ).map { (try $0.id(0), try $0.integer(1)) }
    }
}

extension StoreTransaction: IndexedMessageStore {
    package func conversationsToIndex(
        after id: ConversationID?, limit: Int
    ) throws -> (due: [ConversationID], next: ConversationID?) {
        let rows = try sql.query(
            """
            SELECT c.id, c.last_number > COALESCE(s.indexed_to, 0) OR COALESCE(s.terms_version, ?3) <> ?3
                OR EXISTS (SELECT 1 FROM changed_texts t WHERE t.conversation_id = c.id)
            FROM (SELECT id, last_number FROM conversations WHERE id > ?1 ORDER BY id LIMIT ?2) c
                LEFT JOIN search_indexes s ON s.conversation_id = c.id
            ORDER BY c.id
            """, [.text(id?.text ?? ""), .integer(limit), .integer(SearchTokenizer.version)])
        let due: [ConversationID] = try rows.compactMap { try $0.bool(1) ? try $0.id(0) : nil }
        return (due, rows.count < limit ? nil : try rows.last?.id(0))
    }

    package func messages(
        toIndexIn conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [Message] {
        try sql.query(
            """
            SELECT \(Self.messageColumns) FROM messages WHERE conversation_id = ?1 AND number > ?2
            ORDER BY number LIMIT ?3
            """, [.id(conversation), .integer(number), .integer(limit)]
        ).map { try Self.message($0) }
    }

    package func textVersions(of numbers: ClosedRange<Int64>, in conversation: ConversationID) throws -> [Int64] {
        try sql.query(
            "SELECT text_version FROM messages WHERE conversation_id = ?1 AND number BETWEEN ?2 AND ?3 ORDER BY number",
            [.id(conversation), .integer(numbers.lowerBound), .integer(numbers.upperBound)]
        ).map { try $0.integer(0) }
    }
}

package import Messaging
package import Model

// What searches read.
extension StoreTransaction: SearchStore {
    private static let searchedColumns =
        [("c", conversationColumns), ("m", memberColumns)].flatMap { table, columns in
            columns.split { $0 == "," || $0.isWhitespace }.map { "\(table).\($0)" }
        }.joined(separator: ", ") + ", s.index_key, s.indexed_to, s.terms_version"

    package func searchedConversations(of user: UserID) throws -> [SearchedConversation] {
        let spans = try allSpans(of: user)
        return try sql.query(
            """
            SELECT \(Self.searchedColumns) FROM members m JOIN conversations c ON c.id = m.conversation_id
                LEFT JOIN search_indexes s ON s.conversation_id = m.conversation_id
            WHERE m.user_id = ?1 AND \(Self.isListed)
            """, [.id(user)]
        ).map { row in
            var reader = ColumnReader(row)
            let stored = try Self.conversation(&reader)
            let conversation = touched[stored.id]?.unwritten ?? stored
            let member = try Self.member(&reader)
            var index: SearchIndex?
            if let key = try reader.integerIfPresent() {
                index = SearchIndex(key: key, indexedTo: try reader.integer(), version: try reader.integer())
            }
            let spans = MembershipSpans(spans[conversation.id] ?? [])
            return SearchedConversation(conversation, member, spans, index: index)
        }
    }

    private func allSpans(of user: UserID) throws -> [ConversationID: [MembershipSpans.Span]] {
        var spans: [ConversationID: [MembershipSpans.Span]] = [:]
        let rows = try sql.query(
            """
            SELECT conversation_id, from_number, until_number, until_sequence FROM spans WHERE user_id = ?1
            ORDER BY conversation_id, from_number
            """, [.id(user)])
        for row in rows {
            let span = MembershipSpans.Span(
                from: try row.integer(1), until: try row.integerIfPresent(2),
                untilSequence: try row.integerIfPresent(3))
            spans[try row.id(0), default: []].append(span)
        }
        return spans
    }

    package func sentAt(_ number: Int64, in conversation: ConversationID) throws -> Timestamp? {
        try sql.first(
            """
            SELECT sent_at FROM messages WHERE conversation_id = ?1 AND number <= ?2 ORDER BY number DESC LIMIT 1
            """, [.id(conversation), .integer(number)])?.time(0)
    }

    package func editedMessages(
        of numbers: ClosedRange<Int64>, in conversation: ConversationID, limit: Int
    ) throws -> [Int64] {
        var found: [Int64] = []
        // A message may have many former texts: each is a way down the tree, however many there are.
        while found.count < limit {
            let row = try sql.first(
                """
                SELECT number FROM edits WHERE conversation_id = ?1 AND number BETWEEN ?2 AND ?3
                ORDER BY number LIMIT 1
                """,
                [
                    .id(conversation), .integer(found.last.map { $0 + 1 } ?? numbers.lowerBound),
                    .integer(numbers.upperBound),
                ])
            guard let number = try row?.integer(0) else { break }
            found.append(number)
        }
        return found
    }

    package func visitPostings(
        _ lookup: SearchLookup, in index: SearchIndex, _ numbers: ClosedRange<Int64>,
        _ body: (Int64) throws -> Bool
    ) throws {
        let block = SQLValue.integer(numbers.lowerBound / SearchIndex.blockLength)
        switch lookup {
        case .term(let term):
            try sql.visit(
                """
                SELECT number FROM postings
                WHERE index_key = ?1 AND block = ?2 AND term = ?3 AND number BETWEEN ?4 AND ?5
                """,
                [
                    .integer(index.key), block, .text(term.text), .integer(numbers.lowerBound),
                    .integer(numbers.upperBound),
                ]
            ) { try body(try $0.integer(0)) }
        case .prefix(let prefix):
            // No term has the last character of Unicode.
            try sql.visit(
                "SELECT number FROM postings WHERE index_key = ?1 AND block = ?2 AND term >= ?3 AND term < ?4",
                [.integer(index.key), block, .text(prefix.text), .text(prefix.text + "\u{10FFFF}")]
            ) { try body(try $0.integer(0)) }
        }
    }
}

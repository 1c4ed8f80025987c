package import Languages
package import Messaging
package import Model

// The rows of vectors.
extension StoreTransaction: VectorStore {
    package func vectorModel(ifNamed name: String) throws -> VectorModel? {
        try sql.first("SELECT id FROM vector_models WHERE name = ?1", [.text(name)]).map {
            VectorModel(key: try $0.integer(0), name: name)
        }
    }

    /// The model of this name, which is added if it is new.
    package func vectorModel(named name: String) throws -> VectorModel {
        try sql.execute("INSERT INTO vector_models (name) VALUES (?1) ON CONFLICT DO NOTHING", [.text(name)])
        let key = try sql.first("SELECT id FROM vector_models WHERE name = ?1", [.text(name)])?.integer(0)
        return VectorModel(key: key ?? 0, name: name)
    }

    package func vectorProgress(
        of conversation: ConversationID, by model: VectorModel, limit: Int
    ) throws -> VectorProgress {
        let row = try sql.first(
            "SELECT embedded_to FROM embedded WHERE conversation_id = ?1 AND model = ?2",
            [.id(conversation), .integer(model.key)])
        let again =
            limit == 0
            ? []
            : try sql.query(
                "SELECT number FROM reembed WHERE conversation_id = ?1 ORDER BY number DESC LIMIT ?2",
                [.id(conversation), .integer(limit)]
            ).map { try $0.integer(0) }
        return VectorProgress(embeddedTo: try row?.integer(0) ?? 0, again: again)
    }

    package func setEmbedded(to number: Int64, of conversation: ConversationID, by model: VectorModel) throws {
        try sql.execute(
            """
            INSERT INTO embedded (conversation_id, model, embedded_to) VALUES (?1, ?2, ?3)
            ON CONFLICT (conversation_id, model) DO UPDATE SET embedded_to = ?3
            """, [.id(conversation), .integer(model.key), .integer(number)])
    }

    package func embedAgain(_ numbers: [Int64], in conversation: ConversationID) throws {
        for number in numbers {
            try sql.execute(
                "INSERT INTO reembed (conversation_id, number) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                [.id(conversation), .integer(number)])
        }
    }

    package func embeddedAgain(_ numbers: [Int64], in conversation: ConversationID) throws {
        for batch in numbers.batches {
            try sql.execute(
                """
                DELETE FROM reembed
                WHERE conversation_id = ?1 AND number IN \(Placeholders.list(batch.count, from: 2))
                """, [.id(conversation)] + batch.map { .integer($0) })
        }
    }

    package func setVectors(
        _ vectors: [MessageVector], of number: Int64, in conversation: ConversationID, by model: VectorModel
    ) throws {
        try sql.execute(
            "DELETE FROM vectors WHERE conversation_id = ?1 AND number = ?2 AND model = ?3",
            [.id(conversation), .integer(number), .integer(model.key)])
        for vector in vectors {
            try sql.execute(
                """
                INSERT INTO vectors (conversation_id, number, chunk, model, of_version, seq, bytes)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                """,
                [
                    .id(conversation), .integer(vector.number), .integer(vector.chunk), .integer(model.key),
                    .integer(vector.of), .integer(try nextCounter()), .blob(vector.vector.bytes),
                ])
        }
    }

    package func firstVectors(
        in conversation: ConversationID, by model: VectorModel, _ numbers: ClosedRange<Int64>
    ) throws -> [Int64: (of: Int64, vector: EmbeddingVector)] {
        var vectors: [Int64: (of: Int64, vector: EmbeddingVector)] = [:]
        let rows = try sql.query(
            """
            SELECT number, of_version, bytes FROM vectors
            WHERE conversation_id = ?1 AND number BETWEEN ?2 AND ?3 AND chunk = 0 AND model = ?4
            """, [.id(conversation), .integer(numbers.lowerBound), .integer(numbers.upperBound), .integer(model.key)])
        for row in rows {
            guard let vector = EmbeddingVector(bytes: try row.blob(2)) else { continue }
            vectors[try row.integer(0)] = (try row.integer(1), vector)
        }
        return vectors
    }

    package func removeVectors(of number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            "DELETE FROM vectors WHERE conversation_id = ?1 AND number = ?2", [.id(conversation), .integer(number)])
    }

    /// The text of a message has changed or is gone. It is embedded again if it was looked at before.
    func removeOutdatedVectors(of number: Int64, in conversation: ConversationID) throws {
        try removeVectors(of: number, in: conversation)
        try sql.execute(
            """
            INSERT INTO reembed (conversation_id, number)
            SELECT DISTINCT conversation_id, CAST(?2 AS BIGINT) FROM embedded
            WHERE conversation_id = ?1 AND embedded_to >= ?2 ON CONFLICT DO NOTHING
            """, [.id(conversation), .integer(number)])
    }

    package func numbersWithVectors(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [Int64] {
        try sql.query(
            """
            SELECT DISTINCT number FROM vectors WHERE conversation_id = ?1 AND number > ?2 ORDER BY number LIMIT ?3
            """, [.id(conversation), .integer(number), .integer(limit)]
        ).map { try $0.integer(0) }
    }

    package func storedVectors(
        in conversation: ConversationID, _ numbers: ClosedRange<Int64>
    ) throws -> [StoredVector] {
        try sql.query(
            """
            SELECT number, chunk, model, of_version, bytes FROM vectors
            WHERE conversation_id = ?1 AND number BETWEEN ?2 AND ?3
            """, [.id(conversation), .integer(numbers.lowerBound), .integer(numbers.upperBound)]
        ).map { row in
            var reader = ColumnReader(row)
            return StoredVector(
                number: try reader.integer(), chunk: try reader.integer(), model: try reader.integer(),
                of: try reader.integer(), bytes: try reader.blob())
        }
    }

    package func newestVectorSizes(
        in conversation: ConversationID, by model: VectorModel, limit: Int
    ) throws -> [Int] {
        try sql.query(
            """
            SELECT LENGTH(bytes) FROM vectors WHERE conversation_id = ?1 AND model = ?2 ORDER BY seq DESC LIMIT ?3
            """, [.id(conversation), .integer(model.key), .integer(limit)]
        ).map { try $0.int(0) }
    }

    package func forgetEmbedding(of conversation: ConversationID) throws {
        try sql.execute("DELETE FROM embedded WHERE conversation_id = ?1", [.id(conversation)])
        try sql.execute("DELETE FROM reembed WHERE conversation_id = ?1", [.id(conversation)])
    }
}

// What may be made of messages, when that changes; and repairs of all conversations. What is being compared begins anew.
extension StoreTransaction {
    /// Of conversations whose levels have changed.
    func checkVectors(in conversation: ConversationID) throws {
        try sql.execute(
            """
            INSERT INTO vector_checks (conversation_id)
            SELECT DISTINCT conversation_id FROM embedded WHERE conversation_id = ?1
            ON CONFLICT (conversation_id) DO UPDATE SET again = 1
            """, [.id(conversation)])
    }

    func checkVectors(of user: UserID) throws {
        try sql.execute(
            """
            INSERT INTO vector_checks (conversation_id)
            SELECT DISTINCT e.conversation_id FROM embedded e
            WHERE e.conversation_id IN (
                SELECT conversation_id FROM members WHERE user_id = ?1
                UNION SELECT conversation_id FROM messages WHERE forwarded_from = ?1)
            ON CONFLICT (conversation_id) DO UPDATE SET again = 1
            """, [.id(user)])
    }

    /// All conversations are compared with their vectors, also those that are gone.
    ///
    /// - Returns: how many they are.
    @discardableResult
    package func checkAllVectors() throws -> Int {
        // Conversations with vectors are found by one step in the index for each, rather than by reading all vectors.
        try sql.execute(
            """
            WITH RECURSIVE found (id) AS (
                SELECT MIN(conversation_id) FROM vectors
                UNION ALL SELECT (SELECT MIN(conversation_id) FROM vectors WHERE conversation_id > id) FROM found
                WHERE id IS NOT NULL)
            INSERT INTO vector_checks (conversation_id)
            SELECT conversation_id FROM embedded UNION SELECT conversation_id FROM reembed
            UNION SELECT id FROM found WHERE id IS NOT NULL
            ON CONFLICT (conversation_id) DO UPDATE SET again = 1
            """)
        hasDemandedJobs = true
        return try vectorChecksLeft()
    }

    /// The next conversation to compare, and the number after which; nil if there is none.
    package func nextVectorCheck(
        after last: ConversationID? = nil
    ) throws -> (conversation: ConversationID, after: Int64)? {
        let columns = "SELECT conversation_id, after FROM vector_checks"
        let next = try sql.first(
            "\(columns) WHERE conversation_id > ?1 ORDER BY conversation_id LIMIT 1", [.text(last?.text ?? "")])
        // By turns.
        return try (next ?? sql.first("\(columns) ORDER BY conversation_id LIMIT 1")).map {
            (try $0.id(0), try $0.integer(1))
        }
    }

    /// - Parameter after: nil if all of it was compared: it begins anew if something has changed since it was begun.
    package func setVectorCheck(of conversation: ConversationID, after: Int64?) throws {
        if let after {
            try sql.execute(
                "UPDATE vector_checks SET after = ?2 WHERE conversation_id = ?1", [.id(conversation), .integer(after)])
            return
        }
        let again = try sql.execute(
            "UPDATE vector_checks SET after = 0, again = 0 WHERE conversation_id = ?1 AND again = 1",
            [.id(conversation)])
        guard again == 0 else { return }
        try sql.execute("DELETE FROM vector_checks WHERE conversation_id = ?1", [.id(conversation)])
    }

    package func vectorChecksLeft() throws -> Int { try sql.first("SELECT COUNT(*) FROM vector_checks")?.int(0) ?? 0 }
}

// What a copy in memory reads.
extension StoreTransaction {
    /// The vectors of a conversation that were made after a counter, in the order in which they were, and its last counter.
    package func vectors(
        in conversation: ConversationID, by model: VectorModel, madeAfter counter: Int64, limit: Int
    ) throws -> (vectors: [MessageVector], counter: Int64) {
        var last = counter
        let vectors = try sql.query(
            """
            SELECT seq, number, chunk, of_version, bytes FROM vectors
            WHERE conversation_id = ?1 AND model = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4
            """, [.id(conversation), .integer(model.key), .integer(counter), .integer(limit)]
        ).compactMap { row -> MessageVector? in
            var reader = ColumnReader(row)
            last = try reader.integer()
            let (number, chunk, of) = (try reader.integer(), try reader.integer(), try reader.integer())
            // What is no vector is left to a repair.
            return EmbeddingVector(bytes: try reader.blob()).map {
                MessageVector(number: number, chunk: chunk, of: of, vector: $0)
            }
        }
        return (vectors, last)
    }

    /// The counter before the newest `count` vectors of a conversation; 0 if there are not more.
    package func vectorCounter(
        in conversation: ConversationID, by model: VectorModel, before count: Int
    ) throws -> Int64 {
        try sql.first(
            """
            SELECT seq FROM vectors WHERE conversation_id = ?1 AND model = ?2 ORDER BY seq DESC LIMIT 1 OFFSET ?3
            """, [.id(conversation), .integer(model.key), .integer(count)])?.integer(0) ?? 0
    }

    /// How many vectors a conversation has.
    package func vectorCount(
        in conversation: ConversationID, by model: VectorModel, atMost limit: Int
    ) throws -> Int {
        let row = try sql.first(
            """
            SELECT COUNT(*) FROM (SELECT 1 FROM vectors WHERE conversation_id = ?1 AND model = ?2 LIMIT ?3)
            """, [.id(conversation), .integer(model.key), .integer(limit)])
        return try Int(row?.integer(0) ?? 0)
    }

    /// Of the first conversations after `id` in the order of ids, those with messages to embed; and where to go on.
    package func conversationsToEmbed(
        by model: VectorModel, after id: ConversationID?, limit: Int
    ) throws -> (due: [ConversationID], next: ConversationID?) {
        let rows = try sql.query(
            """
            SELECT c.id, c.last_number > COALESCE(e.embedded_to, 0)
                OR EXISTS (SELECT 1 FROM reembed r WHERE r.conversation_id = c.id)
            FROM (SELECT id, last_number FROM conversations WHERE id > ?1 ORDER BY id LIMIT ?2) c
                LEFT JOIN embedded e ON e.conversation_id = c.id AND e.model = ?3
            ORDER BY c.id
            """, [.text(id?.text ?? ""), .integer(limit), .integer(model.key)])
        let due: [ConversationID] = try rows.compactMap { try $0.bool(1) ? try $0.id(0) : nil }
        return (due, rows.count < limit ? nil : try rows.last?.id(0))
    }

    /// Whether something is left of models that are in use no more.
    package func hasOthers(than model: VectorModel) throws -> Bool {
        try ["vectors WHERE model", "embedded WHERE model", "vector_models WHERE id"].contains { rows in
            try sql.first("SELECT 1 FROM \(rows) <> ?1 LIMIT 1", [.integer(model.key)]) != nil
        }
    }

    /// Removes vectors of other models, a part at a time. Returns how many.
    package func removeVectors(notBy model: VectorModel, limit: Int) throws -> Int {
        let removed = try sql.execute(
            """
            DELETE FROM vectors WHERE (conversation_id, number, chunk, model) IN (
                SELECT conversation_id, number, chunk, model FROM vectors WHERE model <> ?1 LIMIT ?2)
            """, [.integer(model.key), .integer(limit)])
        if removed < limit {
            try sql.execute("DELETE FROM embedded WHERE model <> ?1", [.integer(model.key)])
            try sql.execute("DELETE FROM vector_models WHERE id <> ?1", [.integer(model.key)])
        }
        return removed
    }

    /// All conversations begin anew; their vectors are replaced one by one.
    package func restartEmbedding() throws {
        try sql.execute("UPDATE embedded SET embedded_to = 0")
        try sql.execute("DELETE FROM reembed")
        hasDemandedJobs = true
    }
    /// What there is of vectors, and what waits.
    package func vectorStatistics() throws -> VectorStatistics {
        let models = try sql.query(
            """
            SELECT m.name, COUNT(v.bytes), COALESCE(SUM(LENGTH(v.bytes)), 0), (
                SELECT COALESCE(SUM(c.last_number - COALESCE(e.embedded_to, 0)), 0) FROM conversations c
                    LEFT JOIN embedded e ON e.conversation_id = c.id AND e.model = m.id
                WHERE c.last_number > COALESCE(e.embedded_to, 0))
            FROM vector_models m LEFT JOIN vectors v ON v.model = m.id GROUP BY m.id, m.name ORDER BY m.name
            """
        ).map { row in
            VectorStatistics.OfModel(
                name: try row.text(0), vectors: try row.int(1), bytes: try row.int(2), waiting: try row.int(3))
        }
        let again = try sql.first("SELECT COUNT(*) FROM reembed")?.int(0) ?? 0
        return VectorStatistics(models: models, again: again, checks: try vectorChecksLeft())
    }
}

package struct VectorStatistics: Hashable, Sendable {
    package struct OfModel: Hashable, Sendable {
        package var name: String
        package var vectors: Int
        package var bytes: Int
        /// Messages that it has not looked at yet.
        package var waiting: Int
    }

    package var models: [OfModel]
    /// Messages that are to be embedded again.
    package var again: Int
    /// Conversations that are to be compared with their vectors.
    package var checks: Int
}

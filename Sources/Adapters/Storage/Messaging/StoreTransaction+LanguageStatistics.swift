package import Languages
package import Messaging
import Model

/// The translations that are to be made.
package struct TranslationQueue: Hashable, Sendable {
    package var count: Int
    /// How long the oldest waits; 0 without one.
    package var oldestSeconds: Int64
}

/// What an operator may know of the languages of a store: counts, without texts and people.
package struct LanguageStatistics: Hashable, Sendable {
    package struct Pair: Hashable, Sendable {
        /// Of the messages; nil if nobody knows.
        package var source: String?
        package var target: String
        package var status: String
        package var reason: String?
        package var count: Int
    }

    /// Calls of hosted services for a purpose, in this month of UTC.
    package struct Calls: Hashable, Sendable {
        package var purpose: String
        package var engine: String
        /// Nil of those that run, or that a killed server has left.
        package var outcome: String?
        package var count: Int
        package var given: ProviderUsage
        package var tokens: TokenUsage
        package var microDollars: Int64
        /// How many have estimates instead of what the service says.
        package var estimated: Int
    }

    /// Of messages with a text, the most common language first; nil is unknown.
    package var messages: [(language: String?, count: Int)]

    /// Translations, the most first.
    package var pairs: [Pair]
    package var queue: TranslationQueue
    package var calls: [Calls]

    package static func == (left: Self, right: Self) -> Bool {
        left.pairs == right.pairs && left.queue == right.queue && left.calls == right.calls
            && left.messages.elementsEqual(right.messages) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(pairs)
        hasher.combine(queue)
        hasher.combine(calls)
    }
}

// What operators are told of languages.
extension StoreTransaction {
    package func translationQueue() throws -> TranslationQueue {
        let row = try sql.first("SELECT COUNT(*), COALESCE(MIN(created_at), ?1) FROM jobs", [.time(now)])
        let oldest = try row?.time(1) ?? now
        return TranslationQueue(
            count: try row?.int(0) ?? 0, oldestSeconds: max(0, (now.milliseconds - oldest.milliseconds) / 1000))
    }

    /// Reads all messages: it is for commands, not for metrics.
    package func languageStatistics() throws -> LanguageStatistics {
        let messages = try sql.query(
            """
            SELECT language, COUNT(*) FROM messages WHERE kind = 'text' AND deleted_at IS NULL
            GROUP BY language ORDER BY COUNT(*) DESC, language
            """
        ).map { row in (language: try row.textIfPresent(0), count: try row.int(1)) }
        let pairs = try sql.query(
            """
            SELECT m.language, t.language, t.status, t.reason, COUNT(*) FROM translations t
            LEFT JOIN messages m ON m.conversation_id = t.conversation_id AND m.number = t.number
            GROUP BY m.language, t.language, t.status, t.reason ORDER BY COUNT(*) DESC, m.language, t.language, t.status
            """
        ).map { row in
            LanguageStatistics.Pair(
                source: try row.textIfPresent(0), target: try row.text(1), status: try row.text(2),
                reason: try row.textIfPresent(3), count: try row.int(4))
        }
        return LanguageStatistics(
            messages: messages, pairs: pairs, queue: try translationQueue(), calls: try providerCalls())
    }

    private func providerCalls() throws -> [LanguageStatistics.Calls] {
        let month = Timestamp(now.text.prefix(8) + "01T00:00:00Z") ?? now
        return try sql.query(
            """
            SELECT purpose, engine, outcome, COUNT(*), SUM(characters), SUM(input_tokens), SUM(cached_tokens),
                SUM(output_tokens), SUM(micro_dollars), SUM(estimated), SUM(milliseconds)
            FROM provider_calls WHERE at >= ?1 GROUP BY purpose, engine, outcome ORDER BY purpose, engine, outcome
            """, [.time(month)]
        ).map { row in
            LanguageStatistics.Calls(
                purpose: try row.text(0), engine: try row.text(1), outcome: try row.textIfPresent(2),
                count: try row.int(3),
                given: ProviderUsage(characters: try row.integer(4), milliseconds: try row.integer(10)),
                tokens: TokenUsage(
                    input: try row.integer(5), cached: try row.integer(6), output: try row.integer(7)),
                microDollars: try row.integer(8), estimated: try row.int(9))
        }
    }

    /// Removes translations, and what is to be translated: all, or those into one language. Who resumes from before begins
    /// anew.
    ///
    /// - Returns: how many were removed; more may be left if it is `limit`.
    package func eraseTranslations(into language: LanguageTag?, limit: Int) throws -> Int {
        let filter = language == nil ? "" : "WHERE language = ?1"
        let jobs = language == nil ? "WHERE purpose = 'translation'" : "WHERE purpose = 'translation' AND language = ?1"
        let values: [SQLValue] = language.map { [.text($0.string)] } ?? []
        try sql.execute("DELETE FROM jobs \(jobs)", values)
        let count = try sql.execute(
            "DELETE FROM translations WHERE rowid IN (SELECT rowid FROM translations \(filter) LIMIT \(limit))", values)
        if count > 0 {
            hasErasedTexts = true
            try sql.execute("UPDATE log SET translations_since = ?1 WHERE id = 1", [.integer(try nextCounter())])
        }
        return count
    }

    /// The counter when translations were last erased.
    package func translationsSince() throws -> Int64 {
        try sql.first("SELECT translations_since FROM log WHERE id = 1")?.integer(0) ?? 0
    }
}

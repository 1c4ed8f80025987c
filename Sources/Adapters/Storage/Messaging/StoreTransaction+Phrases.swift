package import Languages
import Model

/// The bounds of the memory of phrases.
package enum PhraseRules {
    /// Who have to have written a text before its translation is kept.
    package static let authors = 3
    /// After the last use.
    package static let seconds: Int64 = 90 * 86_400
    /// The ones used longest ago go beyond it. A phrase has a few hundred bytes.
    package static let count = 100_000
}

// The rows of phrases.
extension StoreTransaction {
    /// The translation of a phrase that enough people wrote.
    package func phrase(_ hash: String) throws -> String? {
        try sql.first(
            "SELECT text FROM phrases WHERE hash = ?1 AND text IS NOT NULL AND used_at > ?2",
            [.text(hash), .time(phrasesSince)])?.textIfPresent(0)
    }

    package func usePhrase(_ hash: String) throws {
        try sql.execute("UPDATE phrases SET used_at = ?2 WHERE hash = ?1", [.text(hash), .time(now)])
    }

    /// Counts an author of a phrase. The translation is kept when there are enough of them.
    package func remember(phrase hash: String, into language: LanguageTag, as text: String, by author: String) throws {
        // What was not used for too long begins anew.
        let isOld =
            try sql.first(
                "SELECT 1 FROM phrases WHERE hash = ?1 AND used_at <= ?2", [.text(hash), .time(phrasesSince)]) != nil
        if isOld { try removePhrases([hash]) }
        try sql.execute(
            """
            INSERT INTO phrases (hash, language, used_at) VALUES (?1, ?2, ?3)
            ON CONFLICT (hash) DO UPDATE SET used_at = ?3
            """, [.text(hash), .text(language.string), .time(now)])
        try sql.execute(
            "INSERT INTO phrase_authors (hash, author) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            [.text(hash), .text(author)])
        try sql.execute(
            """
            UPDATE phrases SET text = ?2 WHERE hash = ?1 AND text IS NULL
                AND (SELECT COUNT(*) FROM phrase_authors WHERE hash = ?1) >= ?3
            """, [.text(hash), .text(text), .integer(PhraseRules.authors)])
    }

    /// Forgets that somebody wrote phrases, and the translations of those that too few others wrote.
    ///
    /// - Returns: how many.
    package func removePhrases(by author: String, limit: Int) throws -> Int {
        let hashes = try sql.query(
            "SELECT hash FROM phrase_authors WHERE author = ?1 LIMIT ?2", [.text(author), .integer(limit)]
        ).map { try $0.text(0) }
        for hash in hashes {
            try sql.execute(
                "DELETE FROM phrase_authors WHERE hash = ?1 AND author = ?2", [.text(hash), .text(author)])
            let left = try sql.first("SELECT COUNT(*) FROM phrase_authors WHERE hash = ?1", [.text(hash)])?.int(0) ?? 0
            if left == 0 {
                try removePhrases([hash])
            } else if left < PhraseRules.authors {
                try sql.execute("UPDATE phrases SET text = NULL WHERE hash = ?1", [.text(hash)])
            }
        }
        return hashes.count
    }

    /// Removes those that were not used for too long, and the oldest of too many.
    ///
    /// - Returns: how many; more may be left if it is `limit`.
    package func removeOldPhrases(beyond count: Int = PhraseRules.count, limit: Int) throws -> Int {
        let old = try sql.query(
            "SELECT hash FROM phrases WHERE used_at <= ?1 ORDER BY used_at LIMIT ?2",
            [.time(phrasesSince), .integer(limit)]
        ).map { try $0.text(0) }
        if !old.isEmpty {
            try removePhrases(old)
            return old.count
        }
        let total = try sql.first("SELECT COUNT(*) FROM phrases")?.int(0) ?? 0
        guard total > count else { return 0 }
        let oldest = try sql.query(
            "SELECT hash FROM phrases ORDER BY used_at LIMIT ?1", [.integer(min(limit, total - count))]
        ).map { try $0.text(0) }
        try removePhrases(oldest)
        return oldest.count
    }

    /// Removes all, or those into one language.
    ///
    /// - Returns: how many; more may be left if it is `limit`.
    package func removePhrases(into language: LanguageTag?, limit: Int) throws -> Int {
        var values: [SQLValue] = [.integer(limit)]
        if let language { values.append(.text(language.string)) }
        let hashes = try sql.query(
            "SELECT hash FROM phrases \(language == nil ? "" : "WHERE language = ?2") LIMIT ?1", values
        ).map { try $0.text(0) }
        try removePhrases(hashes)
        return hashes.count
    }

    private func removePhrases(_ hashes: [String]) throws {
        for hash in hashes {
            hasErasedTexts = true
            try sql.execute("DELETE FROM phrases WHERE hash = ?1", [.text(hash)])
            try sql.execute("DELETE FROM phrase_authors WHERE hash = ?1", [.text(hash)])
        }
    }

    private var phrasesSince: Timestamp { now.adding(seconds: -PhraseRules.seconds) }
}

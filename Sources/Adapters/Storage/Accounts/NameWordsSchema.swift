import Accounts

extension DatabaseSchema {
    /// Words of names that look the same are the same: names in which letters and their marks are characters of their own, as
    /// macOS writes them, or whose characters are half as wide, were found by nobody who typed them otherwise.
    static let normalizedNames = [
        Migration(
            72, "normalized names",
            [
                "CREATE TABLE unnormalized_names (user_id TEXT PRIMARY KEY)",
                "INSERT INTO unnormalized_names (user_id) SELECT id FROM users WHERE deleted_at IS NULL",
            ], work: NameWords.normalize)
    ]
}

/// The words of names as ``SearchTerms`` makes them now.
private enum NameWords {
    /// Users of one transaction.
    private static let countAtOnce = 1_000

    /// Writes those of some users anew, where they are others than before.
    ///
    /// - Returns: whether there were any.
    static func normalize(_ sql: any SQLTransaction) throws -> Bool {
        // Who was deleted meanwhile has no words.
        let users = try sql.query(
            """
            SELECT t.user_id, u.display_name FROM unnormalized_names t
                LEFT JOIN users u ON u.id = t.user_id AND u.deleted_at IS NULL
            ORDER BY t.user_id LIMIT ?1
            """, [.integer(countAtOnce)]
        ).map { (id: SQLValue.text(try $0.text(0)), name: try $0.textIfPresent(1)) }
        guard let last = users.last else {
            try sql.execute("DROP TABLE unnormalized_names")
            return false
        }
        for (user, name) in users {
            guard let name, !name.utf8.allSatisfy({ $0 < 0x80 }) else { continue }
            let terms = SearchTerms.terms(in: name)
            let words = try sql.query("SELECT word FROM name_words WHERE user_id = ?1 ORDER BY word", [user])
                .map { try $0.text(0) }
            guard !words.elementsEqual(terms.sorted(by: precedes), by: { $0.utf8.elementsEqual($1.utf8) }) else {
                continue
            }
            try sql.execute("DELETE FROM name_words WHERE user_id = ?1", [user])
            for term in terms {
                try sql.execute("INSERT INTO name_words (word, user_id) VALUES (?1, ?2)", [.text(term), user])
            }
        }
        try sql.execute("DELETE FROM unnormalized_names WHERE user_id <= ?1", [last.id])
        return true
    }

    /// The order of the database, which is that of the bytes.
    private static func precedes(_ one: String, _ other: String) -> Bool {
        one.utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension DatabaseSchema {
    /// Translations of short texts that several people wrote, for all conversations. Keyed digests stand for the original
    /// (`hash`, with languages, tone, terms and engine) and for who wrote it; `text` is NULL until enough people have.
    static let phrases = [
        Migration(
            60, "phrases",
            [
                """
                CREATE TABLE phrases (hash TEXT PRIMARY KEY, language TEXT NOT NULL, text TEXT, used_at BIGINT NOT NULL)
                """,
                "CREATE INDEX phrases_used ON phrases (used_at)",
                "CREATE TABLE phrase_authors (hash TEXT NOT NULL, author TEXT NOT NULL, PRIMARY KEY (hash, author))",
                "CREATE INDEX phrase_authors_author ON phrase_authors (author)",
            ])
    ]
}

extension DatabaseSchema {
    /// Vectors of messages, by which they are found by their meaning. None has a text.
    ///
    /// `vectors` is of one model each, and of one `textVersion` (`of_version`) of its message; `seq` is the store's counter
    /// when it was made, by which a copy in memory follows. `embedded` says how far a conversation's messages were
    /// embedded, `reembed` which of them are to be again, and
    /// `vector_checks` which conversations are to be compared with their vectors, and from where on.
    static let vectors = [
        Migration(
            56, "vectors",
            [
                "CREATE TABLE vector_models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
                """
                CREATE TABLE vectors (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, chunk BIGINT NOT NULL, model BIGINT NOT NULL,
                    of_version BIGINT NOT NULL, seq BIGINT NOT NULL, bytes BLOB NOT NULL,
                    PRIMARY KEY (conversation_id, number, chunk, model)) WITHOUT ROWID
                """,
                "CREATE INDEX vectors_seq ON vectors (conversation_id, model, seq)",
                """
                CREATE TABLE embedded (
                    conversation_id TEXT NOT NULL, model BIGINT NOT NULL, embedded_to BIGINT NOT NULL,
                    PRIMARY KEY (conversation_id, model)) WITHOUT ROWID
                """,
                """
                CREATE TABLE reembed (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, PRIMARY KEY (conversation_id, number))
                    WITHOUT ROWID
                """,
                """
                CREATE TABLE vector_checks (conversation_id TEXT PRIMARY KEY, after BIGINT NOT NULL DEFAULT 0)
                    WITHOUT ROWID
                """,
            ]),
        // Whether a conversation is to be compared once more when that has ended.
        Migration(
            75, "vectors compared again",
            ["ALTER TABLE vector_checks ADD COLUMN again BIGINT NOT NULL DEFAULT 0"]),
    ]
}

extension DatabaseSchema {
    /// Streams, their log, and the client ids that were used.
    ///
    /// `streams.seq` is the last assigned sequence and `trimmed` the last one whose change was removed, so the
    /// positions from which a client can resume are known without reading the log. `log.epoch` is the epoch of streams
    /// without a row.
    static let changeLog: [Migration] = [
        Migration(
            1, "change log",
            [
                "CREATE TABLE log (id BIGINT PRIMARY KEY, epoch TEXT NOT NULL)",
                """
                CREATE TABLE streams (
                    name TEXT PRIMARY KEY, epoch TEXT NOT NULL, seq BIGINT NOT NULL,
                    trimmed BIGINT NOT NULL, at BIGINT NOT NULL)
                """,
                """
                CREATE TABLE changes (
                    stream TEXT NOT NULL, seq BIGINT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL,
                    at BIGINT NOT NULL, PRIMARY KEY (stream, seq))
                """,
                """
                CREATE TABLE client_ids (
                    user_id TEXT NOT NULL, client_id TEXT NOT NULL, body_hash BLOB NOT NULL, entity TEXT NOT NULL,
                    scope TEXT, PRIMARY KEY (user_id, client_id))
                """,
                "CREATE INDEX client_ids_scope ON client_ids (scope) WHERE scope IS NOT NULL",
            ])
    ]
}

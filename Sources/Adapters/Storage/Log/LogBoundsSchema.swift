extension DatabaseSchema {
    /// `log.stream_epoch` is the epoch of streams that are begun from now on, if it is not the log's own.
    static let streamEpochs: [Migration] = [
        Migration(65, "epochs of new streams", ["ALTER TABLE log ADD COLUMN stream_epoch TEXT"])
    ]

    /// Trimming of the log in the order of its inserts, and limits of mailboxes.
    ///
    /// `changes.id` increases with every insert (on PostgreSQL it is GENERATED ALWAYS AS IDENTITY), so the oldest
    /// changes of all streams are found without reading the others. `sender`, `generation` and `bytes` are set for a
    /// signal between endpoints while its payload is kept; `bytes` precedes `data`, so that it can be read without it.
    /// `streams.bytes` is the sum of a mailbox's `bytes`, without its offers. `ended_mailboxes` names the calls whose
    /// signals are still to be removed.
    ///
    /// Streams without changes in the log are removed, and the log's epoch changes, since they may be created again.
    static let logBounds: [Migration] = [
        Migration(
            15, "bounds of the change log",
            [
                "ALTER TABLE changes RENAME TO old_changes",
                """
                CREATE TABLE changes (
                    id INTEGER PRIMARY KEY, stream TEXT NOT NULL, seq BIGINT NOT NULL, type TEXT NOT NULL,
                    at BIGINT NOT NULL, sender TEXT, generation BIGINT, bytes BIGINT NOT NULL DEFAULT 0,
                    data TEXT NOT NULL)
                """,
                """
                INSERT INTO changes (stream, seq, type, at, data)
                    SELECT stream, seq, type, at, data FROM old_changes ORDER BY at, stream, seq
                """,
                "DROP TABLE old_changes",
                "CREATE UNIQUE INDEX changes_stream ON changes (stream, seq)",
                "CREATE INDEX changes_mail ON changes (stream, sender, seq) WHERE sender IS NOT NULL",
                "ALTER TABLE streams ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
                "DELETE FROM streams WHERE NOT EXISTS (SELECT 1 FROM changes c WHERE c.stream = streams.name)",
                "UPDATE log SET epoch = epoch || 'n'",
                "CREATE TABLE ended_mailboxes (call_id TEXT PRIMARY KEY)",
            ])
    ]
}

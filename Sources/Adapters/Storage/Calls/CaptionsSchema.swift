extension DatabaseSchema {
    /// Who started the captions of a call, and why there are currently none.
    static let captions: [Migration] = [
        Migration(
            11, "captions",
            [
                "ALTER TABLE calls ADD COLUMN captions_by TEXT",
                "ALTER TABLE calls ADD COLUMN captions_at BIGINT",
                "ALTER TABLE calls ADD COLUMN captions_failure TEXT",
            ]),
        // Captions used to be in the logs of calls, which everybody listed in the call can read. A log without them has
        // other sequences and so a new epoch: clients that resume get a snapshot.
        Migration(
            14, "captions leave the logs of calls",
            [
                """
                UPDATE streams SET epoch = epoch || 'c', trimmed = seq WHERE name IN (
                    SELECT stream FROM changes WHERE type = 'caption' AND stream LIKE 'call:%')
                """,
                """
                DELETE FROM changes WHERE stream IN (
                    SELECT stream FROM changes WHERE type = 'caption' AND stream LIKE 'call:%')
                """,
            ]),
    ]
}

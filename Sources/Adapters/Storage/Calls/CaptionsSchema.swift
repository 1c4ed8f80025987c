extension Schema {
    /// Who wanted the captions of a call that are being made, and why there are none at the moment.
    static let captions: [Migration] = [
        Migration(
            11, "captions",
            [
                "ALTER TABLE calls ADD COLUMN captions_by TEXT",
                "ALTER TABLE calls ADD COLUMN captions_at BIGINT",
                "ALTER TABLE calls ADD COLUMN captions_failure TEXT",
            ]),
        // What was said stood in the logs of calls, which everybody sees who is named in one. A log without it has other
        // sequences, and so another epoch: who resumes gets a snapshot.
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

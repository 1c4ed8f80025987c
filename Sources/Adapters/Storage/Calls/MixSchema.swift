extension DatabaseSchema {
    /// Mixes of recordings, the deadline and the end reason of recordings, and indices for retention by age.
    static let mixes: [Migration] = [
        Migration(
            10, "mixes of recordings",
            [
                """
                CREATE TABLE recording_mixes (
                    recording_id TEXT PRIMARY KEY, status TEXT NOT NULL, failure TEXT, file_id TEXT, byte_count BIGINT,
                    duration BIGINT)
                """,
                "CREATE INDEX recording_mixes_pending ON recording_mixes (status) WHERE status = 'pending'",
                "ALTER TABLE calls ADD COLUMN recording_until BIGINT",
                "ALTER TABLE calls ADD COLUMN recording_end TEXT",
                "ALTER TABLE recordings ADD COLUMN reason TEXT",
                "CREATE INDEX recordings_started ON recordings (started_at)",
                "CREATE INDEX voice_messages_created ON voice_messages (created_at)",
            ])
    ]
}

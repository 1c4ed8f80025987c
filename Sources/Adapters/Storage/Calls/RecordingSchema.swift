extension Schema {
    /// Recordings of calls: a row for each, and one for each of its tracks, whose file is in the directory of media.
    static let recordings: [Migration] = [
        Migration(
            7, "recordings",
            [
                "ALTER TABLE calls ADD COLUMN recording_id TEXT",
                "ALTER TABLE calls ADD COLUMN recording_by TEXT",
                "ALTER TABLE calls ADD COLUMN recording_at BIGINT",
                """
                CREATE TABLE recordings (
                    id TEXT PRIMARY KEY, call_id TEXT NOT NULL, user_id TEXT NOT NULL, started_at BIGINT NOT NULL,
                    status TEXT NOT NULL, ended_at BIGINT, failure TEXT)
                """,
                "CREATE INDEX recordings_call ON recordings (call_id)",
                "CREATE INDEX recordings_ongoing ON recordings (status) WHERE status = 'ongoing'",
                """
                CREATE TABLE recording_tracks (
                    recording_id TEXT NOT NULL, number BIGINT NOT NULL, user_id TEXT NOT NULL,
                    endpoint_id TEXT NOT NULL, source TEXT NOT NULL, start_ms BIGINT NOT NULL, file_id TEXT NOT NULL,
                    duration BIGINT, byte_count BIGINT, PRIMARY KEY (recording_id, number))
                """,
            ])
    ]

    static let recordedCalls: [Migration] = [
        Migration(9, "calls that were recorded", ["ALTER TABLE calls ADD COLUMN was_recorded BIGINT"])
    ]
}

extension DatabaseSchema {
    /// Recordings of calls: one row each, and one per track, whose file is in the media directory.
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

    /// The audience of each recording: the users who were joined during it. For older recordings, participants record
    /// only their last interval in the call, so users with tracks are added.
    static let recordingAudience: [Migration] = [
        Migration(
            12, "audience of recordings",
            [
                """
                CREATE TABLE recording_audience (
                    recording_id TEXT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY (recording_id, user_id))
                """,
                """
                INSERT INTO recording_audience (recording_id, user_id)
                SELECT id, user_id FROM recordings
                UNION SELECT recording_id, user_id FROM recording_tracks
                UNION SELECT r.id, p.user_id FROM recordings r JOIN participants p ON p.call_id = r.call_id
                WHERE p.joined_at IS NOT NULL AND (r.ended_at IS NULL OR p.joined_at <= r.ended_at)
                    AND (p.left_at IS NULL OR p.left_at >= r.started_at)
                """,
            ])
    ]

    static let recordedCalls: [Migration] = [
        Migration(9, "calls that were recorded", ["ALTER TABLE calls ADD COLUMN was_recorded BIGINT"])
    ]
}

extension DatabaseSchema {
    /// The owners of media files, whose quotas they count against, and the sums per owner. The users who requested
    /// mixes.
    static let mediaUsage: [Migration] = [
        Migration(
            17, "use of media by users",
            [
                "ALTER TABLE media_files ADD COLUMN owner TEXT",
                """
                UPDATE media_files SET owner = CASE kind
                    WHEN 'voice' THEN (SELECT v.sender FROM voice_messages v WHERE v.id = media_files.resource)
                    WHEN 'recording' THEN (SELECT r.user_id FROM recordings r WHERE r.id = media_files.resource)
                    END
                """,
                "CREATE TABLE media_usage (user_id TEXT PRIMARY KEY, bytes BIGINT NOT NULL)",
                """
                INSERT INTO media_usage (user_id, bytes)
                    SELECT owner, SUM(byte_count) FROM media_files WHERE owner IS NOT NULL GROUP BY owner
                """,
                "ALTER TABLE recording_mixes ADD COLUMN user_id TEXT",
            ])
    ]
}

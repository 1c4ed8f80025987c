extension DatabaseSchema {
    /// Deleted accounts: when a user was deleted, digests of the identities that such users had, and the erasures that
    /// are still to be done, which are claimed by lease and fence. The indices find what a user sent.
    static let deletions: [Migration] = [
        Migration(
            34, "deleted accounts",
            [
                "ALTER TABLE users ADD COLUMN deleted_at BIGINT",
                "CREATE INDEX users_deleted ON users (id) WHERE deleted_at IS NOT NULL",
                "CREATE TABLE deleted_identities (hash BLOB PRIMARY KEY, deleted_at BIGINT NOT NULL)",
                """
                CREATE TABLE erasures (
                    user_id TEXT PRIMARY KEY, requested_at BIGINT NOT NULL, step TEXT NOT NULL, cursor TEXT NOT NULL,
                    photo TEXT, lease_until BIGINT NOT NULL, fence BIGINT NOT NULL)
                """,
                "CREATE INDEX blocks_user ON blocks (user_id)",
                "CREATE INDEX voice_messages_sender ON voice_messages (sender)",
                "CREATE INDEX recording_tracks_user ON recording_tracks (user_id)",
                "CREATE INDEX recording_audience_user ON recording_audience (user_id)",
            ])
    ]
}

extension DatabaseSchema {
    /// What the server tells of members and presence.
    ///
    /// `messages.notice` is that of a message of kind `notice`, as JSON. `users.last_seen` says who sees `last_seen_at`, which
    /// is NULL of somebody who has not been there since. `reports.evidence` are messages, as JSON.
    static let notices: [Migration] = [
        Migration(
            48, "notices, last seen and reports",
            [
                "ALTER TABLE messages ADD COLUMN notice TEXT",
                "ALTER TABLE users ADD COLUMN last_seen TEXT NOT NULL DEFAULT 'everybody'",
                "ALTER TABLE users ADD COLUMN message_requests TEXT NOT NULL DEFAULT 'ask'",
                "ALTER TABLE users ADD COLUMN last_seen_at BIGINT",
                "ALTER TABLE reports ADD COLUMN conversation_id TEXT",
                "ALTER TABLE reports ADD COLUMN evidence TEXT",
                "ALTER TABLE reports ADD COLUMN outcome TEXT",
                "ALTER TABLE reports ADD COLUMN resolved_at BIGINT",
                "ALTER TABLE reports ADD COLUMN resolved_by TEXT",
                "CREATE INDEX reports_open ON reports (id) WHERE resolved_at IS NULL",
                "CREATE INDEX reports_user ON reports (user_id)",
            ])
    ]
}

extension DatabaseSchema {
    /// How long messages are kept.
    ///
    /// `conversations.keep_days` is a group's setting, 0 for as long as the server keeps them. No message up to `erased_to` has
    /// a text, and those after it were sent at `kept_since` or later: it is 0 where that is not known. A send changes
    /// neither.
    static let retention: [Migration] = [
        Migration(
            44, "retention of messages",
            [
                "ALTER TABLE conversations ADD COLUMN keep_days BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE conversations ADD COLUMN erased_to BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE conversations ADD COLUMN kept_since BIGINT NOT NULL DEFAULT 0",
                "CREATE INDEX conversations_kept ON conversations (kept_since)",
                """
                CREATE INDEX conversations_due ON conversations ((kept_since + keep_days * 86400000))
                WHERE keep_days > 0
                """,
            ])
    ]
}

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

    /// `conversations.ended_at` is when the last member left a group, of before as far as its messages tell. Seven days later
    /// it is erased, and `kept_since` is then: `conversations_ended` has those that are not.
    static let endedGroups: [Migration] = [
        Migration(
            63, "groups that everybody has left",
            [
                "ALTER TABLE conversations ADD COLUMN ended_at BIGINT",
                """
                UPDATE conversations SET ended_at = last_sent_at
                WHERE kind = 'group' AND member_count <= 0
                    AND EXISTS (SELECT 1 FROM members m WHERE m.conversation_id = conversations.id)
                    AND NOT EXISTS (
                        SELECT 1 FROM members m WHERE m.conversation_id = conversations.id AND m.state = 'member')
                """,
                """
                CREATE INDEX conversations_ended ON conversations (ended_at)
                WHERE ended_at IS NOT NULL AND kept_since < ended_at + 604800000
                """,
            ])
    ]
}

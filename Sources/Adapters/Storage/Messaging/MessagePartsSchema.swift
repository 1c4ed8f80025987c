extension DatabaseSchema {
    /// When somebody allows less, what was made of their texts is looked for where they were forwarded to, too.
    static let forwarded = [
        Migration(
            62, "forwarded messages by who wrote them",
            [
                """
                CREATE INDEX messages_by_first_author ON messages (forwarded_from, conversation_id)
                WHERE forwarded_from IS NOT NULL
                """
            ])
    ]

    /// What hangs on messages and members.
    ///
    /// `messages.reactions` is what the message's document says of its reactions, so that a page reads one row per message;
    /// the rows of `reactions` say who reacted. `messages.shown_version` is the version of those from whom the last change
    /// is withheld, NULL for the same.
    ///
    /// `own` and `memberships` are of one user; their `counter` is that of `log.own_counter` at their last change, as is that
    /// of `marks`. `mark_rises` has when a mark rose, for a while.
    ///
    /// `mentions` with an empty `user_id` mention everybody. `messages_counted` has what counts as unread, with
    /// all columns of the condition: otherwise SQLite would rather walk over the texts.
    static let messageParts: [Migration] = [
        Migration(
            37, "parts of messages",
            [
                "ALTER TABLE conversations ADD COLUMN pins TEXT",
                "ALTER TABLE messages ADD COLUMN reactions TEXT",
                "ALTER TABLE messages ADD COLUMN shown_version BIGINT",
                """
                CREATE TABLE reactions (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, sequence BIGINT NOT NULL, user_id TEXT NOT NULL,
                    emoji TEXT NOT NULL, at BIGINT NOT NULL, withheld BIGINT NOT NULL,
                    PRIMARY KEY (conversation_id, number, sequence)) WITHOUT ROWID
                """,
                "CREATE UNIQUE INDEX reactions_user ON reactions (user_id, conversation_id, number, emoji)",
                "ALTER TABLE log ADD COLUMN own_counter BIGINT NOT NULL DEFAULT 0",
                """
                CREATE TABLE own (
                    user_id TEXT NOT NULL, conversation_id TEXT NOT NULL, number BIGINT NOT NULL, starred_at BIGINT,
                    hidden BIGINT NOT NULL, counter BIGINT NOT NULL, PRIMARY KEY (user_id, conversation_id, number))
                    WITHOUT ROWID
                """,
                "CREATE INDEX own_counters ON own (user_id, conversation_id, counter)",
                "CREATE INDEX own_hidden ON own (user_id, conversation_id, number) WHERE hidden = 1",
                """
                CREATE INDEX own_starred ON own (user_id, starred_at, conversation_id, number)
                WHERE starred_at IS NOT NULL
                """,
                """
                CREATE TABLE memberships (
                    user_id TEXT NOT NULL, conversation_id TEXT NOT NULL, muted BIGINT NOT NULL, muted_until BIGINT,
                    mentions BIGINT NOT NULL, pinned BIGINT NOT NULL, archived BIGINT NOT NULL,
                    marked_unread BIGINT NOT NULL, receipts BIGINT, draft TEXT, draft_reply_to BIGINT,
                    draft_revision BIGINT, removed_after BIGINT, counter BIGINT NOT NULL,
                    PRIMARY KEY (user_id, conversation_id)) WITHOUT ROWID
                """,
                "CREATE INDEX memberships_pinned ON memberships (user_id) WHERE pinned = 1",
                "CREATE INDEX memberships_marked ON memberships (user_id, conversation_id) WHERE marked_unread = 1",
                "ALTER TABLE users ADD COLUMN receipts BIGINT NOT NULL DEFAULT 1",
                """
                CREATE TABLE marks (
                    conversation_id TEXT NOT NULL, user_id TEXT NOT NULL, read BIGINT NOT NULL,
                    delivered BIGINT NOT NULL, shown TEXT, counter BIGINT NOT NULL,
                    PRIMARY KEY (conversation_id, user_id)) WITHOUT ROWID
                """,
                "CREATE INDEX marks_user ON marks (user_id)",
                """
                CREATE TABLE mark_rises (
                    conversation_id TEXT NOT NULL, user_id TEXT NOT NULL, kind TEXT NOT NULL, to_number BIGINT NOT NULL,
                    from_number BIGINT NOT NULL, at BIGINT NOT NULL,
                    PRIMARY KEY (conversation_id, user_id, kind, to_number)) WITHOUT ROWID
                """,
                "CREATE INDEX mark_rises_user ON mark_rises (user_id)",
                "CREATE INDEX mark_rises_at ON mark_rises (at)",
                """
                CREATE TABLE mentions (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, user_id TEXT NOT NULL,
                    PRIMARY KEY (conversation_id, number, user_id)) WITHOUT ROWID
                """,
                "CREATE INDEX mentions_user ON mentions (user_id, conversation_id, number)",
                """
                CREATE INDEX messages_counted ON messages (conversation_id, number, author, kind, deleted_at, withheld)
                WHERE deleted_at IS NULL AND withheld = 0 AND kind <> 'notice'
                """,
                "ALTER TABLE messages ADD COLUMN thread BIGINT",
                "ALTER TABLE messages ADD COLUMN replies BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE messages ADD COLUMN forwarded_from TEXT",
                "CREATE INDEX messages_thread ON messages (conversation_id, thread, number) WHERE thread IS NOT NULL",
            ])
    ]

    /// `marks.received` is what the user's own devices see as delivered, where it is more than what others see.
    static let receivedMarks: [Migration] = [
        Migration(
            64, "marks of the blocked", ["ALTER TABLE marks ADD COLUMN received BIGINT NOT NULL DEFAULT 0"])
    ]
}

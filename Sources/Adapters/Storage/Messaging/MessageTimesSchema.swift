extension DatabaseSchema {
    /// Messages that disappear, and those that are sent later.
    ///
    /// `messages_expiring` has those that will, by when. `messages_counted` is the one of `messageParts` with the time,
    /// since what is due does not count as unread.
    static let messageTimes: [Migration] = [
        Migration(
            43, "times of messages",
            [
                "ALTER TABLE conversations ADD COLUMN disappear_after BIGINT",
                "ALTER TABLE messages ADD COLUMN expires_at BIGINT",
                """
                CREATE INDEX messages_expiring ON messages (expires_at)
                WHERE expires_at IS NOT NULL AND deleted_at IS NULL
                """,
                """
                CREATE TABLE scheduled (
                    author TEXT NOT NULL, client_id TEXT NOT NULL, conversation_id TEXT NOT NULL, text TEXT NOT NULL,
                    reply_to BIGINT, thread BIGINT, send_at BIGINT NOT NULL, created_at BIGINT NOT NULL, failure TEXT,
                    failure_detail TEXT, digest BLOB NOT NULL, counter BIGINT NOT NULL,
                    PRIMARY KEY (author, client_id)) WITHOUT ROWID
                """,
                "CREATE INDEX scheduled_of ON scheduled (author, conversation_id, send_at, client_id)",
                "CREATE INDEX scheduled_due ON scheduled (send_at) WHERE failure IS NULL",
                "DROP INDEX messages_counted",
                """
                CREATE INDEX messages_counted
                ON messages (conversation_id, number, author, kind, deleted_at, withheld, expires_at)
                WHERE deleted_at IS NULL AND withheld = 0 AND kind <> 'notice'
                """,
            ])
    ]

    /// `conversations.withheld_versions` has the last changes that one of two people sees alone; NULL for none.
    static let withheldVersions: [Migration] = [
        Migration(68, "withheld versions", ["ALTER TABLE conversations ADD COLUMN withheld_versions TEXT"])
    ]

    /// `conversations.withheld_end` has what is last for each of two people where their last message is seen by one of them
    /// alone; NULL where both see it.
    static let withheldEnds: [Migration] = [
        Migration(69, "withheld ends", ["ALTER TABLE conversations ADD COLUMN withheld_end TEXT"])
    ]

    /// `conversations.withheld_timers` has whose messages disappear after another time than `disappear_after`, since they
    /// have set it while being blocked; NULL for nobody.
    static let withheldTimers: [Migration] = [
        Migration(47, "withheld timers", ["ALTER TABLE conversations ADD COLUMN withheld_timers TEXT"])
    ]
}

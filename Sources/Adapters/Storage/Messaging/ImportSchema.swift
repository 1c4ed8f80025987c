extension DatabaseSchema {
    /// What was imported from another system.
    ///
    /// `imported.key` is a digest of source, kind and id there, `entity` the id here, and `digest` that of the content, by
    /// which a repetition is told from a conflict. `is_done` and `last_number` are of conversations: one that is not done
    /// has no members yet, who wait in `import_members`; one that has more messages than `last_number` has its own.
    ///
    /// An imported message is found by its client id, which is made of its source and id there.
    static let imports: [Migration] = [
        Migration(
            41, "imports",
            [
                """
                CREATE TABLE imported (
                    key BLOB NOT NULL, kind TEXT NOT NULL, entity TEXT NOT NULL, user_id TEXT, digest BLOB NOT NULL,
                    is_done BIGINT NOT NULL, last_number BIGINT NOT NULL, PRIMARY KEY (key)) WITHOUT ROWID
                """,
                "CREATE INDEX imported_user ON imported (user_id) WHERE user_id IS NOT NULL",
                """
                CREATE TABLE import_members (
                    conversation_id TEXT NOT NULL, user_id TEXT NOT NULL, role TEXT NOT NULL, state TEXT NOT NULL,
                    joined_at BIGINT NOT NULL, is_unread BIGINT NOT NULL, PRIMARY KEY (conversation_id, user_id))
                    WITHOUT ROWID
                """,
                "CREATE INDEX import_members_user ON import_members (user_id)",
                "ALTER TABLE messages ADD COLUMN imported BIGINT NOT NULL DEFAULT 0",
                "CREATE UNIQUE INDEX messages_imported ON messages (client_id) WHERE imported = 1",
                """
                CREATE INDEX users_firebase ON users (id)
                WHERE password_hash >= '$fbscrypt$' AND password_hash < '$fbscrypt%'
                """,
            ])
    ]
}

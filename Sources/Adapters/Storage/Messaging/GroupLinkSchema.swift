extension DatabaseSchema {
    /// Links by which people join groups, and what people have declined.
    ///
    /// `members.invited_by` is NULL but for the invited; `removed` is the conversation's sequence when somebody removed a member
    /// or kept them out, 1 if that was before it was stored, and 0 for nobody; `silent` ones are shown to others as invited.
    /// `declines.subject` is the id of a conversation or of who invited.
    static let groupLinks: [Migration] = [
        Migration(
            42, "links of groups",
            [
                "ALTER TABLE members ADD COLUMN invited_by TEXT",
                "ALTER TABLE members ADD COLUMN removed BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE members ADD COLUMN silent BIGINT NOT NULL DEFAULT 0",
                """
                CREATE TABLE group_links (
                    conversation_id TEXT NOT NULL, id TEXT NOT NULL, hash BLOB NOT NULL UNIQUE, maker TEXT NOT NULL,
                    created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, max_uses BIGINT, uses BIGINT NOT NULL,
                    sequence BIGINT NOT NULL, PRIMARY KEY (conversation_id, id)) WITHOUT ROWID
                """,
                "CREATE INDEX group_links_maker ON group_links (maker)",
                """
                CREATE TABLE declines (
                    user_id TEXT NOT NULL, subject TEXT NOT NULL, count BIGINT NOT NULL, last_at BIGINT NOT NULL,
                    PRIMARY KEY (user_id, subject)) WITHOUT ROWID
                """,
                "CREATE INDEX declines_subject ON declines (subject)",
            ])
    ]
}

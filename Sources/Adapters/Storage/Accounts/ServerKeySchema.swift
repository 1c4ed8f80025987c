extension DatabaseSchema {
    /// Server keys, as digests; the audit log; and the key that opened a sign-in.
    ///
    /// `audit.id` increases with every insert (on PostgreSQL it is GENERATED ALWAYS AS IDENTITY).
    static let serverKeys: [Migration] = [
        Migration(
            31, "server keys",
            [
                """
                CREATE TABLE server_keys (
                    id TEXT PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL, previous_hash BLOB,
                    previous_until BIGINT, scopes TEXT NOT NULL, addresses TEXT NOT NULL, created_at BIGINT NOT NULL,
                    expires_at BIGINT, revoked_at BIGINT, last_used_at BIGINT)
                """,
                """
                CREATE TABLE audit (
                    id INTEGER PRIMARY KEY, at BIGINT NOT NULL, actor_kind TEXT NOT NULL, actor_id TEXT,
                    action TEXT NOT NULL, subject TEXT, outcome TEXT NOT NULL, address TEXT, count BIGINT NOT NULL,
                    request_id TEXT)
                """,
                "CREATE INDEX audit_at ON audit (at)",
                "CREATE INDEX outside_identities_user ON outside_identities (user_id)",
                "ALTER TABLE sign_ins ADD COLUMN actor TEXT",
            ])
    ]
}

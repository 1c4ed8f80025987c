extension DatabaseSchema {
    /// Friends and requests, contact links, reports, and by what a user is found.
    ///
    /// `friends` has a row for each of two users: what the owner holds about the other.
    static let friends: [Migration] = [
        Migration(
            35, "friends",
            [
                "ALTER TABLE users ADD COLUMN reach TEXT NOT NULL DEFAULT 'everybody'",
                """
                CREATE TABLE friends (
                    owner TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL, note TEXT, at BIGINT NOT NULL,
                    expires_at BIGINT, PRIMARY KEY (owner, user_id)) WITHOUT ROWID
                """,
                "CREATE INDEX friends_state ON friends (owner, state)",
                "CREATE INDEX friends_newest ON friends (owner, at)",
                "CREATE INDEX friends_user ON friends (user_id)",
                "CREATE INDEX friends_expiry ON friends (expires_at) WHERE expires_at IS NOT NULL",
                """
                CREATE TABLE contact_links (
                    user_id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, at BIGINT NOT NULL) WITHOUT ROWID
                """,
                """
                CREATE TABLE reports (
                    id TEXT PRIMARY KEY, reporter TEXT NOT NULL, user_id TEXT NOT NULL, reason TEXT NOT NULL, text TEXT,
                    at BIGINT NOT NULL) WITHOUT ROWID
                """,
                "CREATE INDEX reports_reporter ON reports (reporter, at)",
            ])
    ]
}

extension DatabaseSchema {
    /// Users, their sign-ins, blocks, devices and endpoints.
    ///
    /// `email_key` is the address in lower case. `name_words` holds the search terms of a name: the folded words of the
    /// display name, compared byte by byte (on PostgreSQL the database must have the C locale).
    static let accounts: [Migration] = [
        Migration(
            2, "accounts",
            [
                """
                CREATE TABLE users (
                    id TEXT PRIMARY KEY, email TEXT, email_key TEXT UNIQUE, password_hash TEXT, display_name TEXT NOT NULL,
                    photo_url TEXT, languages TEXT NOT NULL, call_waiting BIGINT NOT NULL, presence TEXT NOT NULL,
                    created_at BIGINT NOT NULL, disabled_at BIGINT)
                """,
                """
                CREATE TABLE name_words (word TEXT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY (word, user_id))
                """,
                "CREATE INDEX name_words_user ON name_words (user_id, word)",
                """
                CREATE TABLE outside_identities (
                    issuer TEXT NOT NULL, subject TEXT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY (issuer, subject))
                """,
                """
                CREATE TABLE blocks (
                    blocker TEXT NOT NULL, user_id TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (blocker, user_id))
                """,
                """
                CREATE TABLE devices (
                    user_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, platform TEXT NOT NULL,
                    created_at BIGINT NOT NULL, last_seen_at BIGINT NOT NULL, PRIMARY KEY (user_id, id))
                """,
                """
                CREATE TABLE sign_ins (
                    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT NOT NULL, created_at BIGINT NOT NULL,
                    last_used_at BIGINT NOT NULL, family_hash BLOB NOT NULL, used BIGINT NOT NULL, used_hash BLOB NOT NULL,
                    used_at BIGINT NOT NULL, next_hashes BLOB NOT NULL, expires_at BIGINT NOT NULL, ended_at BIGINT,
                    end_reason TEXT)
                """,
                "CREATE INDEX sign_ins_user ON sign_ins (user_id)",
                "CREATE INDEX sign_ins_ended ON sign_ins (ended_at) WHERE ended_at IS NOT NULL",
                "CREATE INDEX sign_ins_last_used ON sign_ins (last_used_at)",
                """
                CREATE TABLE endpoints (
                    id TEXT PRIMARY KEY, user_id TEXT NOT NULL, secret_hash BLOB NOT NULL, created_at BIGINT NOT NULL)
                """,
                "CREATE INDEX endpoints_created ON endpoints (created_at)",
                """
                CREATE TABLE invites (
                    hash BLOB PRIMARY KEY, created_at BIGINT NOT NULL, used_by TEXT, used_at BIGINT)
                """,
            ])
    ]

    /// Limits a user to 64 open sign-ins and 64 devices; the least recently used ones beyond that are ended.
    ///
    /// Their end is set to their last use, so that access tokens that are still valid are revoked at the next start.
    static let signInBounds: [Migration] = [
        Migration(
            16, "bounds of sign-ins",
            [
                """
                DELETE FROM devices WHERE (user_id, id) IN (
                    SELECT user_id, id FROM (
                        SELECT user_id, id, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY last_seen_at DESC, id) AS place
                        FROM devices) ranked
                    WHERE place > 64)
                """,
                """
                UPDATE sign_ins SET ended_at = last_used_at, end_reason = 'too_many'
                WHERE ended_at IS NULL AND id IN (
                    SELECT id FROM (
                        SELECT id, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY last_used_at DESC, id) AS place
                        FROM sign_ins WHERE ended_at IS NULL) ranked
                    WHERE place > 64)
                """,
                """
                UPDATE sign_ins SET ended_at = last_used_at, end_reason = 'too_many'
                WHERE ended_at IS NULL AND NOT EXISTS (
                    SELECT 1 FROM devices d WHERE d.user_id = sign_ins.user_id AND d.id = sign_ins.device_id)
                """,
                "DROP INDEX sign_ins_user",
                "CREATE INDEX sign_ins_open ON sign_ins (user_id, last_used_at) WHERE ended_at IS NULL",
                "CREATE INDEX sign_ins_device ON sign_ins (user_id, device_id)",
            ])
    ]

    /// When an endpoint was last used, accurate to one hour; the least recently used of too many are removed.
    static let endpointUse: [Migration] = [
        Migration(
            30, "last use of endpoints",
            [
                "ALTER TABLE endpoints ADD COLUMN used_at BIGINT NOT NULL DEFAULT 0",
                "UPDATE endpoints SET used_at = created_at",
                "DROP INDEX endpoints_created",
                "CREATE INDEX endpoints_used ON endpoints (used_at)",
                "CREATE INDEX endpoints_user ON endpoints (user_id, used_at)",
            ])
    ]

    /// The client that last opened a realtime session with a sign-in.
    static let signInClients: [Migration] = [
        Migration(
            32, "clients of sign-ins",
            [
                "ALTER TABLE sign_ins ADD COLUMN client_name TEXT",
                "ALTER TABLE sign_ins ADD COLUMN client_version TEXT",
            ])
    ]
}

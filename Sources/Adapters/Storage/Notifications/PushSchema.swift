extension DatabaseSchema {
    /// Where devices are pushed to, and what they are to be told.
    ///
    /// `push_sources` has what happened, a row for each conversation or call; `pushes` what is to be told to whom, a row for
    /// each device and topic, which is due at `not_before`, and waits for a change without one.
    static let push: [Migration] = [
        Migration(
            77, "push",
            [
                """
                CREATE TABLE push_registrations (
                    id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT NOT NULL, kind TEXT NOT NULL,
                    address BLOB NOT NULL, digest BLOB NOT NULL, endpoint_id TEXT, shared BIGINT NOT NULL,
                    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)
                """,
                "CREATE UNIQUE INDEX push_registrations_device ON push_registrations (user_id, device_id, kind)",
                "CREATE INDEX push_registrations_digest ON push_registrations (digest)",
                """
                CREATE INDEX push_registrations_endpoint ON push_registrations (endpoint_id)
                WHERE endpoint_id IS NOT NULL
                """,
                """
                CREATE TABLE push_sources (
                    topic TEXT PRIMARY KEY, is_call BIGINT NOT NULL, after_number BIGINT NOT NULL,
                    up_to BIGINT NOT NULL, since BIGINT NOT NULL, not_before BIGINT NOT NULL,
                    fence BIGINT NOT NULL DEFAULT 0) WITHOUT ROWID
                """,
                "CREATE INDEX push_sources_due ON push_sources (is_call, not_before)",
                """
                CREATE TABLE pushes (
                    id INTEGER PRIMARY KEY, registration_id BIGINT NOT NULL, topic TEXT NOT NULL, is_call BIGINT NOT NULL,
                    after_number BIGINT NOT NULL, up_to BIGINT NOT NULL, sent TEXT, attempt BIGINT NOT NULL DEFAULT 0,
                    created_at BIGINT NOT NULL, changed_at BIGINT NOT NULL, not_before BIGINT, lease_until BIGINT,
                    fence BIGINT NOT NULL DEFAULT 0)
                """,
                "CREATE UNIQUE INDEX pushes_device ON pushes (registration_id, topic)",
                "CREATE INDEX pushes_due ON pushes (is_call, not_before) WHERE not_before IS NOT NULL",
                "CREATE INDEX pushes_resting ON pushes (changed_at) WHERE not_before IS NULL",
                "ALTER TABLE users ADD COLUMN notifications TEXT",
            ]),
        Migration(78, "when calls were pushed", ["ALTER TABLE participants ADD COLUMN pushed_at BIGINT"]),
        // Quiet hours from and to a minute of the day, all null without them. `quiet_until`: for what a push waited last; it
        // still does if that is `not_before`.
        Migration(
            79, "quiet hours",
            [
                "ALTER TABLE users ADD COLUMN quiet_from BIGINT",
                "ALTER TABLE users ADD COLUMN quiet_to BIGINT",
                "ALTER TABLE users ADD COLUMN quiet_zone TEXT",
                "ALTER TABLE pushes ADD COLUMN quiet_until BIGINT",
            ]),
    ]
}

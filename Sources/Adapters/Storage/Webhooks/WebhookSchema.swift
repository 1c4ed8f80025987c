extension DatabaseSchema {
    /// Webhooks, events and their deliveries.
    ///
    /// `event_log.number` is the number of the last event, assigned in the transaction of the change, so that numbers rise
    /// in the order of the commits; `trimmed` is the last one that was removed. `deliveries.not_before` of a claimed
    /// delivery is the end of its lease. `urgent` is set for events that expire, which are sent before the others.
    /// `webhooks.waiting` counts the deliveries that are not done. A removed webhook stays until its deliveries are
    /// removed.
    static let webhooks: [Migration] = [
        Migration(
            33, "webhooks",
            [
                """
                CREATE TABLE webhooks (
                    id TEXT PRIMARY KEY, name TEXT, url TEXT, types TEXT, secret BLOB NOT NULL, previous_secret BLOB,
                    previous_until BIGINT, created_at BIGINT NOT NULL, disabled_at BIGINT, disabled_reason TEXT,
                    dropped BIGINT NOT NULL DEFAULT 0, waiting BIGINT NOT NULL DEFAULT 0, removed_at BIGINT)
                """,
                "CREATE TABLE event_log (id BIGINT PRIMARY KEY, number BIGINT NOT NULL, trimmed BIGINT NOT NULL)",
                "INSERT INTO event_log (id, number, trimmed) VALUES (1, 0, 0)",
                """
                CREATE TABLE events (
                    number BIGINT PRIMARY KEY, id TEXT NOT NULL, type TEXT NOT NULL, at BIGINT NOT NULL,
                    expires_at BIGINT, user_id TEXT, call_id TEXT, recording_id TEXT, pulled BIGINT NOT NULL,
                    data TEXT NOT NULL)
                """,
                "CREATE INDEX events_pulled ON events (number) WHERE pulled = 1",
                """
                CREATE TABLE deliveries (
                    id INTEGER PRIMARY KEY, webhook_id TEXT NOT NULL, event_number BIGINT NOT NULL,
                    urgent BIGINT NOT NULL, attempt BIGINT NOT NULL DEFAULT 0, not_before BIGINT NOT NULL,
                    lease_until BIGINT, fence BIGINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL, done_at BIGINT,
                    outcome TEXT, status BIGINT, reason TEXT)
                """,
                "CREATE INDEX deliveries_due ON deliveries (webhook_id, urgent, not_before) WHERE done_at IS NULL",
                "CREATE INDEX deliveries_waiting ON deliveries (webhook_id, id) WHERE done_at IS NULL",
                "ALTER TABLE endpoints ADD COLUMN sign_in_id TEXT",
            ])
    ]
}

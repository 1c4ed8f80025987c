package import Model

extension Store {
    /// Prepares a database that was restored from a backup, of which clients may be ahead: rebuilds the log, removes
    /// the negotiations of calls, revokes the server keys, since some may have been revoked after the backup, disables the
    /// webhooks, whose secrets were sealed with a key that the backup does not have, removes what is pushed and where to,
    /// which were sealed with another, and sets the gateway's epoch to one
    /// that it never had.
    package func beginAfterRestore() async throws {
        try await rebuildLog()
        _ = try await write { transaction in
            let now = transaction.now
            try transaction.sql.execute("UPDATE log SET restored_at = ?1", [.time(now)])
            try transaction.sql.execute(
                "UPDATE server_keys SET revoked_at = ?1, previous_hash = NULL WHERE revoked_at IS NULL", [.time(now)])
            try transaction.disableWebhooks(because: "The server was restored from a backup.")
            try transaction.removeAllPushes()
            for table in ["negotiations", "signals", "ended_mailboxes"] {
                try transaction.sql.execute("DELETE FROM \(table)")
            }
            // Each start of the gateway adds one and takes more than a millisecond, so the time in milliseconds is
            // higher.
            try transaction.sql.execute(
                """
                INSERT INTO gateway (id, epoch) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET
                    epoch = CASE WHEN gateway.epoch < excluded.epoch THEN excluded.epoch ELSE gateway.epoch + 1 END
                """, [.time(now)])
        }
    }
}

extension StoreTransaction {
    /// When the database was last restored from a backup.
    package func restoredAt() throws -> Timestamp? {
        try sql.first("SELECT restored_at FROM log WHERE id = 1")?.timeIfPresent(0)
    }
}

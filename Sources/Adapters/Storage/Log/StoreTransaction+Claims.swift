import Model

extension StoreTransaction {
    /// Ends all claims of deliveries and jobs, for who has the database alone: what a killed process had begun need not wait
    /// for its lease. Jobs that were put off are tried again too, since a restart may be what they waited for.
    package func releaseClaims() throws {
        try sql.execute(
            """
            UPDATE deliveries SET not_before = ?1, lease_until = NULL, fence = fence + 1
            WHERE done_at IS NULL AND lease_until IS NOT NULL AND not_before > ?1
            """, [.time(now)])
        try sql.execute("UPDATE jobs SET not_before = ?1, fence = fence + 1 WHERE not_before > ?1", [.time(now)])
    }
}

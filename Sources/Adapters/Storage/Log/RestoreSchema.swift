extension DatabaseSchema {
    /// When the database was restored from a backup: clients may be ahead of it.
    static let restores: [Migration] = [
        Migration(18, "restores", ["ALTER TABLE log ADD COLUMN restored_at BIGINT"])
    ]
}

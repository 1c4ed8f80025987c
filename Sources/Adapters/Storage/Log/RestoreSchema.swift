extension Schema {
    /// When the database was restored from a backup: clients may know what it does not.
    static let restores: [Migration] = [
        Migration(18, "restores", ["ALTER TABLE log ADD COLUMN restored_at BIGINT"])
    ]
}

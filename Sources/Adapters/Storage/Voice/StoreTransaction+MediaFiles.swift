package import Model

// The rows of media files. The sum of bytes per user is kept in a table of its own.
extension StoreTransaction: MediaUsageStore {
    package func insert(_ file: MediaFile) throws {
        try sql.execute(
            """
            INSERT INTO media_files (id, kind, resource, content_type, byte_count, created_at, owner)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            [
                .id(file.id), .text(file.kind.rawValue), .text(file.resource), .text(file.contentType),
                .integer(file.byteCount), .time(file.createdAt), .id(file.owner),
            ])
        try count(Int64(file.byteCount), for: file.owner)
    }

    package func mediaFile(_ id: FileID) throws -> MediaFile? {
        let row = try sql.first(
            """
            SELECT id, kind, resource, content_type, byte_count, created_at, owner FROM media_files WHERE id = ?1
            """, [.id(id)])
        guard let row else { return nil }
        var reader = ColumnReader(row)
        return MediaFile(
            id: try reader.id(), kind: try reader.enumCase(), resource: try reader.text(),
            contentType: try reader.text(),
            byteCount: try reader.int(), createdAt: try reader.time(), owner: try reader.idIfPresent())
    }

    /// The ids of all files, sorted.
    package func mediaFiles(after id: FileID?, limit: Int) throws -> [FileID] {
        try sql.query(
            "SELECT id FROM media_files WHERE id > ?1 ORDER BY id LIMIT ?2", [.text(id?.text ?? ""), .integer(limit)]
        ).map { try $0.id(0) }
    }

    /// Sets a file's size, which it has or is about to have.
    package func setByteCount(_ bytes: Int64, of id: FileID) throws {
        guard let file = try mediaFile(id) else { return }
        try sql.execute("UPDATE media_files SET byte_count = ?2 WHERE id = ?1", [.id(id), .integer(bytes)])
        try count(bytes &- Int64(file.byteCount), for: file.owner)
    }

    package func removeMediaFile(_ id: FileID) throws {
        let row = try sql.first("DELETE FROM media_files WHERE id = ?1 RETURNING byte_count, owner", [.id(id)])
        guard let row else { return }
        try count(0 &- row.integer(0), for: row.idIfPresent(1))
    }

    package func mediaBytes(of user: UserID) throws -> Int64 {
        try sql.first("SELECT bytes FROM media_usage WHERE user_id = ?1", [.id(user)])?.integer(0) ?? 0
    }

    private func count(_ bytes: Int64, for user: UserID?) throws {
        guard let user, bytes != 0 else { return }
        try sql.execute(
            """
            INSERT INTO media_usage (user_id, bytes) VALUES (?1, ?2)
            ON CONFLICT (user_id) DO UPDATE SET bytes = media_usage.bytes + excluded.bytes
            """, [.id(user), .integer(bytes)])
    }
}

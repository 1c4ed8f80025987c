package import Model

extension StoreTransaction {
    package func insert(_ file: MediaFile) throws {
        try sql.execute(
            """
            INSERT INTO media_files (id, kind, resource, content_type, byte_count, created_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            [
                .id(file.id), .text(file.kind.rawValue), .text(file.resource), .text(file.contentType),
                .integer(file.byteCount), .time(file.createdAt),
            ])
    }

    package func mediaFile(_ id: FileID) throws -> MediaFile? {
        let row = try sql.first(
            "SELECT id, kind, resource, content_type, byte_count, created_at FROM media_files WHERE id = ?1", [.id(id)])
        guard let row else { return nil }
        var reader = ColumnReader(row)
        return MediaFile(
            id: try reader.id(), kind: try reader.word(), resource: try reader.text(), contentType: try reader.text(),
            byteCount: try reader.int(), createdAt: try reader.time())
    }

    package func removeMediaFile(_ id: FileID) throws {
        try sql.execute("DELETE FROM media_files WHERE id = ?1", [.id(id)])
    }
}

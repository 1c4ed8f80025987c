package import Accounts
package import Model

// The rows of server keys.
extension StoreTransaction {
    private static let keyColumns = """
        id, name, hash, previous_hash, previous_until, scopes, addresses, created_at, expires_at, revoked_at, last_used_at
        """

    package func serverKeys() throws -> [ServerKeyRecord] {
        try sql.query("SELECT \(Self.keyColumns) FROM server_keys ORDER BY created_at, id").map { try Self.key($0) }
    }

    package func serverKey(_ id: ServerKeyID) throws -> ServerKeyRecord? {
        try sql.first("SELECT \(Self.keyColumns) FROM server_keys WHERE id = ?1", [.text(id.text)])
            .map { try Self.key($0) }
    }

    package func insert(_ key: ServerKeyRecord) throws {
        try sql.execute(
            """
            INSERT INTO server_keys (\(Self.keyColumns))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """,
            [
                .text(key.id.text), .text(key.name), .blob(key.hash), .blob(key.previous?.hash),
                .time(key.previous?.until), .text(key.scopes.map(\.rawValue).sorted().joined(separator: ",")),
                .text(key.addresses.joined(separator: ",")), .time(key.createdAt), .time(key.expiresAt),
                .time(key.revokedAt), .time(key.lastUsedAt),
            ])
    }

    package func update(_ key: ServerKeyRecord) throws {
        try sql.execute(
            """
            UPDATE server_keys SET hash = ?2, previous_hash = ?3, previous_until = ?4, expires_at = ?5, revoked_at = ?6
            WHERE id = ?1
            """,
            [
                .text(key.id.text), .blob(key.hash), .blob(key.previous?.hash), .time(key.previous?.until),
                .time(key.expiresAt), .time(key.revokedAt),
            ])
    }

    package func updateLastUse(of key: ServerKeyID, to time: Timestamp) throws {
        try sql.execute(
            "UPDATE server_keys SET last_used_at = ?2 WHERE id = ?1", [.text(key.text), .time(time)])
    }

    package func removeRevokedServerKeys(keeping limit: Int) throws {
        try sql.execute(
            """
            DELETE FROM server_keys WHERE id IN (
                SELECT id FROM server_keys WHERE revoked_at IS NOT NULL ORDER BY revoked_at DESC, id LIMIT 1000 OFFSET ?1)
            """, [.integer(limit)])
    }

    private static func key(_ row: SQLRow) throws -> ServerKeyRecord {
        guard let id = ServerKeyID(try row.text(0)) else {
            throw SQLError(.unexpectedValue, "A server key has an id that is none.")
        }
        let previous = try row.blobIfPresent(3).flatMap { hash in
            try row.timeIfPresent(4).map { ServerKeyRecord.Previous(hash: hash, until: $0) }
        }
        // A scope of a newer version is no scope here.
        let scopes = try row.text(5).split(separator: ",").compactMap { ServerKeyScope(rawValue: String($0)) }
        return ServerKeyRecord(
            id: id, name: try row.text(1), hash: try row.blob(2), previous: previous, scopes: Set(scopes),
            addresses: try row.text(6).split(separator: ",").map(String.init), createdAt: try row.time(7),
            expiresAt: try row.timeIfPresent(8), revokedAt: try row.timeIfPresent(9),
            lastUsedAt: try row.timeIfPresent(10))
    }
}

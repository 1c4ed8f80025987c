package import Accounts
package import Model

// The rows of endpoints and invites.
extension StoreTransaction {
    package func endpoint(_ id: EndpointID) throws -> EndpointRecord? {
        try sql.first("SELECT id, user_id, secret_hash FROM endpoints WHERE id = ?1", [.id(id)]).map {
            EndpointRecord(id: try $0.id(0), user: try $0.id(1), secretHash: try $0.blob(2))
        }
    }

    package func insert(_ endpoint: EndpointRecord) throws -> Bool {
        try sql.execute(
            """
            INSERT INTO endpoints (id, user_id, secret_hash, created_at) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (id) DO NOTHING
            """, [.id(endpoint.id), .id(endpoint.user), .blob(endpoint.secretHash), .time(now)]) == 1
    }

    package func insertInvite(hash: [UInt8]) throws {
        try sql.execute("INSERT INTO invites (hash, created_at) VALUES (?1, ?2)", [.blob(hash), .time(now)])
    }

    package func useInvite(hash: [UInt8], by user: UserID) throws -> Bool {
        try sql.execute(
            "UPDATE invites SET used_by = ?2, used_at = ?3 WHERE hash = ?1 AND used_by IS NULL",
            [.blob(hash), .id(user), .time(now)]) == 1
    }
}

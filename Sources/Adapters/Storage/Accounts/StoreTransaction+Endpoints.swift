package import Accounts
package import Model

// The rows of endpoints and invites.
extension StoreTransaction {
    package func endpoint(_ id: EndpointID) throws -> EndpointRecord? {
        try sql.first(
            "SELECT id, user_id, secret_hash, used_at, sign_in_id FROM endpoints WHERE id = ?1", [.id(id)]
        ).map {
            EndpointRecord(
                id: try $0.id(0), user: try $0.id(1), secretHash: try $0.blob(2), signIn: try $0.idIfPresent(4),
                usedAt: try $0.time(3))
        }
    }

    package func insert(_ endpoint: EndpointRecord) throws -> Bool {
        try sql.execute(
            """
            INSERT INTO endpoints (id, user_id, secret_hash, created_at, used_at, sign_in_id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING
            """,
            [
                .id(endpoint.id), .id(endpoint.user), .blob(endpoint.secretHash), .time(now), .time(endpoint.usedAt),
                .id(endpoint.signIn),
            ]) == 1
    }

    package func updateLastUse(of endpoint: EndpointID, by signIn: SignInID?) throws {
        try sql.execute(
            "UPDATE endpoints SET used_at = ?2, sign_in_id = ?3 WHERE id = ?1",
            [.id(endpoint), .time(now), .id(signIn)])
    }

    package func removeUnusedEndpoints(of user: UserID, keeping limit: Int) throws -> [EndpointID] {
        let surplus = try sql.query(
            "SELECT id FROM endpoints WHERE user_id = ?1 ORDER BY used_at DESC, created_at DESC, id LIMIT ?2 OFFSET ?3",
            [.id(user), .integer(Self.endpointsRemovedAtOnce), .integer(limit)])
        return try surplus.map { row in
            try sql.execute("DELETE FROM endpoints WHERE id = ?1", [try row.value(0)])
            try removePushRegistrations(by: row.id(0))
            return try row.id(0)
        }
    }

    /// Databases of earlier versions may have thousands per user.
    private static let endpointsRemovedAtOnce = 100

    package func insertInvite(hash: [UInt8]) throws {
        try sql.execute("INSERT INTO invites (hash, created_at) VALUES (?1, ?2)", [.blob(hash), .time(now)])
    }

    package func isInviteUnused(hash: [UInt8]) throws -> Bool {
        try sql.first("SELECT 1 FROM invites WHERE hash = ?1 AND used_by IS NULL", [.blob(hash)]) != nil
    }

    package func useInvite(hash: [UInt8], by user: UserID) throws -> Bool {
        try sql.execute(
            "UPDATE invites SET used_by = ?2, used_at = ?3 WHERE hash = ?1 AND used_by IS NULL",
            [.blob(hash), .id(user), .time(now)]) == 1
    }
}

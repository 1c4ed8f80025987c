package import Accounts
package import Model

// What the deletion of an account writes at once.
extension StoreTransaction {
    package func removeIdentities(of user: UserID) throws -> [ExternalIdentity] {
        try sql.execute("UPDATE imported SET digest = ?2 WHERE user_id = ?1", [.id(user), .blob([])])
        return try sql.query(
            "DELETE FROM outside_identities WHERE user_id = ?1 RETURNING issuer, subject", [.id(user)]
        ).map { ExternalIdentity(issuer: try $0.text(0), subject: try $0.text(1)) }
    }

    package func insertDeletedIdentity(hash: [UInt8]) throws {
        try sql.execute(
            """
            INSERT INTO deleted_identities (hash, deleted_at) VALUES (?1, ?2)
            ON CONFLICT (hash) DO UPDATE SET deleted_at = excluded.deleted_at
            """, [.blob(hash), .time(now)])
    }

    package func identityDeletedAt(hash: [UInt8]) throws -> Timestamp? {
        try sql.first("SELECT deleted_at FROM deleted_identities WHERE hash = ?1", [.blob(hash)])?.time(0)
    }

    package func insertErasure(of user: UserID, photo: FileID?) throws {
        try sql.execute(
            """
            INSERT INTO erasures (user_id, requested_at, step, cursor, photo, lease_until, fence)
            VALUES (?1, ?2, ?3, '', ?4, 0, 0) ON CONFLICT (user_id) DO NOTHING
            """, [.id(user), .time(now), .text(ErasureStep.first.rawValue), .id(photo)])
    }
}

package import Model

/// Whether a client id was used before.
package enum ClientIDMemory: Sendable, Hashable {
    case new
    /// The same request again; `entity` is what the first one created.
    case same(entity: String)
    /// The id was used for another request.
    case reused
}

extension StoreTransaction {
    /// Records that `user` created `entity` with `clientID`, or returns what was created with it before. This makes a
    /// write idempotent for ever: the record is committed with the write.
    ///
    /// - Parameters:
    ///   - bodyHash: a digest of the request, which distinguishes a retry from another request.
    ///   - scope: the entity whose removal removes the record, such as a call's id; nil keeps it for ever.
    package func remember(
        clientID: ClientID, user: UserID, bodyHash: [UInt8], entity: String, scope: String? = nil
    ) throws -> ClientIDMemory {
        let inserted = try sql.execute(
            """
            INSERT INTO client_ids (user_id, client_id, body_hash, entity, scope) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (user_id, client_id) DO NOTHING
            """, [.id(user), .id(clientID), .blob(bodyHash), .text(entity), .text(scope)])
        guard inserted == 0 else { return .new }
        return try recall(clientID: clientID, user: user, bodyHash: bodyHash)
    }

    /// Looks up a client id without recording it.
    package func recall(clientID: ClientID, user: UserID, bodyHash: [UInt8]) throws -> ClientIDMemory {
        let row = try sql.first(
            "SELECT body_hash, entity FROM client_ids WHERE user_id = ?1 AND client_id = ?2",
            [.id(user), .id(clientID)])
        guard let row else { return .new }
        return try row.blob(0) == bodyHash ? .same(entity: row.text(1)) : .reused
    }

    /// Removes the client ids of `scope`.
    package func forgetClientIDs(scope: String) throws {
        try sql.execute("DELETE FROM client_ids WHERE scope = ?1", [.text(scope)])
    }
}

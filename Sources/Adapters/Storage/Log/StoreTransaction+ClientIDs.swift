package import Model

/// Whether a client id was seen before.
package enum ClientIDMemory: Sendable, Hashable {
    case new
    /// The same request again; `entity` is what the first one made.
    case same(entity: String)
    /// The id was used for another request.
    case reused
}

extension StoreTransaction {
    /// Notes that `user` made `entity` with `clientID`, or tells what was made with it before. This is what makes a write
    /// idempotent for ever: the note is committed with the write.
    ///
    /// - Parameters:
    ///   - bodyHash: a digest of the request, which tells a repetition from another request.
    ///   - scope: what the memory lives as long as, such as a call's id; nil keeps it for ever.
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

    /// What is known of a client id, without noting it.
    package func recall(clientID: ClientID, user: UserID, bodyHash: [UInt8]) throws -> ClientIDMemory {
        let row = try sql.first(
            "SELECT body_hash, entity FROM client_ids WHERE user_id = ?1 AND client_id = ?2",
            [.id(user), .id(clientID)])
        guard let row else { return .new }
        return try row.blob(0) == bodyHash ? .same(entity: row.text(1)) : .reused
    }

    /// Forgets the client ids that were to live as long as `scope`.
    package func forgetClientIDs(scope: String) throws {
        try sql.execute("DELETE FROM client_ids WHERE scope = ?1", [.text(scope)])
    }
}

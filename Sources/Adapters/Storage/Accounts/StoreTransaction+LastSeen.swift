internal import Accounts
package import Model

// When users were last there. It is no part of `UserRecord`, whose writers would overwrite it.
extension StoreTransaction {
    package func lastSeen(_ user: UserID) throws -> Timestamp? {
        try sql.first("SELECT last_seen_at FROM users WHERE id = ?1", [.id(user)])?.timeIfPresent(0)
    }

    /// Times only rise. Nothing is kept of a deleted user.
    package func save(lastSeen times: [(user: UserID, at: Timestamp)]) throws {
        for (user, time) in times {
            try sql.execute(
                """
                UPDATE users SET last_seen_at = ?2
                WHERE id = ?1 AND deleted_at IS NULL AND COALESCE(last_seen_at, 0) < ?2
                """, [.id(user), .time(time)])
        }
    }

    /// What `reader` sees of the presence of `user`; nil if there is no such user.
    package func presenceView(of user: UserID, for reader: UserID) throws -> PresenceView? {
        guard let seen = try self.user(user) else { return nil }
        guard let own = try self.user(reader) else { return .nothing }
        let isFriend = try areFriends(user, reader)
        let relation = PresenceRelation(
            isBlocked: try isBlocked(reader, by: user) || isBlocked(user, by: reader), isFriend: isFriend,
            sharesConversation: try isFriend || shareConversation(user, reader))
        return seen.presence(seenBy: own, relation)
    }

    package func messageRequests(of user: UserID) throws -> MessageRequestPolicy {
        guard let row = try sql.first("SELECT message_requests FROM users WHERE id = ?1", [.id(user)]) else {
            return .ask
        }
        return MessageRequestPolicy(rawValue: try row.text(0)) ?? .ask
    }

    private func shareConversation(_ one: UserID, _ other: UserID) throws -> Bool {
        try sql.first(
            """
            SELECT 1 FROM members a JOIN members b ON b.conversation_id = a.conversation_id AND b.user_id = ?2
            WHERE a.user_id = ?1 AND a.state = 'member' AND b.state = 'member' LIMIT 1
            """, [.id(one), .id(other)]) != nil
    }
}

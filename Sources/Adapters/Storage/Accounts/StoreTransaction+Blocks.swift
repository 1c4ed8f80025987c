package import Accounts
package import Model

extension StoreTransaction {
    package func block(_ user: UserID, by blocker: UserID) throws -> Bool {
        let isNew =
            try sql.execute(
                "INSERT INTO blocks (blocker, user_id, at) VALUES (?1, ?2, ?3) ON CONFLICT (blocker, user_id) DO NOTHING",
                [.id(blocker), .id(user), .time(now)]) == 1
        if isNew { try countAnew(of: blocker, by: user) }
        return isNew
    }

    package func unblock(_ user: UserID, by blocker: UserID) throws -> Bool {
        let wasBlocked =
            try sql.execute("DELETE FROM blocks WHERE blocker = ?1 AND user_id = ?2", [.id(blocker), .id(user)]) == 1
        if wasBlocked { try countAnew(of: blocker, by: user) }
        return wasBlocked
    }

    /// What is unread in groups has another count for who has blocked somebody, or does no more: the rows of their inbox move.
    private func countAnew(of reader: UserID, by author: UserID) throws {
        for id in try groupsWithUnread(of: reader, by: author) where try conversation(id) != nil {
            touched.own(of: reader, in: id)
        }
    }

    package func isBlocked(_ user: UserID, by blocker: UserID) throws -> Bool {
        try shared(\.blocked, .init(user: user, blocker: blocker)) {
            try connection.first("SELECT 1 FROM blocks WHERE blocker = ?1 AND user_id = ?2", [.id(blocker), .id(user)])
                != nil
        }
    }

    package func blockedUsers(by blocker: UserID, after id: UserID?, limit: Int) throws -> [UserRecord] {
        try sql.query(
            """
            SELECT \(Self.userColumns) FROM blocks b JOIN users u ON u.id = b.user_id
            WHERE b.blocker = ?1 AND b.user_id > ?2 ORDER BY b.user_id LIMIT ?3
            """, [.id(blocker), .text(id?.text ?? ""), .integer(limit)]
        ).map { try Self.user($0) }
    }
}

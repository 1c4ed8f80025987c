package import Accounts
package import Model

// Lists, and what happens by itself.
extension FriendCommands {
    /// Friends and requests, in the order of the other users' ids.
    package func list(
        of principal: Principal, in state: FriendRecord.State? = nil, limit: Int = 50, cursor: String? = nil
    ) async throws -> AccountPage<FriendDocument> {
        let limit = min(100, max(1, limit))
        let after = try cursor.map { text in
            guard let user = UserID(text) else {
                throw Problem.invalid("cursor", "This cursor does not belong to this list.")
            }
            return user
        }
        let found = try await database.readFriends { store in
            try store.friends(of: principal.user, in: state, after: after, limit: limit + 1)
        }
        let page = found.prefix(limit)
        return AccountPage(
            items: page.map { FriendDocument($0.record, $0.user.profile) },
            nextCursor: found.count > limit ? page.last?.record.user.text : nil)
    }

    /// Removes some requests that have expired, and notifies both users. Returns how many.
    package func expire(limit: Int = 100) async throws -> Int {
        // Most of the time there are none, which needs no write.
        guard try await database.readFriends({ try !$0.expiredFriends(limit: 1).isEmpty }) else { return 0 }
        return try await database.writeFriends { store in
            let expired = try store.expiredFriends(limit: limit)
            for record in expired { try store.removeAndNotify(record) }
            return expired.count
        }.value
    }
}

extension FriendStore {
    /// Removes some of what others hold about a deleted user, and notifies them. Returns how many.
    package func removeFriendRecords(about user: UserID, limit: Int) throws -> Int {
        let records = try friendRecords(about: user, limit: limit)
        for record in records { try removeAndNotify(record) }
        return records.count
    }

    fileprivate func removeAndNotify(_ record: FriendRecord) throws {
        try removeFriend(record.user, of: record.owner)
        if record.isVisible { try append(.friendRemoved, FriendRemoval(user: record.user), to: record.owner) }
    }
}

package import Accounts
package import Friends
import Messaging
package import Model

extension StoreTransaction: FriendStore {}

extension Store: FriendDatabase {
    package func readFriends<T: Sendable>(
        _ job: @escaping @Sendable (any FriendStore) throws -> T
    ) async throws -> T {
        try await read { try job($0) }
    }

    package func writeFriends<T: Sendable>(
        _ job: @escaping @Sendable (any FriendStore) throws -> T
    ) async throws -> (value: T, positions: [StreamName: Position]) {
        let committed = try await write { try job($0) }
        return (committed.value, committed.positions)
    }
}

// The rows of friends.
extension StoreTransaction {
    private static let friendColumns = "f.owner, f.user_id, f.state, f.note, f.at, f.expires_at"
    private static let friendColumnCount = 6

    package func friend(_ user: UserID, of owner: UserID) throws -> FriendRecord? {
        try sql.first(
            "SELECT \(Self.friendColumns) FROM friends f WHERE f.owner = ?1 AND f.user_id = ?2",
            [.id(owner), .id(user)]
        ).map { try Self.friend($0) }
    }

    package func areFriends(_ one: UserID, _ other: UserID) throws -> Bool {
        try friend(other, of: one)?.state == .friend
    }

    package func save(_ record: FriendRecord) throws {
        try sql.execute(
            """
            INSERT INTO friends (owner, user_id, state, note, at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (owner, user_id) DO UPDATE SET state = excluded.state, note = excluded.note, at = excluded.at,
                expires_at = excluded.expires_at
            """,
            [
                .id(record.owner), .id(record.user), .text(record.state.rawValue), .text(record.note),
                .time(record.at), .time(record.expiresAt),
            ])
    }

    package func removeFriend(_ user: UserID, of owner: UserID) throws {
        try sql.execute("DELETE FROM friends WHERE owner = ?1 AND user_id = ?2", [.id(owner), .id(user)])
    }

    package func friendCount(of owner: UserID, in state: FriendRecord.State, limit: Int) throws -> Int {
        try sql.first(
            "SELECT COUNT(*) FROM (SELECT 1 FROM friends WHERE owner = ?1 AND state = ?2 LIMIT ?3) counted",
            [.id(owner), .text(state.rawValue), .integer(limit)])?.int(0) ?? 0
    }

    package func friends(
        of owner: UserID, in state: FriendRecord.State?, after user: UserID?, limit: Int
    ) throws -> [(record: FriendRecord, user: UserRecord)] {
        try visibleFriends(
            "AND f.user_id > ?3 AND (?4 = '' OR f.state = ?4) ORDER BY f.user_id LIMIT ?5",
            [.id(owner), .time(now), .text(user?.text ?? ""), .text(state?.rawValue ?? ""), .integer(limit)])
    }

    package func newestFriends(of owner: UserID, limit: Int) throws -> [(record: FriendRecord, user: UserRecord)] {
        try visibleFriends("ORDER BY f.at DESC, f.user_id DESC LIMIT ?3", [.id(owner), .time(now), .integer(limit)])
    }

    /// What has expired, and deleted users, are left out before they are removed.
    private func visibleFriends(
        _ rest: String, _ arguments: [SQLValue]
    ) throws -> [(record: FriendRecord, user: UserRecord)] {
        try sql.query(
            """
            SELECT \(Self.friendColumns), \(Self.userColumns) FROM friends f JOIN users u ON u.id = f.user_id
            WHERE f.owner = ?1 AND f.state <> 'declined' AND (f.expires_at IS NULL OR f.expires_at > ?2)
                AND u.deleted_at IS NULL \(rest)
            """, arguments
        ).map { (try Self.friend($0), try Self.user($0, from: Self.friendColumnCount)) }
    }

    package func expiredFriends(limit: Int) throws -> [FriendRecord] {
        try sql.query(
            """
            SELECT \(Self.friendColumns) FROM friends f WHERE f.expires_at IS NOT NULL AND f.expires_at <= ?1
            ORDER BY f.expires_at LIMIT ?2
            """, [.time(now), .integer(limit)]
        ).map { try Self.friend($0) }
    }

    package func friendRecords(about user: UserID, limit: Int) throws -> [FriendRecord] {
        try sql.query(
            "SELECT \(Self.friendColumns) FROM friends f WHERE f.user_id = ?1 LIMIT ?2", [.id(user), .integer(limit)]
        ).map { try Self.friend($0) }
    }

    package func acceptMessages(between one: UserID, and other: UserID) throws {
        try ConversationCommands().acceptRequest(between: one, and: other, in: self)
    }

    private static func friend(_ row: SQLRow) throws -> FriendRecord {
        var columns = ColumnReader(row)
        return FriendRecord(
            owner: try columns.id(), user: try columns.id(), state: try columns.enumCase(),
            note: try columns.textIfPresent(), at: try columns.time(), expiresAt: try columns.timeIfPresent())
    }
}

// Client ids of requests and reports.
extension StoreTransaction {
    package func remember(
        _ clientID: ClientID, of user: UserID, bodyHash: [UInt8], outcome: String
    ) throws -> EarlierRequest {
        try Self.earlier(remember(clientID: clientID, user: user, bodyHash: bodyHash, entity: outcome))
    }

    package func earlierRequest(
        _ clientID: ClientID, of user: UserID, bodyHash: [UInt8]
    ) throws -> EarlierRequest {
        try Self.earlier(recall(clientID: clientID, user: user, bodyHash: bodyHash))
    }

    private static func earlier(_ memory: ClientIDMemory) -> EarlierRequest {
        switch memory {
        case .new: .none
        case .same(let entity): .same(outcome: entity)
        case .reused: .different
        }
    }
}

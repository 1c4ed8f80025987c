package import Messaging
package import Model

// Messages that disappear.
extension StoreTransaction {
    private static let isExpiring = "expires_at IS NOT NULL AND deleted_at IS NULL"

    package func dueMessages(limit: Int) throws -> [Message] {
        try sql.query(
            """
            SELECT \(Self.messageColumns) FROM messages WHERE \(Self.isExpiring) AND expires_at <= ?1
            ORDER BY expires_at LIMIT ?2
            """, [.time(now), .integer(limit)]
        ).map { try Self.message($0) }
    }

    package func nextExpiry() throws -> Timestamp? {
        try sql.first("SELECT expires_at FROM messages WHERE \(Self.isExpiring) ORDER BY expires_at LIMIT 1")?.time(0)
    }

    /// Something that was written is due then.
    func note(due time: Timestamp) { nextDue = nextDue.map { min($0, time) } ?? time }
}

package import Messaging
package import Model

/// Where a conversation stands in somebody's inbox.
package struct InboxEntry: Hashable, Sendable {
    package var conversation: ConversationID
    /// Of the last change that concerns the user.
    package var counter: Int64
    /// Of the last message.
    package var activity: Int64
    package var state: MemberState
    package var lastNumber: Int64
    package var isPinned: Bool
    package var isArchived: Bool
    /// See `Membership.removedAfter`.
    package var removedAfter: Int64?
}

// The inbox of a user: what is stored of it stands with the conversations and members.
extension StoreTransaction {
    /// The store's counter, which rises with every commit that changes an inbox.
    package func inboxPosition() throws -> Position {
        guard let row = try sql.first("SELECT epoch, counter FROM log WHERE id = 1") else {
            throw SQLError(.failed, "The change log has no epoch: the database was never prepared.")
        }
        return Position(epoch: try row.text(0), sequence: try row.integer(1))
    }

    private static let entries = """
        SELECT m.conversation_id, m.state, c.kind, m.counter, m.activity, c.counter, c.activity, c.last_number,
            COALESCE(o.pinned, 0), COALESCE(o.archived, 0), o.removed_after
        FROM members m JOIN conversations c ON c.id = m.conversation_id
        LEFT JOIN memberships o ON o.user_id = m.user_id AND o.conversation_id = m.conversation_id
        WHERE m.user_id = ?1
        """

    /// All conversations of the user with their counters: what concerns all members, for who is in it, and what concerns
    /// the user alone.
    package func inboxEntries(of user: UserID) throws -> [InboxEntry] {
        try sql.query("\(Self.entries) AND \(Self.isListed)", [.id(user)]).map { try Self.entry($0) }
    }

    /// Those whose row has moved after a counter, also out of the user's list.
    package func inboxEntries(of user: UserID, after counter: Int64) throws -> [InboxEntry] {
        try inboxEntries(of: user).filter { $0.counter > counter }
            + sql.query(
                "\(Self.entries) AND m.state = 'left' AND m.at_leaving IS NULL AND m.counter > ?2",
                [.id(user), .integer(counter)]
            ).map { try Self.entry($0) }
    }

    package func inboxEntry(of user: UserID, for conversation: ConversationID) throws -> InboxEntry? {
        try sql.first(Self.entries + " AND m.conversation_id = ?2", [.id(user), .id(conversation)])
            .map { try Self.entry($0) }
    }

    private static func entry(_ row: SQLRow) throws -> InboxEntry {
        var reader = ColumnReader(row)
        let conversation: ConversationID = try reader.id()
        let state: MemberState = try reader.enumCase()
        let kind: ConversationKind = try reader.enumCase()
        let (counter, activity) = (try reader.integer(), try reader.integer())
        let (common, commonActivity) = (try reader.integer(), try reader.integer())
        let isInside = state == .member || state == .invited && kind == .direct
        return InboxEntry(
            conversation: conversation, counter: isInside ? max(counter, common) : counter,
            activity: isInside ? max(activity, commonActivity) : activity, state: state,
            lastNumber: try reader.integer(), isPinned: try reader.bool(), isArchived: try reader.bool(),
            removedAfter: try reader.integerIfPresent())
    }

    /// Those who are in the conversation, and those who are invited to a direct one.
    package func inboxUsers(of conversation: ConversationID) throws -> [UserID] {
        try sql.query(
            """
            SELECT m.user_id FROM members m JOIN conversations c ON c.id = m.conversation_id
            WHERE m.conversation_id = ?1 AND (m.state = 'member' OR m.state = 'invited' AND c.kind = 'direct')
            """, [.id(conversation)]
        ).map { try $0.id(0) }
    }
}

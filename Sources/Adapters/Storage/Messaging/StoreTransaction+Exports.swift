package import Messaging
package import Model

// What an export reads, which nobody else sees as a whole.
extension StoreTransaction {
    /// Conversations after an id in the order of ids, without those that are being imported and those that gave way.
    package func exportedConversation(after id: ConversationID?) throws -> ConversationID? {
        try sql.first(
            """
            SELECT id FROM conversations c WHERE id > ?1 AND (last_number > 0 OR member_count > 0)
                AND EXISTS (SELECT 1 FROM members m WHERE m.conversation_id = c.id)
            ORDER BY id LIMIT 1
            """, [.text(id?.text ?? "")]
        ).map { try $0.id(0) }
    }

    /// Messages after a number, whoever may see them; those that are due are tombstones.
    package func exportedMessages(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [Message] {
        try sql.query(
            """
            SELECT \(Self.messageColumns) FROM messages WHERE conversation_id = ?1 AND number > ?2
            ORDER BY number LIMIT ?3
            """, [.id(conversation), .integer(number), .integer(limit)]
        ).map { try Self.message($0).asOf(now) }
    }

    /// The reactions to a message in order, the withheld ones too.
    package func exportedReactions(
        to number: Int64, in conversation: ConversationID, limit: Int
    ) throws -> [Reaction] {
        try sql.query(
            """
            SELECT \(Self.reactionColumns) FROM reactions WHERE conversation_id = ?1 AND number = ?2
            ORDER BY sequence LIMIT ?3
            """, [.id(conversation), .integer(number), .integer(limit)]
        ).map { try Self.reaction($0) }
    }

    /// What a member has starred, heard or hidden after a number.
    package func exportedOwnRows(
        of user: UserID, in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [OwnRow] {
        try sql.query(
            """
            SELECT \(Self.ownColumns) FROM own WHERE user_id = ?1 AND conversation_id = ?2 AND number > ?3
                AND (starred_at IS NOT NULL OR listened_at IS NOT NULL OR hidden = 1)
            ORDER BY number LIMIT ?4
            """, [.id(user), .id(conversation), .integer(number), .integer(limit)]
        ).map { try Self.ownRow($0) }
    }
}

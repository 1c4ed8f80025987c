package import Messaging
package import Model

// The rows of reactions.
extension StoreTransaction {
    static let reactionColumns = "conversation_id, number, user_id, emoji, at, sequence, withheld"

    package func reactions(
        of user: UserID, to numbers: ClosedRange<Int64>, in conversation: ConversationID
    ) throws -> [Reaction] {
        try sql.query(
            """
            SELECT \(Self.reactionColumns) FROM reactions
            WHERE user_id = ?1 AND conversation_id = ?2 AND number BETWEEN ?3 AND ?4 ORDER BY number, sequence
            """, [.id(user), .id(conversation), .integer(numbers.lowerBound), .integer(numbers.upperBound)]
        ).map { try Self.reaction($0) }
    }

    package func reactions(
        to number: Int64, in conversation: ConversationID, emoji: String?, after sequence: Int64,
        visibleTo reader: UserID?, limit: Int
    ) throws -> [Reaction] {
        try sql.query(
            """
            SELECT \(Self.reactionColumns) FROM reactions
            WHERE conversation_id = ?1 AND number = ?2 AND sequence > ?3 AND (withheld = 0 OR user_id = ?4)
                AND (?5 = '' OR emoji = ?5)
            ORDER BY sequence LIMIT ?6
            """,
            [
                .id(conversation), .integer(number), .integer(sequence), .text(reader?.text ?? ""),
                .text(emoji ?? ""), .integer(limit),
            ]
        ).map { try Self.reaction($0) }
    }

    package func reactions(by user: UserID, limit: Int) throws -> [Reaction] {
        try sql.query(
            """
            SELECT \(Self.reactionColumns) FROM reactions WHERE user_id = ?1
            ORDER BY conversation_id, number, emoji LIMIT ?2
            """, [.id(user), .integer(limit)]
        ).map { try Self.reaction($0) }
    }

    package func insert(_ reaction: Reaction) throws {
        try sql.execute(
            """
            INSERT INTO reactions (\(Self.reactionColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            [
                .id(reaction.conversation), .integer(reaction.number), .id(reaction.user), .text(reaction.emoji),
                .time(reaction.at), .integer(reaction.sequence), .bool(reaction.isWithheld),
            ])
    }

    package func remove(_ reaction: Reaction) throws {
        try sql.execute(
            "DELETE FROM reactions WHERE conversation_id = ?1 AND number = ?2 AND sequence = ?3",
            [.id(reaction.conversation), .integer(reaction.number), .integer(reaction.sequence)])
    }

    package func removeReactions(to number: Int64, in conversation: ConversationID) throws {
        try sql.execute(
            "DELETE FROM reactions WHERE conversation_id = ?1 AND number = ?2", [.id(conversation), .integer(number)])
    }

    static func reaction(_ row: SQLRow) throws -> Reaction {
        var reader = ColumnReader(row)
        return Reaction(
            conversation: try reader.id(), number: try reader.integer(), user: try reader.id(),
            emoji: try reader.text(), at: try reader.time(), sequence: try reader.integer(),
            isWithheld: try reader.bool())
    }
}

package import Model

/// The reactions to a message with one emoji, as a part of the message.
package struct MessageReaction: Hashable, Sendable {
    /// More users are counted and not named.
    package static let maxUsers = 20

    /// Fully qualified.
    package let emoji: String
    package var count: Int
    /// The first of them, in the order in which they reacted.
    package var users: [UserID]

    package init(emoji: String, count: Int, users: [UserID]) {
        self.emoji = emoji
        self.count = count
        self.users = users
    }

    /// Those of some reactions, which are in order.
    static func all(of reactions: [Reaction]) -> [Self] {
        var all: [Self] = []
        for reaction in reactions { all.add(reaction.user, emoji: reaction.emoji) }
        return all
    }
}

extension [MessageReaction] {
    package mutating func add(_ user: UserID, emoji: String) {
        guard let index = firstIndex(where: { $0.emoji == emoji }) else {
            return append(MessageReaction(emoji: emoji, count: 1, users: [user]))
        }
        self[index].count += 1
        if self[index].users.count < MessageReaction.maxUsers { self[index].users.append(user) }
    }
}

/// What one user reacted with to a message.
package struct Reaction: Hashable, Sendable {
    package let conversation: ConversationID
    package let number: Int64
    package let user: UserID
    /// Fully qualified.
    package let emoji: String
    package let at: Timestamp
    /// The conversation's, by which reactions are in order.
    package let sequence: Int64
    /// Made while the user was blocked by the other of the two: the user alone sees it, for ever.
    package let isWithheld: Bool

    package init(
        conversation: ConversationID, number: Int64, user: UserID, emoji: String, at: Timestamp, sequence: Int64,
        isWithheld: Bool
    ) {
        self.conversation = conversation
        self.number = number
        self.user = user
        self.emoji = emoji
        self.at = at
        self.sequence = sequence
        self.isWithheld = isWithheld
    }
}

/// The storage of reactions.
package protocol ReactionStore {
    /// The reactions of one user to messages of a conversation, by number and sequence.
    func reactions(
        of user: UserID, to numbers: ClosedRange<Int64>, in conversation: ConversationID
    ) throws -> [Reaction]
    /// The reactions to a message after a sequence, in order; with one emoji or with any.
    ///
    /// - Parameter reader: sees their own withheld ones; nil for those that all see.
    func reactions(
        to number: Int64, in conversation: ConversationID, emoji: String?, after sequence: Int64,
        visibleTo reader: UserID?, limit: Int
    ) throws -> [Reaction]
    /// Some reactions of one user, in any conversation.
    func reactions(by user: UserID, limit: Int) throws -> [Reaction]
    func insert(_ reaction: Reaction) throws
    func remove(_ reaction: Reaction) throws
    func removeReactions(to number: Int64, in conversation: ConversationID) throws
}

package import Model

/// What a reader has noted on a message for themselves. It is kept for ever.
package struct OwnRow: Hashable, Sendable {
    package let conversation: ConversationID
    package let number: Int64
    package var starredAt: Timestamp?
    /// Deleted for the user themselves. It never becomes visible again.
    package var isHidden: Bool
    /// When the user first listened to it, of a voice message.
    package var listenedAt: Timestamp?
    /// The store's counter at the last change, also of the user's reactions to the message.
    package var counter: Int64

    package init(
        conversation: ConversationID, number: Int64, starredAt: Timestamp? = nil, isHidden: Bool = false,
        listenedAt: Timestamp? = nil, counter: Int64 = 0
    ) {
        self.conversation = conversation
        self.number = number
        self.starredAt = starredAt
        self.isHidden = isHidden
        self.listenedAt = listenedAt
        self.counter = counter
    }
}

/// The part of a message that its reader alone sees.
package struct OwnMessage: Hashable, Sendable {
    package let number: Int64
    package var isStarred: Bool
    package var isHidden: Bool
    package var isListened = false
    /// Emoji, in the order in which the reader reacted.
    package var reacted: [String]
    /// Of two copies, the one with the higher counter is newer.
    package var counter: Int64
}

/// A place in the list of starred messages, the newest star first.
package struct StarredPosition: Hashable, Sendable {
    package let starredAt: Timestamp
    package let conversation: ConversationID
    package let number: Int64

    package init(starredAt: Timestamp, conversation: ConversationID, number: Int64) {
        self.starredAt = starredAt
        self.conversation = conversation
        self.number = number
    }

    /// Nil of a row that has no star.
    init?(_ row: OwnRow) {
        guard let starredAt = row.starredAt else { return nil }
        self.init(starredAt: starredAt, conversation: row.conversation, number: row.number)
    }
}

/// The storage of readers' own notes.
package protocol OwnStore {
    /// Counts a change of one user's own data. The store's counter only rises.
    func nextCounter() throws -> Int64
    /// By number.
    func ownRows(
        of user: UserID, in conversation: ConversationID, _ numbers: ClosedRange<Int64>
    ) throws -> [OwnRow]
    /// Those that the user has deleted for themselves, the highest first.
    func hiddenNumbers(
        of user: UserID, in conversation: ConversationID, _ numbers: ClosedRange<Int64>, limit: Int
    ) throws -> [Int64]
    /// Those of a few messages that the user has deleted for themselves.
    func hidden(of numbers: [Int64], by user: UserID, in conversation: ConversationID) throws -> [Int64]
    /// Those that have changed after a counter, in the order of their changes.
    func ownRows(
        of user: UserID, in conversation: ConversationID, changedAfter counter: Int64, limit: Int
    ) throws -> [OwnRow]
    /// Inserts or replaces.
    func save(_ row: OwnRow, of user: UserID) throws
    /// Starred ones after a position, the newest star first, then by conversation and number, the highest first.
    func starred(of user: UserID, after position: StarredPosition?, limit: Int) throws -> [OwnRow]
}

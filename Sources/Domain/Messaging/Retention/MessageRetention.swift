package import Model

/// How long messages are kept: as long as the server and the group say, the shorter of the two.
package enum MessageRetention {
    /// Days from sending; 0 keeps messages for ever.
    package static let bounds = 0...36_500

    /// - Throws: `invalid_request` of `settings.keepDays`.
    package static func check(_ keepDays: Int) throws(Problem) {
        guard !bounds.contains(keepDays) else { return }
        throw .invalid(
            "settings.keepDays",
            "Messages are kept for 1 to \(bounds.upperBound) days, or with 0 for as long as the server keeps them.")
    }

    /// Nil keeps messages for ever.
    static func days(server: Int, group: Int) -> Int? { [server, group].filter { $0 > 0 }.min() }

    static func time(_ days: Int, before now: Timestamp) -> Timestamp { now.adding(seconds: Int64(days) * -86_400) }
}

/// How far the old messages of a conversation have been erased.
package struct RetentionMark: Hashable, Sendable {
    /// No message up to this number has a text.
    package var erasedTo: Int64
    /// Every message after it was sent then or later.
    package var keptSince: Timestamp

    package init(erasedTo: Int64, keptSince: Timestamp) {
        self.erasedTo = erasedTo
        self.keptSince = keptSince
    }
}

/// The storage of what was erased for its age, inside one transaction.
package protocol RetentionStore {
    /// Conversations whose mark is before `time`, or older than their own settings keep messages: first those, the oldest
    /// mark first, then these. None that is being imported.
    func conversationsWithOldMessages(before time: Timestamp?, limit: Int) throws -> [ConversationID]
    func retentionMark(of conversation: ConversationID) throws -> RetentionMark
    func save(_ mark: RetentionMark, of conversation: ConversationID) throws
    /// The numbers after one, and when they were sent, in order. The times never fall.
    func sentTimes(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [(number: Int64, sentAt: Timestamp)]
}

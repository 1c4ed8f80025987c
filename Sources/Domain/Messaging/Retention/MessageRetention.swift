package import Model

/// How long messages are kept: as long as the server and the group say, the shorter of the two, and those of a group
/// that everybody has left for some days more.
package enum MessageRetention {
    /// Days from sending; 0 keeps messages for ever.
    package static let bounds = 0...36_500
    /// For how long a group that everybody has left stays as it is: a server key may add others meanwhile.
    package static let endedSeconds: Int64 = 7 * 86_400

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

    /// Whether all of a group is erased, since everybody left it long ago.
    static func isOver(_ conversation: Conversation, at now: Timestamp) -> Bool {
        conversation.endedAt.map { $0 < endedBefore(now) } ?? false
    }

    /// Groups that have ended before this are erased.
    package static func endedBefore(_ now: Timestamp) -> Timestamp { now.adding(seconds: -endedSeconds) }

    /// Messages of the conversation from before this are erased; nil keeps all.
    static func time(before now: Timestamp, server: Int, of conversation: Conversation) -> Timestamp? {
        if isOver(conversation, at: now) { return Timestamp(milliseconds: .max) }
        return days(server: server, group: conversation.settings.keepDays).map { time($0, before: now) }
    }
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

/// The storage of the erasure of old messages, inside one transaction.
package protocol RetentionStore {
    /// Conversations whose mark is before `time`, or older than their own settings keep messages, or that have ended
    /// before `endedBefore` and are not erased since: first those, the oldest mark first, then these, then the last.
    /// None that is being imported.
    func conversationsWithOldMessages(before time: Timestamp?, limit: Int) throws -> [ConversationID]
    func retentionMark(of conversation: ConversationID) throws -> RetentionMark
    func save(_ mark: RetentionMark, of conversation: ConversationID) throws
    /// The numbers after one, and when they were sent, in order. The times never fall.
    func sentTimes(
        in conversation: ConversationID, after number: Int64, limit: Int
    ) throws -> [(number: Int64, sentAt: Timestamp)]
}

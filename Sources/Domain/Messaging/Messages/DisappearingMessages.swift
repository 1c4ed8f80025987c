package import Model

/// How long messages of a conversation stay, if they disappear.
package enum Disappearing {
    /// Seconds from sending: at least as long as a user who listens needs to read it, and at most a year.
    package static let bounds: ClosedRange<Int64> = 10...31_536_000

    /// - Throws: `invalid_request` of `disappearAfter`.
    package static func check(_ seconds: Int64?) throws(Problem) {
        guard let seconds, !bounds.contains(seconds) else { return }
        throw .invalid(
            "disappearAfter",
            "Messages disappear after \(bounds.lowerBound) to \(bounds.upperBound) seconds, or with null never.")
    }
}

/// After how many seconds messages disappear that somebody sends, as they alone see it. It ends with the next change
/// that both see.
package struct WithheldTimer: Hashable, Sendable, Codable {
    package let user: UserID
    package let seconds: Int64?
}

extension Conversation {
    /// After how many seconds messages disappear, as the user sees it and sends them.
    package func disappearAfter(for user: UserID) -> Int64? {
        if let timer = withheldTimers.first(where: { $0.user == user }) { return timer.seconds }
        return disappearAfter
    }

    mutating func withhold(disappearAfter seconds: Int64?, for user: UserID) {
        withheldTimers.removeAll { $0.user == user }
        if seconds != disappearAfter { withheldTimers.append(WithheldTimer(user: user, seconds: seconds)) }
    }
}

/// The storage of messages that disappear.
package protocol ExpiryStore {
    /// Messages that are due and not deleted, the earliest first.
    func dueMessages(limit: Int) throws -> [Message]
    /// When the next message disappears, or should have; nil if none does.
    func nextExpiry() throws -> Timestamp?
}

extension Message {
    /// Whether it has disappeared, or is about to be removed.
    package func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }

    /// The message as readers see it. A message that is due is already a tombstone, before the timer has made it one,
    /// as if it had been deleted when it was due.
    package func asOf(_ now: Timestamp) -> Message {
        guard deletedAt == nil, let expiresAt, expiresAt <= now else { return self }
        var tombstone = self
        tombstone.clear(at: expiresAt)
        return tombstone
    }

    /// Removes what a deleted message does not have.
    mutating func clear(at time: Timestamp) {
        text = nil
        ranges = []
        language = nil
        call = nil
        voice = nil
        notice = nil
        deletedAt = time
        isTextWithheld = false
        reactions = []
        forwardedFrom = nil
    }
}

// Messages that disappear: when is fixed as they are sent.
extension ConversationCommands {
    /// Sets after how many seconds messages disappear that are sent from now on; with nil they stay. Each of two people
    /// may, and in a group an administrator. While the other of two has blocked the user, it is for the user's own
    /// messages.
    package func change(
        _ id: ConversationID, disappearAfter seconds: Int64?, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation {
        try Disappearing.check(seconds)
        var found = try get(id, by: user, for: .changeDisappearing, in: store)
        guard found.conversation.disappearAfter(for: user) != seconds else { return found }
        // Until then nothing reaches the other one but the messages of the request.
        try checkAccepted(found, "set how long messages stay")
        let isWithheld = try isWithheld(from: user, found.conversation, in: store)
        if isWithheld {
            found.conversation.withhold(disappearAfter: seconds, for: user)
        } else {
            (found.conversation.disappearAfter, found.conversation.withheldTimers) = (seconds, [])
        }
        found.conversation.changeDocument(for: isWithheld ? user : nil)
        var notice = Notice(.disappearing)
        notice.disappearAfter = seconds
        try note(notice, by: user, in: &found.conversation, store: store)
        try store.update(found.conversation)
        return found
    }

    /// Removes messages that are due, with everything that was made of them, for all. Their numbers stay.
    ///
    /// - Returns: how many; there may be more even if it is fewer than `limit`.
    package func expireMessages(limit: Int, in store: some MessagingStore) throws -> Int {
        var (count, cost) = (0, 0)
        for due in try store.dueMessages(limit: limit) where cost < Self.maxErasureCost {
            // The removal of another one may have changed it, in whose thread that was.
            guard var message = try store.message(due.number, in: due.conversation), message.deletedAt == nil,
                var conversation = try store.conversation(due.conversation)
            else { continue }
            cost += try delete(&message, in: &conversation, at: message.expiresAt, store: store)
            // It would confirm a text that is guessed.
            try store.eraseDigest(of: message.number, in: message.conversation)
            count += 1
        }
        return count
    }
}

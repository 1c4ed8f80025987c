internal import Model

/// What one transaction has erased.
package struct RetentionStep: Hashable, Sendable {
    package var erased = 0
    /// Whether there may be more to erase.
    package var hasMore = false
}

// Messages that are older than they may be, and those of groups that everybody has left.
extension ConversationCommands {
    /// Whether there may be messages to erase.
    package func hasOldMessages(keepDays: Int, in store: some MessagingStore & RetentionStore) throws -> Bool {
        try !store.conversationsWithOldMessages(before: Self.time(keepDays, store), limit: 1).isEmpty
    }

    /// Erases messages that are older than they may be, and all of groups that everybody left days ago, for all, with
    /// everything that was made of them. Their numbers stay, as those of deleted messages do: what refers to a number
    /// goes on, and streams tell it as a deletion.
    ///
    /// - Parameters:
    ///   - keepDays: those of the server; 0 for ever.
    ///   - limit: of messages, and of conversations that are looked at.
    ///   - store: the transaction in which it is done.
    package func eraseOldMessages(
        keepDays: Int, limit: Int, in store: some MessagingStore & RetentionStore
    ) throws -> RetentionStep {
        let ids = try store.conversationsWithOldMessages(before: Self.time(keepDays, store), limit: limit)
        var budget = RetentionBudget(messages: limit)
        for id in ids where !budget.isSpent { try eraseOldMessages(of: id, keepDays, &budget, in: store) }
        return RetentionStep(erased: budget.erased, hasMore: ids.count == limit || budget.isSpent)
    }

    private func eraseOldMessages(
        of id: ConversationID, _ keepDays: Int, _ budget: inout RetentionBudget,
        in store: some MessagingStore & RetentionStore
    ) throws {
        guard var conversation = try store.conversation(id),
            let time = MessageRetention.time(before: store.now, server: keepDays, of: conversation)
        else { return }
        if MessageRetention.isOver(conversation, at: store.now) { try eraseWords(of: &conversation, in: store) }
        var mark = try store.retentionMark(of: id)
        let limit = budget.messages
        let messages = try store.sentTimes(in: id, after: mark.erasedTo, limit: limit)
        // Messages that are sent later have a time from now on.
        mark.keptSince = messages.count < limit ? store.now : mark.keptSince
        for (number, sentAt) in messages {
            guard sentAt < time, !budget.isSpent else {
                mark.keptSince = sentAt
                break
            }
            // The deletion of another one may have changed it, in whose thread that was.
            if var message = try store.message(number, in: id), message.deletedAt == nil {
                budget.cost -= try delete(&message, in: &conversation, store: store)
                budget.erased += 1
            }
            // It would confirm a text that is guessed.
            try store.eraseDigest(of: number, in: id)
            mark.erasedTo = number
            budget.messages -= 1
        }
        try store.save(mark, of: id)
    }

    /// What a group has besides messages.
    private func eraseWords(of conversation: inout Conversation, in store: some MessagingStore) throws {
        try store.setGlossary([], of: conversation.id)
        guard conversation.name != nil else { return }
        conversation.name = nil
        conversation.version = conversation.change()
        try store.update(conversation)
    }

    private static func time(_ keepDays: Int, _ store: some MessagingStore) -> Timestamp? {
        keepDays > 0 ? MessageRetention.time(keepDays, before: store.now) : nil
    }
}

/// The limit for one transaction: some milliseconds of the writer's time.
private struct RetentionBudget {
    var messages: Int
    var cost = ConversationCommands.maxErasureCost
    var erased = 0

    init(messages: Int) { self.messages = messages }

    var isSpent: Bool { messages <= 0 || cost <= 0 }
}

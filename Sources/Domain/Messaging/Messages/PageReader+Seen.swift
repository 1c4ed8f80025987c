import Model

// What hangs on a message, as one member sees it.
extension PageReader {
    /// The messages as the user sees them, in the order of their numbers.
    ///
    /// In a span that is closed they have their text and nothing else. What is withheld is seen by its author, and with it
    /// the version of that change; all others see the version before it.
    func asSeen(_ messages: [Message]) throws -> [Message] {
        let withheld = try withheldReactions(to: messages)
        let replies = try withheldReplies(to: messages)
        return try messages.map { message in
            var seen = try withSeenText(message.asOf(store.now))
            if found.access.spans.span(of: message.number)?.until != nil {
                (seen.reactions, seen.replies) = ([], 0)
                seen.version = seen.textVersion
                return seen
            }
            if withheld.contains(message.number), seen.deletedAt == nil {
                seen.reactions = MessageReaction.all(
                    of: try store.reactions(
                        to: message.number, in: id, emoji: nil, after: 0, visibleTo: user, limit: .max))
            }
            let ownReplies = replies[message.number] ?? 0
            seen.replies += ownReplies
            let seesLast =
                withheld.contains(message.number) || message.isTextWithheld && message.author == user || ownReplies > 0
            if !seesLast { seen.version = message.shownVersion }
            return seen
        }
    }

    /// The numbers of messages to which the user has reacted while being blocked.
    private func withheldReactions(to messages: [Message]) throws -> Set<Int64> {
        guard found.conversation.kind == .direct, let first = messages.first?.number,
            let last = messages.last?.number, first <= last
        else { return [] }
        return Set(
            try store.reactions(of: user, to: first...last, in: id).filter(\.isWithheld).map(\.number))
    }

    private func withheldReplies(to messages: [Message]) throws -> [Int64: Int] {
        guard found.conversation.kind == .direct, let first = messages.first?.number,
            let last = messages.last?.number, first <= last
        else { return [:] }
        return try store.withheldReplyCounts(by: user, to: first...last, in: id)
    }
}

extension MemberConversation {
    /// The message as its reader sees it, who may see it.
    func seen(_ message: Message, by user: UserID, in store: some MessagingStore) throws -> Message {
        try PageReader(found: self, user: user, store: store).asSeen([message]).first ?? message
    }

    /// - Throws: `forbidden` if the message is of a time before the user left.
    func checkIsOpen(_ number: Int64) throws {
        guard access.spans.span(of: number)?.until == nil else {
            throw Problem(.forbidden, "You have left since this message was written: it stays as it was for you.")
        }
    }
}

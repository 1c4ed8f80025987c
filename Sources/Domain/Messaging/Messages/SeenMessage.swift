import Model

/// A message as its reader sees it, or as several readers see it in the same way. Responses, pages and streams contain
/// only this.
///
/// Only this type can be written. A `Message` is the row as it is stored, which has what some of its readers do not
/// see: a text that is withheld, reactions and replies from after they left, the version of a change that is not
/// theirs. `PageReader` makes one of the other.
@dynamicMemberLookup
package struct SeenMessage: Hashable, Sendable {
    /// With the text, the reactions, the counts and the version that the reader sees. It is not to be stored.
    package let message: Message

    fileprivate init(_ message: Message) { self.message = message }

    package subscript<Value>(dynamicMember keyPath: KeyPath<Message, Value>) -> Value { message[keyPath: keyPath] }
}

extension SeenMessage {
    /// A message that was just sent, as its author sees it. It has no reactions, edits or replies yet.
    static func sent(_ message: Message) -> SeenMessage { SeenMessage(message) }

    /// A changed message as all listeners see it. In a group nothing is withheld, and listeners see the message as it
    /// is: users who left do not listen, and users who came back are not told of changes of earlier messages. Between
    /// two people, this holds while the message is new.
    ///
    /// - Returns: nil if its readers may see different ones.
    package static func shared(_ message: Message, in kind: ConversationKind, isNew: Bool) -> SeenMessage? {
        kind != .direct || isNew ? SeenMessage(message) : nil
    }

    /// What the author gets who may no longer see the message: that it was stored, and when. Its version is lower than
    /// that of any copy.
    static func stored(_ message: Message) -> SeenMessage {
        SeenMessage(
            Message(
                conversation: message.conversation, number: message.number, clientID: message.clientID,
                author: message.author, sentAt: message.sentAt, kind: message.kind, text: nil, version: 0,
                textVersion: 0))
    }
}

// What belongs to a message (reactions, pins, replies), as one member sees it.
extension PageReader {
    /// The messages as the user sees them, in the order of their numbers.
    ///
    /// In a span that is closed, messages have only their text. Only its author sees a withheld change, with its
    /// version; all others see the version before it.
    func asSeen(_ messages: [Message]) throws -> [SeenMessage] {
        let withheld = try withheldReactions(to: messages)
        let replies = try withheldReplies(to: messages)
        return try messages.map { message in
            var seen = try withSeenText(message.asOf(store.now))
            if found.access.spans.span(of: message.number)?.until != nil {
                (seen.reactions, seen.replies) = ([], 0)
                seen.version = seen.textVersion
                return SeenMessage(seen)
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
            return SeenMessage(seen)
        }
    }

    /// The message as this user sees it; they may see it.
    func asSeen(_ message: Message) throws -> SeenMessage {
        try asSeen([message]).first ?? SeenMessage.stored(message)
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
    /// The message as its reader sees it; they may see it.
    func seen(_ message: Message, by user: UserID, in store: some MessagingStore) throws -> SeenMessage {
        try PageReader(found: self, user: user, store: store).asSeen(message)
    }

    /// A user who left, even if they came back, can do nothing with a message from before: others see it as it is now,
    /// and the user sees it as it was then. So they cannot change, star, answer or forward it. They may only undo what
    /// is theirs alone.
    ///
    /// - Parameter field: of the request, which names the message.
    /// - Throws: `forbidden` of the field.
    func checkIsOpen(_ number: Int64, field: String? = nil) throws {
        guard access.spans.span(of: number)?.until == nil else {
            throw Problem(
                .forbidden, "You have left since this message was written: it stays as it was for you.", field: field)
        }
    }
}

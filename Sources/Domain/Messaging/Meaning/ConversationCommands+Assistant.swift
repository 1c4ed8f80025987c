internal import Languages
package import Model

/// Which messages of a conversation an assistant reads.
package enum ReadMessages: Hashable, Sendable {
    case numbers([Int64])
    /// So many before and after one, and that one.
    case around(Int64, count: Int)
    /// So many of those after a number.
    case newest(Int, after: Int64)
}

// The messages that an assistant may read: those that the user who asks may see, and whose authors allow it.
extension ConversationCommands {
    /// Conversations that are looked at for one question, the most recently active first.
    private static let readConversations = 50

    /// Those in which the user is a member, of which a model may be shown anything at all: the most recently active
    /// first. Invitations that were not accepted are none of them.
    ///
    /// - Parameter isHosted: whether messages leave the server.
    package func readableConversations(
        of user: UserID, isHosted: Bool, in store: some SearchStore
    ) throws -> [MemberConversation] {
        let all = try store.searchedConversations(of: user).map(\.found).filter { $0.member.state == .member }
            .sorted { $1.conversation.lastSentAt < $0.conversation.lastSentAt }
        return try all.prefix(Self.readConversations).filter { found in
            var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
            return try levels.levelOfAnybody().allowsModel(isHosted: isHosted)
        }
    }

    /// The conversation, if its user may ask about it.
    ///
    /// - Parameter isForAll: whether all members will read the result.
    /// - Throws: `not_found`; `conflict` for an invitation that was not accepted, and for a former member who asks for
    ///   all; `consent_required` if its members do not allow it.
    package func readableConversation(
        _ id: ConversationID, isForAll: Bool, by user: UserID, model name: String, isHosted: Bool,
        in store: some MessagingStore
    ) throws -> MemberConversation {
        let found = try get(id, by: user, in: store)
        guard found.member.state != .invited else {
            throw Problem(.conflict, "Accept the conversation first.", field: "conversation")
        }
        guard !isForAll || found.member.state == .member else {
            throw Problem(.conflict, "You are no member of this conversation any more.", field: "for")
        }
        var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
        guard try levels.levelOfAnybody().allowsModel(isHosted: isHosted) else {
            throw Problem(
                .consentRequired,
                isHosted
                    ? "Messages would be given to the hosted language model \(name): the conversation has to allow the level full."
                    : "The conversation has to allow that machines work with it.", field: "conversation")
        }
        return found
    }

    /// Messages with words, as the user sees them, that a model may be shown: in the order of their numbers.
    ///
    /// - Parameters:
    ///   - isForAll: only those that all present members see.
    ///   - isHosted: whether they leave the server.
    package func readable(
        _ messages: ReadMessages, in found: MemberConversation, isForAll: Bool, isHosted: Bool, by user: UserID,
        in store: some MessagingStore
    ) throws -> [Message] {
        let reader = PageReader(found: found, user: user, store: store)
        let last = found.conversation.lastNumber
        let seen: [Message] =
            switch messages {
            case .numbers(let numbers): try Set(numbers).sorted().compactMap { try reader.message($0)?.message }
            case .around(let middle, let count):
                try reader.page(earlier: count + 1, upTo: middle, later: count).messages.map(\.message)
            case .newest(let count, let first):
                try reader.page(earlier: count, upTo: last, later: 0, after: first).messages.map(\.message)
            }
        // A member who has just joined sees no earlier messages.
        let first = isForAll ? try store.latestStart(before: last + 2, in: found.conversation.id) + 1 : 1
        var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
        return try seen.filter { message in
            guard message.number >= first, message.deletedAt == nil, message.words != nil,
                !isForAll || !message.isWithheld && !message.isTextWithheld
            else { return false }
            return try levels.level(of: message).allowsModel(isHosted: isHosted)
        }
    }

    /// Whether the user still sees that version of a message, and its author still allows that a model has read it.
    package func isReadable(
        _ number: Int64, of version: Int64, in id: ConversationID, isHosted: Bool, by user: UserID,
        in store: some MessagingStore
    ) throws -> Bool {
        try readableVersions(of: [number], in: id, isForAll: false, isHosted: isHosted, by: user, in: store)[number]
            == version
    }

    /// The `textVersion` of each of these messages that the user still sees, and whose authors still allow that a model
    /// has read it.
    ///
    /// - Parameter isForAll: only those that all present members see.
    package func readableVersions(
        of numbers: [Int64], in id: ConversationID, isForAll: Bool, isHosted: Bool, by user: UserID,
        in store: some MessagingStore
    ) throws -> [Int64: Int64] {
        guard let found = try? get(id, by: user, in: store) else { return [:] }
        return Dictionary(
            try readable(.numbers(numbers), in: found, isForAll: isForAll, isHosted: isHosted, by: user, in: store)
                .map { ($0.number, $0.textVersion) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number up to which the user has read.
    package func readNumber(of user: UserID, in id: ConversationID, _ store: some MessagingStore) throws -> Int64 {
        try store.marks(of: user, in: id)?.marks.read ?? 0
    }
}

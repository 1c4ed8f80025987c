package import Languages
package import Model

/// What may be made of the messages of a conversation: the lowest of what the server, the conversation and the author
/// allow.
package struct MessageLevels<Store: MessagingStore> {
    private let rules: IntelligenceRules
    private let conversation: Conversation
    private let store: Store
    private var own: [UserID: IntelligenceLevel] = [:]
    private var ofConversation: IntelligenceLevel?

    package init(_ conversation: Conversation, rules: IntelligenceRules, in store: Store) {
        self.conversation = conversation
        self.rules = rules
        self.store = store
    }

    /// For a forwarded message, the level of the user who wrote it first counts too.
    package mutating func level(of message: Message) throws -> IntelligenceLevel {
        var level = try level(ofWordsBy: message.author)
        if let first = message.forwardedFrom { level = min(level, try self.level(of: first)) }
        return level
    }

    /// Of what somebody writes or says in the conversation.
    package mutating func level(ofWordsBy author: UserID) throws -> IntelligenceLevel {
        try min(rules.ceiling, levelOfConversation(), level(of: author))
    }

    /// The highest that the words of anybody may have.
    package mutating func levelOfAnybody() throws -> IntelligenceLevel { try min(rules.ceiling, levelOfConversation()) }

    /// Of a group what its administrators say; of two people the lower of what they say.
    private mutating func levelOfConversation() throws -> IntelligenceLevel {
        if let ofConversation { return ofConversation }
        let level: IntelligenceLevel
        if conversation.kind == .group {
            // A user who has left sees the settings of that time, but the present settings of the administrators apply.
            level = try store.conversation(conversation.id)?.settings.intelligence ?? rules.defaultLevel
        } else {
            // The level of a user who is gone does not count for what the other one writes.
            let members = try store.members(of: conversation.id, after: nil, limit: 2).map(\.user)
                .filter { try store.isActive($0) }
            level = try members.map { try self.level(of: $0) }.min() ?? rules.defaultLevel
        }
        ofConversation = level
        return level
    }

    var ceiling: IntelligenceLevel { rules.ceiling }
    var isGroup: Bool { conversation.kind == .group }

    /// The level that a user has chosen for the conversation, or for all. A user who is disabled, or has deleted their
    /// account, allows nothing.
    mutating func level(of user: UserID) throws -> IntelligenceLevel {
        if let known = own[user] { return known }
        let level =
            try !store.isActive(user)
            ? .off
            : store.membership(of: user, in: conversation.id).choices.intelligence
                ?? store.languageChoices(of: user).choices.intelligence ?? rules.defaultLevel
        own[user] = level
        return level
    }
}

package import Languages
package import Model

/// Whose settings forbid that machines work with a message.
package enum ConsentParty: Hashable, Sendable {
    /// The operator's.
    case server
    /// What a group's administrators allow.
    case conversation
    /// What the user who asks allows.
    case reader
    /// What another user allows: the author, or the other one of two people.
    case author

    /// A sentence for the user who asks.
    ///
    /// - Parameter what: such as "machines translate this".
    package func sentence(_ what: String) -> String {
        switch self {
        case .server: "This server does not allow that \(what)."
        case .conversation: "The settings of this conversation do not allow that \(what)."
        case .reader: "You do not allow that \(what)."
        case .author: "Who wrote this does not allow that \(what)."
        }
    }
}

extension MessageLevels {
    /// Whose settings are below a level; nil if none are.
    package mutating func refusal(
        of message: Message, below level: IntelligenceLevel, for reader: UserID
    ) throws -> ConsentParty? {
        guard try self.level(of: message) < level else { return nil }
        guard ceiling >= level else { return .server }
        guard try levelOfAnybody() >= level else {
            return try isGroup ? .conversation : self.level(of: reader) < level ? .reader : .author
        }
        return message.author == reader ? .reader : .author
    }
}

extension ConversationCommands {
    /// The problem for a user who asks for something that machines may not do with a message.
    ///
    /// - Parameters:
    ///   - levels: the lowest sufficient levels; first the one for engines on the server itself.
    ///   - what: such as "machines translate this".
    package func consentProblem(
        _ what: String, of number: Int64, in id: ConversationID, levels wanted: [IntelligenceLevel], by user: UserID,
        field: String, store: some MessagingStore
    ) throws -> Problem {
        let found = try get(id, by: user, in: store)
        var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
        let message = try store.message(number, in: id)
        for level in wanted {
            guard let message, let party = try levels.refusal(of: message, below: level, for: user) else { continue }
            return Problem(.consentRequired, party.sentence(what), field: field)
        }
        return Problem(.consentRequired, "Somebody does not allow that \(what).", field: field)
    }
}

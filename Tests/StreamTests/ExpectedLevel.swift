import Accounts
import Languages
import Messaging
import Model
import Storage

/// What may be made of messages, said again without the code that decides it.
enum ExpectedLevel {
    /// The least that the conversation, its author and who wrote it first allow. Nobody says anything: `local`.
    static func level(
        of message: Message, _ conversation: Conversation, _ store: StoreTransaction
    ) throws -> IntelligenceLevel {
        let id = conversation.id
        func level(_ user: UserID) throws -> IntelligenceLevel {
            try store.membership(of: user, in: id).choices.intelligence ?? store.user(user)?.choices.intelligence
                ?? .local
        }
        let writers = try [message.author, message.forwardedFrom].compactMap(\.self).map(level)
        let others =
            conversation.kind == .group
            ? [conversation.settings.intelligence ?? .local]
            : try store.members(of: id, after: nil, limit: 10).map { try level($0.user) }
        return (writers + others).min() ?? .local
    }

    /// Whether a language model may have been given the message.
    static func allowsModel(
        _ message: Message, isHosted: Bool, _ conversation: Conversation, _ store: StoreTransaction
    ) throws -> Bool { try level(of: message, conversation, store) >= (isHosted ? .full : .local) }
}

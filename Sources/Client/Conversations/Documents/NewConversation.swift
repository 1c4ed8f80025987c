/// A conversation that ``Conversations/create(_:)`` makes.
public enum NewConversation: Codable, Hashable, Sendable {
    /// With another user: the one that exists, if there is one. To somebody who is no friend it is a request: at most three
    /// messages arrive before they accept it.
    case direct(UserID)
    /// A group with a name of at most 80 characters, or none, and at most 100 people: friends are members at once, others
    /// are invited.
    case group(name: String?, members: [UserID])
    /// The user's conversation with themselves: the one that exists, if there is one.
    case notes

    var kind: Conversation.Kind {
        switch self {
        case .direct: .direct
        case .group: .group
        case .notes: .notes
        }
    }

    var name: String? { if case .group(let name, _) = self { name } else { nil } }

    var members: [UserID]? {
        switch self {
        case .direct(let user): [user]
        case .group(_, let members): members
        case .notes: nil
        }
    }

    /// Whether there is one of it.
    var isOnlyOne: Bool { kind != .group }
}

/// A write that waits for the server, or that it refused, and that is no message, edit or deletion: those are shown by
/// ``ChatMessage/delivery-swift.property``.
public struct WaitingWrite: Hashable, Sendable, Identifiable {
    /// What is written. Later versions may have more: a `switch` needs a `default`.
    public enum Action: Hashable, Sendable {
        /// The conversation is created.
        case create
        /// An emoji is added to a message's reactions, or removed.
        case react(String), removeReaction(String)
        /// The user stars a message, or takes the star off.
        case star, unstar
        /// A message is pinned for all, or unpinned.
        case pin, unpin
        /// A message is deleted for the user alone.
        case hide
        /// All messages so far are deleted for the user alone; and the conversation is taken off the list.
        case clear, deleteForMe
    }

    /// The identity of a write.
    public struct ID: Hashable, Sendable { let clientID: MessageClientID }

    /// The write's identity.
    public var id: ID
    /// What is written.
    public var action: Action
    /// The number of the message that it is about; nil if it is about none, or one that waits too.
    public var number: Int?
    /// Why the server refused it: it is not shown as done any more. Nil while it waits.
    public var problem: Problem?

    init?(_ entry: WriteEntry) {
        let emoji = entry.emoji ?? ""
        switch entry.kind {
        case .send, .forward, .edit, .delete: return nil
        case .create: action = .create
        case .react: action = .react(emoji)
        case .removeReaction: action = .removeReaction(emoji)
        case .star: action = .star
        case .unstar: action = .unstar
        case .pin: action = .pin
        case .unpin: action = .unpin
        case .hide: action = .hide
        case .clear: action = .clear
        case .deleteForMe: action = .deleteForMe
        }
        id = ID(clientID: entry.clientID)
        if case .number(let number) = entry.target { self.number = number }
        problem = entry.failure?.problem
    }
}

/// A conversation that ``Conversations/create(_:)`` makes.
public enum NewConversation: Codable, Hashable, Sendable {
    /// With another user: the existing conversation, if there is one. If the other user is not a friend, it is a
    /// request: at most three messages arrive before they accept it.
    case direct(UserID)
    /// A group with a name of at most 80 characters, or none, and at most 100 people: friends are members at once,
    /// others are invited.
    case group(name: String?, members: [UserID])
    /// The user's conversation with themselves: the existing one, if there is one.
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

package import Languages

/// What a conversation is.
package enum ConversationKind: String, Hashable, Sendable, CaseIterable {
    /// Of two people; there is one for each pair, for ever.
    case direct
    case group
    /// The user's notes to themselves.
    case ownNotes = "self"
}

/// What a member of a group is allowed, beyond what the group's settings allow everybody. In other conversations all
/// are `member`.
package enum MemberRole: String, Hashable, Sendable, CaseIterable, Comparable {
    case member
    case admin
    /// A group has exactly one.
    case owner

    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .member: 0
        case .admin: 1
        case .owner: 2
        }
    }
}

/// The state of a member in the conversation.
package enum MemberState: String, Hashable, Sendable, CaseIterable {
    /// Added by somebody who is not a friend, and has not accepted yet: sees only the invitation.
    case invited
    case member
    /// Left or was removed: can read what they saw before, and gets nothing new.
    case left
}

/// Who may do what in a group, and how long its messages are kept; in other conversations, all members may write, and
/// the rest does not apply.
package struct ConversationSettings: Hashable, Sendable {
    package enum Who: String, Hashable, Sendable, CaseIterable {
        case members
        case admins

        fileprivate func includes(_ role: MemberRole) -> Bool { self == .members || role >= .admin }
    }

    package var write: Who
    package var add: Who
    package var rename: Who
    /// Days after which messages are erased, if the server does not erase them earlier; 0 for none.
    package var keepDays: Int
    /// The most that machines may make of its messages; nil as the server says.
    package var intelligence: IntelligenceLevel?

    package init(
        write: Who = .members, add: Who = .members, rename: Who = .members, keepDays: Int = 0,
        intelligence: IntelligenceLevel? = nil
    ) {
        self.write = write
        self.add = add
        self.rename = rename
        self.keepDays = keepDays
        self.intelligence = intelligence
    }

    func allowsWriting(_ role: MemberRole) -> Bool { write.includes(role) }
    func allowsAdding(_ role: MemberRole) -> Bool { add.includes(role) }
    func allowsRenaming(_ role: MemberRole) -> Bool { rename.includes(role) }
}

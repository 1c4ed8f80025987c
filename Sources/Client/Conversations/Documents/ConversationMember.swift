public import Foundation

/// What a member of a conversation may do. Newer servers may have more.
public struct MemberRole: RawRepresentable, Hashable, Sendable, Codable {
    /// The role as it is written in JSON.
    public let rawValue: String
    /// Takes any role.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Owns the group.
    public static let owner = Self(rawValue: "owner")
    /// Administers the group.
    public static let admin = Self(rawValue: "admin")
    /// Everybody else.
    public static let member = Self(rawValue: "member")
}

/// Whether somebody is in a conversation. Newer servers may have more.
public struct MemberState: RawRepresentable, Hashable, Sendable, Codable {
    /// The state as it is written in JSON.
    public let rawValue: String
    /// Takes any state.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Was invited, or is asked for their consent, and has not accepted yet.
    public static let invited = Self(rawValue: "invited")
    /// Is in it.
    public static let member = Self(rawValue: "member")
    /// Has left, or was removed.
    public static let left = Self(rawValue: "left")
}

/// A member of a conversation, as all members see them. Users who left stay in the list.
public struct ConversationMember: Codable, Hashable, Sendable, Identifiable {
    /// The member's user id.
    public var user: UserID
    /// What they may do.
    public var role: MemberRole
    /// Whether they are in it.
    public var state: MemberState
    /// When they joined, or were invited.
    public var joinedAt: Date
    /// Rises with every change of this document.
    public var version: Int

    /// The member's user id.
    public var id: UserID { user }
}

/// The signed-in user's own part of a conversation.
public struct Membership: Codable, Hashable, Sendable {
    /// A range of messages that the user may see.
    public struct Span: Codable, Hashable, Sendable {
        /// The number before the first.
        public var from: Int
        /// The last number; nil while it is open.
        public var until: Int?
    }

    /// What the user may do.
    public var role: MemberRole
    /// Whether the user is in it.
    public var state: MemberState
    /// When the user joined, or was invited.
    public var joinedAt: Date
    /// Rises with every change of this document.
    public var version: Int
    /// The messages that the user may see.
    public var spans: [Span]
    /// The number of the last message that was read, on any of the user's devices; absent from older servers.
    public var read: Int?
    /// How notifications of it are muted; nil if they are not.
    public var muted: Mute?
    /// Whether the user has pinned it to the top of the list.
    public var pinned: Bool?
    /// Whether the user has archived it: the list leaves it out.
    public var archived: Bool?
    /// Whether the user has marked it as unread.
    public var markedUnread: Bool?
    /// Whether others are shown what the user has read here; nil is as ``Me/receipts`` says.
    public var receipts: Bool?
    /// How the user reads other languages here; nil is as ``Me/translation`` says.
    public var translation: TranslationSettings?
    /// When messages are explained here; nil is as ``Me/hints`` says.
    public var hints: TranslationSettings.Mode?
    /// What machines may make of what the user writes here; nil is as ``Me/intelligence`` says.
    public var intelligence: IntelligenceLevel?
    /// What the user is writing, as ``Messages/saveDraft(_:replyTo:basedOn:)`` saved it last, on any device.
    public var draft: Draft?

    /// No message before this number is visible to the user.
    var firstNumber: Int { (spans.map(\.from).min() ?? 0) + 1 }
}

/// A page of the members of a conversation.
public struct MemberPage: Codable, Hashable, Sendable {
    /// In the order of their ids, including those who left.
    public var members: [ConversationMember]
    /// Their profiles.
    public var people: [User]
    /// The cursor of the next page for ``Messages/members(limit:after:)``; nil on the last page.
    public var nextCursor: String?
}

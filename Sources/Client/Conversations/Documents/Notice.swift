/// What happened in a conversation, as its author did it: word it in the reader's language.
public struct Notice: Codable, Hashable, Sendable {
    /// What happened. Newer servers may have more: show nothing of those.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it is written in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// ``Notice/users`` were added to the group.
        public static let added = Self(rawValue: "added")
        /// The author has joined the group: see ``Notice/via``.
        public static let joined = Self(rawValue: "joined")
        /// The author has left the group.
        public static let left = Self(rawValue: "left")
        /// ``Notice/users`` were removed from the group.
        public static let removed = Self(rawValue: "removed")
        /// The group has another ``Notice/name``, or none.
        public static let renamed = Self(rawValue: "renamed")
        /// The group has other ``Notice/settings``.
        public static let settings = Self(rawValue: "settings")
        /// ``Notice/users`` have another ``Notice/role``.
        public static let role = Self(rawValue: "role")
        /// ``Notice/users`` own the group now.
        public static let owner = Self(rawValue: "owner")
        /// Messages disappear after ``Notice/disappearAfter`` seconds, or no longer.
        public static let disappearing = Self(rawValue: "disappearing")
        /// The message with the ``Notice/number`` was pinned.
        public static let pinned = Self(rawValue: "pinned")
    }

    /// How somebody has joined. Newer servers may have more.
    public struct Via: RawRepresentable, Hashable, Sendable, Codable {
        /// The way as it is written in JSON.
        public let rawValue: String
        /// Takes any way.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// By a link of the group.
        public static let link = Self(rawValue: "link")
        /// By accepting an invitation.
        public static let invitation = Self(rawValue: "invitation")
    }

    /// What happened.
    public var kind: Kind
    /// The users whom it concerns: at most 20 of ``userCount``. Nil if there are none.
    public var users: [UserID]?
    /// How many it was done to.
    public var userCount: Int?
    /// The new name of the group; nil if it was removed.
    public var name: String?
    /// The settings that hold now.
    public var settings: ConversationSettings?
    /// The new role.
    public var role: MemberRole?
    /// Seconds; nil if messages stay from now on.
    public var disappearAfter: Int?
    /// The message that was pinned.
    public var number: Int?
    /// How the author has joined.
    public var via: Via?
    /// True if the app's own back end did it: the message's author is then the first of the users whom it concerns.
    public var server: Bool?
}

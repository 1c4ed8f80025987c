public import Foundation

/// A friend, or a request to become friends that was received or sent.
public struct Friend: Codable, Hashable, Sendable, Identifiable {
    /// What the two users are to each other. Newer servers may have more.
    public struct State: RawRepresentable, Hashable, Sendable, Codable {
        /// The state as it stands in JSON.
        public let rawValue: String
        /// Takes any state.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The signed-in user has asked; whether the other has declined is not shown.
        public static let requested = Self(rawValue: "requested")
        /// The other has asked.
        public static let received = Self(rawValue: "received")
        /// The two are friends.
        public static let friend = Self(rawValue: "friend")
    }

    /// The other user, with the profile of when this was written.
    public var user: User
    /// What the two are to each other.
    public var state: State
    /// What was written with the request.
    public var note: String?
    /// When the request was made.
    public var createdAt: Date?
    /// When the request ends by itself.
    public var expiresAt: Date?
    /// Since when the two are friends.
    public var since: Date?

    /// The other user's id.
    public var id: UserID { user.id }
}

/// A page of friends and requests.
public struct FriendPage: Codable, Hashable, Sendable {
    /// In the order of the users' ids.
    public var friends: [Friend]
    /// The cursor of the next page for ``Friends/list(in:limit:after:)``; nil on the last page.
    public var nextCursor: String?
}

/// What a link is for.
public struct Link: Codable, Hashable, Sendable {
    /// The kind of a link. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it stands in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It finds a user.
        public static let contact = Self(rawValue: "contact")
        /// It leads into a group: ``Conversations/join(_:)``.
        public static let group = Self(rawValue: "group")
    }

    /// What it is for.
    public var kind: Kind
    /// The owner of a contact link.
    public var user: User?
    /// The name of a group, if it has one.
    public var name: String?
    /// How many people are in a group.
    public var members: Int?
}

/// Why a user is reported to the operator. Newer servers may have more.
public struct ReportReason: RawRepresentable, Hashable, Sendable, Codable {
    /// The reason as it stands in JSON.
    public let rawValue: String
    /// Takes any reason.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Unwanted messages or requests.
    public static let spam = Self(rawValue: "spam")
    /// Insults, threats and the like.
    public static let abuse = Self(rawValue: "abuse")
    /// The user pretends to be somebody else.
    public static let impersonation = Self(rawValue: "impersonation")
    /// Something else, which the text says.
    public static let other = Self(rawValue: "other")
}

public import Foundation

/// The reactions to a message with one emoji.
public struct ReactionSummary: Codable, Hashable, Sendable {
    /// How many users reacted with it.
    public var count: Int
    /// The first 20 of them.
    public var users: [UserID]
}

/// One user's reaction to a message.
public struct Reaction: Codable, Hashable, Sendable {
    /// The emoji.
    public var emoji: String
    /// The user who reacted.
    public var user: UserID
    /// When.
    public var at: Date
}

/// A page of the reactions to a message.
public struct ReactionPage: Codable, Hashable, Sendable {
    /// The reactions, the oldest first.
    public var reactions: [Reaction]
    /// The profiles of the users who reacted.
    public var people: [User]
    /// The cursor of the next page; nil on the last page.
    public var nextCursor: String?
}

/// How far a message has come with one member.
public struct Receipt: Codable, Hashable, Sendable {
    /// The member.
    public var user: UserID
    /// Whether they have read it and let others see that.
    public var read: Bool
    /// When they read it, while the server knows it.
    public var readAt: Date?
    /// When they received it, while the server knows it.
    public var deliveredAt: Date?
}

/// A page of the receipts of a message.
public struct ReceiptPage: Codable, Hashable, Sendable {
    /// In the order of the members' ids.
    public var receipts: [Receipt]
    /// The members' profiles.
    public var people: [User]
    /// The cursor of the next page; nil on the last page.
    public var nextCursor: String?
}

/// What the user has noted on a message for themselves.
public struct OwnMessage: Codable, Hashable, Sendable {
    /// The message's number.
    public var number: Int
    /// Whether the user has starred it.
    public var starred: Bool
    /// Whether the user has deleted it for themselves.
    public var hidden: Bool?
    /// Whether the user has listened to it, of a voice message.
    public var listened: Bool?
    /// The emoji of the user's reactions.
    public var reacted: [String]
    /// Rises with every change.
    var counter: Int
}

/// How notifications of a conversation are muted.
public struct Mute: Codable, Hashable, Sendable {
    /// When it ends; nil is never.
    public var until: Date?
    /// Whether mentions notify all the same.
    public var mentions: Bool

    /// Creates a value.
    public init(until: Date? = nil, mentions: Bool = false) {
        self.until = until
        self.mentions = mentions
    }
}

/// What a user is writing, on all of their devices.
public struct Draft: Codable, Hashable, Sendable {
    /// The text; empty if there is none.
    public var text: String
    /// The number of the message that it will reply to.
    public var replyTo: Int?
    /// Rises with every save: the highest one is kept.
    public var revision: Int
}

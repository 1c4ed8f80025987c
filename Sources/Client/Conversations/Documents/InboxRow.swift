/// A conversation as the list of a user's conversations shows it.
public struct InboxRow: Codable, Hashable, Sendable, Identifiable {
    /// The conversation's id.
    public var id: ConversationID
    /// The conversation.
    public var conversation: Conversation?
    /// The user's own part of it.
    public var membership: Membership?
    /// The other one of two people.
    public var person: User?
    /// The newest message that the user sees, with the beginning of its text.
    public var lastMessage: Message?
    /// How many messages of others are unread; 999 are 999 or more.
    public var unread: Int?
    /// How many of them mention the user, or everybody; 999 are 999 or more.
    public var mentions: Int?
    /// Rises with every change of the row.
    var counter: Int
    /// Rises with every message.
    var activity: Int?
    /// Whether the conversation is not in the list any more.
    var gone: Bool?
}

/// The snapshot of a conversation's stream.
struct ConversationSnapshot: Decodable, Hashable, Sendable {
    var conversation: Conversation
    var membership: Membership
    var members: [ConversationMember]
    var moreMembers: Bool?
    var people: [User]
    var messages: [Message]
    /// What the user has noted on them; nil from older servers.
    var own: [OwnMessage]?
    /// The first and the last number that `messages` speaks for.
    var range: [Int]?
    var hasEarlier: Bool
}

/// A row of a conversation's stream. Those of newer servers are `unknown`.
enum ConversationRow: Hashable, Sendable {
    case conversation(Conversation)
    case member(ConversationMember, person: User?)
    case message(Message)
    case unknown
}

extension ConversationRow: Decodable {
    private enum Key: String, CodingKey { case conversation, member, person, message }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if container.contains(.message) {
            // Newer servers may send a part of a message, of what this version does not show.
            self = (try? container.decode(Message.self, forKey: .message)).map { .message($0) } ?? .unknown
        } else if container.contains(.member) {
            self = .member(
                try container.decode(ConversationMember.self, forKey: .member),
                person: try container.decodeIfPresent(User.self, forKey: .person))
        } else if container.contains(.conversation) {
            self = .conversation(try container.decode(Conversation.self, forKey: .conversation))
        } else {
            self = .unknown
        }
    }
}

/// A frame with rows of keyed state: every change of `after < sequence <= upTo` that concerns the listener.
struct RowFrame<Row: Hashable & Sendable>: Hashable, Sendable {
    var rows: [Row]
    var epoch: String
    var after: Int
    var upTo: Int
    /// Of newer messages, the first and the last number that are left out.
    var gap: ClosedRange<Int>?
}

/// A page of messages, as of a position.
struct MessagePage: Decodable, Hashable, Sendable {
    var messages: [Message]
    /// The first and the last number that the page speaks for.
    var range: [Int]?
    var hasEarlier: Bool
    var hasLater: Bool
    /// What the user has noted on them; nil from older servers.
    var own: [OwnMessage]?
    var position: StreamPosition
}

/// A page of the inbox, or the snapshot of its stream, which has no position of its own.
struct InboxPage: Decodable, Hashable, Sendable {
    struct Totals: Decodable, Hashable, Sendable { var unread: Int }

    var conversations: [InboxRow]
    var totals: Totals
    var nextCursor: String?
    var position: StreamPosition?
}

/// Reads two numbers as a range, if they are one.
func range(_ numbers: [Int]?) -> ClosedRange<Int>? {
    guard let numbers, numbers.count == 2, numbers[0] <= numbers[1] else { return nil }
    return numbers[0]...numbers[1]
}

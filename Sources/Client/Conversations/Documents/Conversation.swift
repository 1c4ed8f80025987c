public import Foundation

/// A conversation, as all of its members see it.
public struct Conversation: Codable, Hashable, Sendable, Identifiable {
    /// The kind of a conversation. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it is written in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Of two people; there is one of every two.
        public static let direct = Self(rawValue: "direct")
        /// A group, to which its members add people.
        public static let group = Self(rawValue: "group")
        /// The user's notes.
        public static let notes = Self(rawValue: "self")
    }

    /// The conversation's id.
    public var id: ConversationID
    /// Its kind.
    public var kind: Kind
    /// The name of a group, if it has one.
    public var name: String?
    /// When it was created.
    public var createdAt: Date
    /// The number of the last message that the user sees; nil while the user is only invited to a group, and if there
    /// is none.
    public var lastNumber: Int?
    /// When that message was sent.
    public var lastSentAt: Date?
    /// The call that is on, which members may join: see ``Switchboard/call(in:kind:mode:offer:ringFor:other:)``.
    public var liveCall: ConversationCall?
    /// How many people are in it.
    public var members: Int
    /// Who may do what in a group.
    public var settings: ConversationSettings?
    /// The numbers of pinned messages that the user sees, the newest pin first; nil from older servers.
    public var pins: [Int]?
    /// Seconds after which messages disappear that are sent now; nil if they stay.
    public var disappearAfter: Int?
    /// Rises with every change of this document, within one epoch of the server's database.
    public var version: Int
}

/// The call that is on in a conversation.
public struct ConversationCall: Codable, Hashable, Sendable, Identifiable {
    /// The call's id, for ``Switchboard/liveCall(_:)``.
    public var id: CallID
    /// Whether it has video.
    public var kind: Call.Kind
    /// When it began.
    public var startedAt: Date
    /// The number of the message that follows it.
    public var number: Int
}

/// Who may do what in a group.
public struct ConversationSettings: Codable, Hashable, Sendable {
    /// Some of the members. Newer servers may have more.
    public struct Who: RawRepresentable, Hashable, Sendable, Codable {
        /// The choice as it is written in JSON.
        public let rawValue: String
        /// Takes any choice.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// All members.
        public static let members = Self(rawValue: "members")
        /// The owner and the administrators.
        public static let admins = Self(rawValue: "admins")
    }

    /// Who may write messages.
    public var write: Who?
    /// Who may add people.
    public var add: Who?
    /// Who may rename the group.
    public var rename: Who?
    /// Days after which messages are erased for all; 0 for as long as the server keeps them: see
    /// ``ServerDescription/messages``.
    public var keepDays: Int?
    /// The most that machines may make of the messages; nil as the server says.
    public var intelligence: IntelligenceLevel?

    /// When the settings are changed, properties that are nil stay unchanged.
    public init(
        write: Who? = nil, add: Who? = nil, rename: Who? = nil, keepDays: Int? = nil,
        intelligence: IntelligenceLevel? = nil
    ) {
        self.write = write
        self.add = add
        self.rename = rename
        self.keepDays = keepDays
        self.intelligence = intelligence
    }
}

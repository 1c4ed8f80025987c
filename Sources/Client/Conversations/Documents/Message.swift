public import Foundation

/// A message that the server has stored.
public struct Message: Codable, Hashable, Sendable, Identifiable {
    /// What a message is. Newer servers may have more: show its ``Message/text``, if it has any.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it is written in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Text that somebody wrote.
        public static let text = Self(rawValue: "text")
        /// Something that happened in the conversation, told by the server: see ``Message/notice``.
        public static let notice = Self(rawValue: "notice")
        /// A call: see ``Message/call``.
        public static let call = Self(rawValue: "call")
        /// A voice message: see ``Message/voice``.
        public static let voice = Self(rawValue: "voice")
    }

    /// The message's identity, the same before and after it was sent.
    public struct ID: Hashable, Sendable, Codable {
        /// The user who wrote it.
        public var author: UserID
        /// The id that the author's client gave it.
        public var clientID: MessageClientID

        /// The identity of an author's message.
        public init(author: UserID, clientID: MessageClientID) {
            self.author = author
            self.clientID = clientID
        }
    }

    /// The conversation that it is in.
    public var conversation: ConversationID
    /// Its place in the conversation, from 1: the order that every reader sees.
    public var number: Int
    /// Rises with every change of the message: of two copies, the one with the higher version is newer.
    public var version: Int
    /// The id that the author's client gave it.
    public var clientID: MessageClientID
    /// The user who wrote it.
    public var author: UserID
    /// When the server stored it.
    public var sentAt: Date
    /// What it is.
    public var kind: Kind
    /// The text; nil if it was deleted, of a call, of a voice message, and of a notice.
    public var text: String?
    /// The call that a message of kind ``Kind/call`` follows; nil if it was deleted.
    public var call: CallRecord?
    /// The sound of a message of kind ``Kind/voice``; nil if it was deleted.
    public var voice: VoiceRecord?
    /// What happened, of a message of kind ``Kind/notice``; nil if it was deleted.
    public var notice: Notice?
    /// True in an ``InboxRow``, if this is only the beginning of the text or transcript.
    public var isCut: Bool?
    /// The ranges that were found in the text.
    public var ranges: [TextRange]?
    /// In which language the text is; nil if it has too few letters, or the server does not know.
    public var language: MessageLanguage?
    /// The version at which the text or the transcript last changed.
    public var textVersion: Int
    /// The number of the message that it replies to.
    public var replyTo: Int?
    /// The number of the message in whose thread it is.
    public var thread: Int?
    /// How many messages are in its thread; nil for none.
    public var replies: Int?
    /// The user who wrote the text first, if it was forwarded.
    public var forwardedFrom: UserID?
    /// The reactions by emoji; nil for none, and if it was deleted.
    public var reactions: [String: ReactionSummary]?
    /// When the text last changed, if it was edited.
    public var editedAt: Date?
    /// When it was deleted, if it was.
    public var deletedAt: Date?
    /// When it disappears, if it does. Its text is removed then, also from this device, and ``deletedAt`` is this time.
    public var expiresAt: Date?

    /// The message's identity, the same before and after it was sent.
    public var id: ID { ID(author: author, clientID: clientID) }
}

// Messages that disappear.
extension Message {
    /// When its text has to be removed; nil if it stays, or is removed.
    var expiry: Date? { deletedAt == nil ? expiresAt : nil }

    /// The message as it is at a time, whether the server has told that it has disappeared or not.
    func asOf(_ now: Date) -> Message {
        guard let expiry, expiry <= now else { return self }
        var tombstone = self
        (tombstone.text, tombstone.ranges, tombstone.isCut) = (nil, nil, nil)
        tombstone.language = nil
        (tombstone.voice, tombstone.notice) = (nil, nil)
        tombstone.deletedAt = expiry
        return tombstone
    }
}

/// In which language a text is.
public struct MessageLanguage: Codable, Hashable, Sendable {
    /// How sure that is. Newer servers may have more.
    public struct Confidence: RawRepresentable, Hashable, Sendable, Codable {
        /// The confidence as it is written in JSON.
        public let rawValue: String
        /// Takes any confidence.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The server is sure, or the author has said so.
        public static let high = Self(rawValue: "high")
        /// A guess.
        public static let low = Self(rawValue: "low")
    }

    /// A language tag, such as `en` or `zh-Hant`.
    public var code: String
    /// How sure that is.
    public var confidence: Confidence
}

/// Something that the server found in a text.
///
/// Markers of emphasis within words are text: `snake_case`, `2*3*4`, `foo**bar**baz`; in scripts without spaces between
/// words, such as Japanese, they are not: `これは**太字**です` has a bold range. A joined emoji is one, and a ❤ without U+FE0F
/// is text.
public struct TextRange: Codable, Hashable, Sendable {
    /// What was found. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it is written in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Somebody is mentioned.
        public static let mention = Self(rawValue: "mention")
        /// A link.
        public static let link = Self(rawValue: "link")
        /// Code within a line.
        public static let code = Self(rawValue: "code")
        /// Lines of code.
        public static let block = Self(rawValue: "block")
        /// Bold text.
        public static let bold = Self(rawValue: "bold")
        /// Italic text.
        public static let italic = Self(rawValue: "italic")
        /// Text that is struck through.
        public static let strike = Self(rawValue: "strike")
        /// An emoji.
        public static let emoji = Self(rawValue: "emoji")
    }

    /// What was found.
    public var kind: Kind
    /// Where it begins, in UTF-16 code units.
    public var start: Int
    /// How long it is, in UTF-16 code units.
    public var length: Int
    /// The user who is mentioned; nil for everybody.
    public var user: UserID?
}

/// A former text of a message.
public struct MessageEdit: Codable, Hashable, Sendable {
    /// The version at which the message had this text.
    public var textVersion: Int
    /// The text.
    public var text: String
    /// In which language it is, as far as the server knows.
    public var language: MessageLanguage?
    /// What was found in it.
    public var ranges: [TextRange]
    /// When it was written.
    public var writtenAt: Date
}

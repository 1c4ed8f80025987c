public import Foundation

/// What is worth knowing of some messages.
public struct Summary: Codable, Hashable, Sendable {
    /// How it was made. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it is written in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A language model has written the items.
        public static let model = Self(rawValue: "model")
        /// The items are what messages say themselves.
        public static let extractive = Self(rawValue: "extractive")
    }

    /// One thing to know.
    public struct Item: Codable, Hashable, Sendable {
        /// What it is. Newer servers may have more.
        public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
            /// The kind as it is written in JSON.
            public let rawValue: String
            /// Takes any kind.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// A main point.
            public static let point = Self(rawValue: "point")
            /// Somebody is to do something.
            public static let action = Self(rawValue: "action")
            /// Something was decided.
            public static let decision = Self(rawValue: "decision")
            /// An open question.
            public static let question = Self(rawValue: "question")
        }

        /// What it is.
        public var kind: Kind
        /// The text.
        public var text: String
        /// Of an action: the user who should do it, if a message says so.
        public var owner: UserID?
        /// Of an action, by when, where a message says so: a day such as `2026-12-24`, or a time such as
        /// `2026-12-24T17:00`, as its author means it.
        public var due: String?
        /// The numbers of the messages that it is based on, all of which the user may see: link to them.
        public var messages: [Int]
        /// Of a call, where it was said.
        public var said: Moment?

        /// A moment of a recording.
        public struct Moment: Codable, Hashable, Sendable {
            /// The recording.
            public var recording: RecordingID
            /// In milliseconds from the start of the recording.
            public var start: Int
        }
    }

    /// How it was made.
    public var kind: Kind
    /// Of an extractive one, why the language model that there is has not written it.
    public var reason: String?
    /// What wrote it, or knows what texts mean.
    public var engine: String?
    /// The first number that it is about; nil if there are no words.
    public var from: Int?
    /// The last number that it is about.
    public var to: Int?
    /// How many messages with words there are between them; of a call, how many things were said.
    public var count: Int
    /// Points first, then decisions, actions and questions.
    public var items: [Item]
}

/// Which messages are summarised: all of them together hold.
public struct SummaryScope: Codable, Hashable, Sendable {
    /// The first number; nil for the newest 500.
    public var from: Int?
    /// The last number.
    public var to: Int?
    /// Only the thread of this message.
    public var thread: Int?
    /// Only what the user has not read.
    public var isUnread = false
    /// Only what was said in this call of the conversation, as far as it was recorded while the user was in it, and was
    /// transcribed. It cannot be combined with other parameters.
    public var call: CallID?

    /// The newest messages.
    public init() {}
}

/// The last summary of a conversation that this device has read: ``Messages/storedSummary()``.
public struct StoredSummary: Hashable, Sendable {
    /// The rest of it. It leaves out items that are based on a message of which this device knows that it was edited or
    /// deleted, has disappeared, or may no longer be seen.
    public var summary: Summary
    /// Which messages it is about.
    public var scope: SummaryScope
    /// When this device received it.
    public var receivedAt: Date
}

/// An unread message that should be seen before others.
public struct PriorityMessage: Codable, Hashable, Sendable {
    /// Why. Newer servers may have more.
    public struct Reason: RawRepresentable, Hashable, Sendable, Codable {
        /// The reason as it is written in JSON.
        public let rawValue: String
        /// Takes any reason.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Somebody is to act at once.
        public static let urgent = Self(rawValue: "urgent")
        /// It mentions the user, or everybody.
        public static let mention = Self(rawValue: "mention")
        /// It asks for something to be done.
        public static let request = Self(rawValue: "request")
        /// It is a question.
        public static let question = Self(rawValue: "question")
        /// The message was written to the user alone.
        public static let direct = Self(rawValue: "direct")
    }

    /// The message.
    public var message: Message
    /// Why it is shown.
    public var reasons: [Reason]
}

public import Foundation

/// A question to the assistant, and what became of it.
public struct AssistantRun: Codable, Hashable, Sendable, Identifiable {
    /// What has become of it. Newer servers may have more.
    public struct Status: RawRepresentable, Hashable, Sendable, Codable {
        /// The status as it stands in JSON.
        public let rawValue: String
        /// Takes any status.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The answer is being written, or waits for others of the user.
        public static let running = Self(rawValue: "running")
        /// It has ``AssistantRun/sentences``.
        public static let done = Self(rawValue: "done")
        /// There is no answer: ``AssistantRun/reason-swift.property`` says why.
        public static let failed = Self(rawValue: "failed")
        /// It was ended before there was an answer.
        public static let cancelled = Self(rawValue: "cancelled")
    }

    /// Why there is no answer. Newer servers may have more.
    public struct Reason: RawRepresentable, Hashable, Sendable, Codable {
        /// The reason as it stands in JSON.
        public let rawValue: String
        /// Takes any reason.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The model did not respond, or with nothing of use.
        public static let providerFailed = Self(rawValue: "provider_failed")
        /// What hosted services may be given is used up.
        public static let budgetExhausted = Self(rawValue: "budget_exhausted")
        /// It took too long.
        public static let timeout = Self(rawValue: "timeout")
        /// The server ended meanwhile.
        public static let interrupted = Self(rawValue: "interrupted")
        /// Nobody listened for a quarter of a minute.
        public static let noListener = Self(rawValue: "no_listener")
        /// The user cancelled it.
        public static let cancelled = Self(rawValue: "cancelled")
    }

    /// For whom an answer is, which says what it may be made of. Newer servers may have more.
    public struct Audience: RawRepresentable, Hashable, Sendable, Codable {
        /// The audience as it stands in JSON.
        public let rawValue: String
        /// Takes any audience.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The user: it is made of what they see.
        public static let me = Self(rawValue: "me")
        /// To be shown in the conversation: it is made of what all its members see.
        public static let conversation = Self(rawValue: "conversation")
    }

    /// What the model can look up. Newer servers may have more.
    public struct Tool: RawRepresentable, Hashable, Sendable, Codable {
        /// The tool as it stands in JSON.
        public let rawValue: String
        /// Takes any tool.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Finds messages by words, and by meaning where the server can.
        public static let search = Self(rawValue: "search")
        /// The messages before and after one.
        public static let around = Self(rawValue: "around")
        /// What a conversation was about.
        public static let summarise = Self(rawValue: "summarise")
        /// What somebody is to do.
        public static let actions = Self(rawValue: "actions")
        /// What was decided.
        public static let decisions = Self(rawValue: "decisions")
        /// The unread messages that matter most.
        public static let priority = Self(rawValue: "priority")
        /// A message in another language.
        public static let translate = Self(rawValue: "translate")
        /// The people in the user's conversations.
        public static let people = Self(rawValue: "people")
    }

    /// A tool that was used.
    public struct ToolUse: Codable, Hashable, Sendable {
        /// Which one.
        public var name: Tool
    }

    /// What it has cost.
    public struct Cost: Codable, Hashable, Sendable {
        /// How often the model was asked.
        public var calls: Int
        /// How many characters it was given.
        public var characters: Int
    }

    /// Its id.
    public var id: AssistantRunID
    /// The thread that it belongs to.
    public var thread: AssistantThreadID
    /// What was asked.
    public var question: String
    /// The only conversation that was looked at; nil for all of the user's.
    public var conversation: ConversationID?
    /// For whom the answer is.
    public var audience: Audience
    /// What has become of it.
    public var status: Status
    /// Why there is no answer.
    public var reason: Reason?
    /// The answer, once it is done.
    public var sentences: [AnswerSentence]
    /// What was looked up, in that order.
    public var tools: [ToolUse]
    /// The name of the language model.
    public var model: String
    /// What it has cost.
    public var cost: Cost
    /// When it was asked.
    public var askedAt: Date
    /// When it ended.
    public var endedAt: Date?

    private enum CodingKeys: String, CodingKey {
        case id, thread, question, conversation
        case audience = "for"
        case status, reason, sentences, tools, model, cost, askedAt, endedAt
    }

    /// The sentences that were not withdrawn, as one text.
    public var text: String {
        sentences.filter { !$0.isWithdrawn }.reduce(into: "") { text, sentence in
            if !text.isEmpty { text += sentence.startsLine ? "\n" : " " }
            text += sentence.text
        }
    }
}

/// A part of an answer: plain text on one line.
public struct AnswerSentence: Hashable, Sendable {
    /// A message that a sentence rests on, which the user sees: link to it.
    public struct Citation: Codable, Hashable, Sendable {
        /// The conversation of the message.
        public var conversation: ConversationID
        /// Its number.
        public var number: Int
        /// The ``Message/textVersion`` that was read.
        public var of: Int
    }

    /// The text; empty if it was withdrawn.
    public var text: String
    /// The messages that it rests on. Without any, nothing shows that it is true: say so.
    public var citations: [Citation]
    /// Whether it begins a line of its own.
    public var startsLine: Bool
    /// Whether what it rested on has changed or gone, or may be seen no more: there is no text.
    public var isWithdrawn: Bool
}

extension AnswerSentence: Codable {
    private enum Key: String, CodingKey { case text, citations, startsLine, withdrawn }

    /// Reads a sentence, whose marks are absent where they are false.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        text = try container.decode(String.self, forKey: .text)
        citations = try container.decode([Citation].self, forKey: .citations)
        startsLine = try container.decodeIfPresent(Bool.self, forKey: .startsLine) ?? false
        isWithdrawn = try container.decodeIfPresent(Bool.self, forKey: .withdrawn) ?? false
    }

    /// Writes it as the server does.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(text, forKey: .text)
        try container.encode(citations, forKey: .citations)
        if startsLine { try container.encode(true, forKey: .startsLine) }
        if isWithdrawn { try container.encode(true, forKey: .withdrawn) }
    }
}

/// Questions to the assistant that know of each other.
public struct AssistantThread: Codable, Hashable, Sendable, Identifiable {
    /// Its id.
    public var id: AssistantThreadID
    /// The beginning of the first question.
    public var title: String
    /// When the first question was asked.
    public var createdAt: Date
    /// When it was used last.
    public var updatedAt: Date
    /// How many questions it has.
    public var runs: Int
}

/// A page of threads.
public struct AssistantThreadPage: Codable, Hashable, Sendable {
    /// Those that were used last first.
    public var threads: [AssistantThread]
    /// The cursor of the next page for ``Assistant/threads(limit:after:)``; nil on the last page.
    public var nextCursor: String?
}

/// What a reader from elsewhere may not understand of a message.
public struct Hint: Codable, Hashable, Sendable {
    /// What it is. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it is written in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It means something else than its words.
        public static let idiom = Self(rawValue: "idiom")
        /// To what readers are expected to know.
        public static let reference = Self(rawValue: "reference")
        /// Abbreviations and words of chats.
        public static let slang = Self(rawValue: "slang")
        /// How the reader is addressed.
        public static let formality = Self(rawValue: "formality")
    }

    /// How much it matters. Newer servers may have more.
    public struct Relevance: RawRepresentable, Hashable, Sendable, Codable {
        /// The relevance as it is written in JSON.
        public let rawValue: String
        /// Takes any relevance.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The message is misunderstood without it.
        public static let high = Self(rawValue: "high")
        /// It is good to know.
        public static let low = Self(rawValue: "low")
    }

    /// Its position in the text, in UTF-16 code units.
    public var start: Int
    /// In UTF-16 code units.
    public var length: Int
    /// What it is.
    public var kind: Kind
    /// What it means, as plain text: in the language of ``Hints/language``, or in English where a lexicon says it.
    public var meaning: String
    /// What an abbreviation stands for, in its own language.
    public var expansion: String?
    /// What people say instead in the reader's language.
    public var equivalent: String?
    /// How much it matters.
    public var relevance: Relevance
}

/// The hints on a message. Show them beside it, and only while ``of`` is the message's ``Message/textVersion``.
public struct Hints: Codable, Hashable, Sendable {
    /// What made them. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it is written in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A language model.
        public static let model = Self(rawValue: "model")
        /// Lexicons and rules of the server.
        public static let lexicon = Self(rawValue: "lexicon")
    }

    /// The number of the message.
    public var number: Int
    /// The ``Message/textVersion`` that they were made from.
    public var of: Int
    /// Of their readers, as a BCP 47 tag.
    public var language: String
    /// ``Translation/Status-swift.struct/queued`` while a language model is asked: what lexicons know is there already.
    public var status: Translation.Status
    /// Why there is nothing, or nothing by a language model.
    public var reason: Translation.Reason?
    /// In the order of the text.
    public var items: [Hint]
    /// What made them: `lexicon`, or the name of a model.
    public var engine: String?
    /// What the engine is.
    public var kind: Kind?
    /// Of two copies, the higher counts.
    public var touched: Int
}

/// How a draft sounds.
public struct DraftReport: Codable, Hashable, Sendable {
    /// How it addresses its reader. Newer servers may have more.
    public struct Tone: RawRepresentable, Hashable, Sendable, Codable {
        /// The tone as it is written in JSON.
        public let rawValue: String
        /// Takes any tone.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// As one addresses people one does not know.
        public static let formal = Self(rawValue: "formal")
        /// As a friend.
        public static let informal = Self(rawValue: "informal")
        /// In both ways.
        public static let mixed = Self(rawValue: "mixed")
        /// Nothing in it says so.
        public static let neutral = Self(rawValue: "neutral")
    }

    /// What its author may want to change.
    public struct Finding: Codable, Hashable, Sendable {
        /// What it is. Newer servers may have more.
        public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
            /// The kind as it is written in JSON.
            public let rawValue: String
            /// Takes any kind.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// More formal than what the others write.
            public static let tooFormal = Self(rawValue: "too_formal")
            /// Less formal than what the others write.
            public static let tooInformal = Self(rawValue: "too_informal")
            /// It addresses its reader in both ways.
            public static let mixedAddress = Self(rawValue: "mixed_address")
            /// Capitals or exclamation marks.
            public static let shouting = Self(rawValue: "shouting")
            /// Somebody may not know it.
            public static let abbreviation = Self(rawValue: "abbreviation")
            /// What the language model says.
            public static let tone = Self(rawValue: "tone")
        }

        /// What it is.
        public var kind: Kind
        /// Its position in the draft, in UTF-16 code units.
        public var start: Int
        /// In UTF-16 code units.
        public var length: Int
        /// The advice of a model, or the meaning of an abbreviation, as plain text.
        public var advice: String?
        /// What could stand there instead.
        public var suggestion: String?
    }

    /// How it addresses its reader.
    public var tone: Tone
    /// Its language, as a BCP 47 tag; nil if it is not known.
    public var language: String?
    /// In the order of the draft.
    public var findings: [Finding]
    /// What has checked it: `lexicon`, or the name of a model.
    public var engine: String
    /// What the engine is.
    public var kind: Hints.Kind
}

/// In what way a draft is to be written instead. Newer servers may have more.
public struct DraftStyle: RawRepresentable, Hashable, Sendable, Codable {
    /// The style as it is written in JSON.
    public let rawValue: String
    /// Takes any style.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// As one writes to people one does not know.
    public static let formal = Self(rawValue: "formal")
    /// As to a friend.
    public static let informal = Self(rawValue: "informal")
    /// Warmer.
    public static let friendly = Self(rawValue: "friendly")
    /// In words that learners of the language know.
    public static let simple = Self(rawValue: "simple")
    /// With fewer words.
    public static let shorter = Self(rawValue: "shorter")
    /// Without mistakes, and otherwise as it is.
    public static let correct = Self(rawValue: "correct")
}

/// The body of `hints.request` and `replies.suggest`.
struct NamingMessage: Encodable {
    var conversation: ConversationID
    var number: Int
}

/// The response of `hints.request`.
struct HintsResult: Decodable {
    var hints: Hints
}

/// The body of `drafts.check` and `drafts.rewrite`.
struct WorkingOnDraft: Encodable {
    var conversation: ConversationID
    var text: String
    var language: String?
    var model: Bool?
    var style: DraftStyle?
}

/// The response of `drafts.rewrite`.
struct RewrittenDraft: Decodable {
    var text: String
}

/// Short replies to a message, of which nothing is sent.
public struct SuggestedReplies: Codable, Hashable, Sendable {
    /// What suggests them. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it is written in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A language model has written them.
        public static let model = Self(rawValue: "model")
        /// They fit to all messages of a class, such as requests.
        public static let template = Self(rawValue: "template")
    }

    /// Plain text, each on one line.
    public var replies: [String]
    /// The name of the model that wrote them, or that told the message's class.
    public var engine: String
    /// What suggests them.
    public var kind: Kind
}

/// A message's text in another language. Show it beside the message, and only while ``of`` is the message's
/// ``Message/textVersion``.
public struct Translation: Codable, Hashable, Sendable {
    /// What has become of it. Newer servers may have more.
    public struct Status: RawRepresentable, Hashable, Sendable, Codable {
        /// The status as it is written in JSON.
        public let rawValue: String
        /// Takes any status.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It is being made: ask again, or listen.
        public static let queued = Self(rawValue: "queued")
        /// It has a ``Translation/text``.
        public static let done = Self(rawValue: "done")
        /// It was tried; asking again tries again.
        public static let failed = Self(rawValue: "failed")
        /// It is not made: ``Translation/reason`` says why.
        public static let unavailable = Self(rawValue: "unavailable")
    }

    /// Why there is none. Newer servers may have more.
    public struct Reason: RawRepresentable, Hashable, Sendable, Codable {
        /// The reason as it is written in JSON.
        public let rawValue: String
        /// Takes any reason.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is nothing to translate.
        public static let noText = Self(rawValue: "no_text")
        /// The language of the message is not known.
        public static let languageUnknown = Self(rawValue: "language_unknown")
        /// It is in that language.
        public static let sameLanguage = Self(rawValue: "same_language")
        /// Nothing translates between the two languages.
        public static let pairNotSupported = Self(rawValue: "pair_not_supported")
        /// The server, the conversation or the author does not allow it.
        public static let consentRequired = Self(rawValue: "consent_required")
        /// Too many of the words are not known.
        public static let unknownWords = Self(rawValue: "unknown_words")
        /// Links, mentions or code came back damaged.
        public static let damaged = Self(rawValue: "damaged")
        /// The text is too long.
        public static let textTooLong = Self(rawValue: "text_too_long")
        /// The message was edited since then, and the user, who had left, sees it as it was.
        public static let edited = Self(rawValue: "edited")
        /// What translates has failed.
        public static let providerFailed = Self(rawValue: "provider_failed")
        /// What may be translated is used up for now.
        public static let budgetExhausted = Self(rawValue: "budget_exhausted")
        /// Too much was waiting.
        public static let queueFull = Self(rawValue: "queue_full")
    }

    /// What made it. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The kind as it is written in JSON.
        public let rawValue: String
        /// Takes any kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A language model or a neural network.
        public static let model = Self(rawValue: "model")
        /// Dictionaries and rules, between close languages.
        public static let rules = Self(rawValue: "rules")
    }

    /// The number of the message.
    public var number: Int
    /// The ``Message/textVersion`` that it was made from.
    public var of: Int
    /// The language into which it is, as a BCP 47 tag.
    public var language: String
    /// How it speaks to its reader; nil as the text does.
    public var tone: TranslationTone?
    /// What has become of it.
    public var status: Status
    /// Why there is none.
    public var reason: Reason?
    /// The translated text, with links, mentions and code as in the original.
    public var text: String?
    /// The engine that made it.
    public var engine: String?
    /// What the engine is.
    public var kind: Kind?
    /// Of two copies of a translation, the one with the higher value is newer.
    public var touched: Int
}

/// How somebody reads what others write in other languages.
public struct TranslationSettings: Codable, Hashable, Sendable {
    /// When messages are translated. Newer servers may have more.
    public struct Mode: RawRepresentable, Hashable, Sendable, Codable {
        /// The mode as it is written in JSON.
        public let rawValue: String
        /// Takes any mode.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Unasked, from languages that the user does not know.
        public static let automatic = Self(rawValue: "automatic")
        /// When the user asks.
        public static let onRequest = Self(rawValue: "onRequest")
        /// Never.
        public static let off = Self(rawValue: "off")
    }

    /// When messages are translated.
    public var mode: Mode
    /// Into which language, as a BCP 47 tag; nil for the first of ``Me/languages``.
    public var into: String?

    /// How translations address the user, if the engine can make that difference; if nil, the server's default applies.
    public var tone: TranslationTone?

    /// Settings with a mode, a language, and a tone.
    public init(mode: Mode, into: String? = nil, tone: TranslationTone? = nil) {
        self.mode = mode
        self.into = into
        self.tone = tone
    }
}

/// How a translation speaks to its reader. Newer servers may have more.
public struct TranslationTone: RawRepresentable, Hashable, Sendable, Codable {
    /// The tone as it is written in JSON.
    public let rawValue: String
    /// Takes any tone.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// As one writes to people one does not know.
    public static let formal = Self(rawValue: "formal")
    /// As to a friend.
    public static let informal = Self(rawValue: "informal")
}

/// A term that is always translated in the same way in a conversation.
public struct GlossaryTerm: Hashable, Sendable, Codable {
    /// The term as it is written in messages.
    public var source: String
    /// What it is translated to.
    public var target: String
    /// Into which language, as a BCP 47 tag.
    public var language: String

    /// A term and its translation: 1 to 100 characters each.
    public init(source: String, target: String, language: String) {
        self.source = source
        self.target = target
        self.language = language
    }
}

/// What machines may make of texts: each level allows what those before it do. Newer servers may have more.
public struct IntelligenceLevel: RawRepresentable, Hashable, Sendable, Codable {
    /// The level as it is written in JSON.
    public let rawValue: String
    /// Takes any level.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Nothing.
    public static let off = Self(rawValue: "off")
    /// What engines make that the server's operator runs.
    public static let local = Self(rawValue: "local")
    /// Hosted services may translate and transcribe.
    public static let translate = Self(rawValue: "translate")
    /// Hosted services may do everything.
    public static let full = Self(rawValue: "full")
}

/// The body of `translations.request`.
struct RequestingTranslations: Encodable {
    var conversation: ConversationID
    var numbers: [Int]
    var language: String?
}

/// The body of `glossary.get`.
struct ReadingGlossary: Encodable {
    var conversation: ConversationID
}

/// The body of `glossary.set`.
struct SettingGlossary: Encodable {
    var conversation: ConversationID
    var terms: [GlossaryTerm]
}

/// The response of both.
struct Glossary: Decodable {
    var terms: [GlossaryTerm]
}

/// The response of `translations.request`.
struct TranslationList: Decodable {
    var translations: [Translation]
}

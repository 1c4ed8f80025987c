package import Languages
package import Model

/// A message's text in another language. It is shown beside the message and never changes its version.
package struct MessageTranslation: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable, CaseIterable {
        /// Demanded, and not made yet.
        case queued
        case done
        /// It was tried; asking again tries again.
        case failed
        /// It is not made: `reason` says why.
        case unavailable
    }

    /// Why there is none.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A call, a notice, a deleted message, or nothing but links, mentions and emoji.
        case noText = "no_text"
        /// The language of the text is not known: its author can say it.
        case languageUnknown = "language_unknown"
        /// It is in that language.
        case sameLanguage = "same_language"
        /// No engine translates between the two languages.
        case pairNotSupported = "pair_not_supported"
        /// Only a hosted service could, and the server, the conversation or the author does not allow that.
        case consentRequired = "consent_required"
        /// The engine does not know too many of the words.
        case unknownWords = "unknown_words"
        /// Links, mentions or code of the message came back damaged.
        case damaged
        case textTooLong = "text_too_long"
        /// The message was edited since then, and the reader, who had left, sees it as it was.
        case edited
        case providerFailed = "provider_failed"
        /// What may be translated in a day is used up.
        case budgetExhausted = "budget_exhausted"
        /// Too much was waiting.
        case queueFull = "queue_full"
    }

    package let conversation: ConversationID
    package let number: Int64
    package let target: TranslationTarget
    /// The `textVersion` that it was made from.
    package let of: Int64
    package var status: Status
    package var reason: Reason?
    package var text: String?
    package var engine: String?
    package var kind: TranslationKind?
    /// The level that the text needs: `translate` of a hosted engine.
    package var level: IntelligenceLevel
    /// `GlossaryTerm.fingerprint` of the terms that it was made with.
    package var terms: String
    /// The store's counter at the last change; 0 if it is not stored.
    package var touched: Int64

    package var language: LanguageTag { target.language }

    package init(
        conversation: ConversationID, number: Int64, target: TranslationTarget, of: Int64, status: Status,
        reason: Reason? = nil, text: String? = nil, engine: String? = nil, kind: TranslationKind? = nil,
        level: IntelligenceLevel = .local, terms: String = "", touched: Int64 = 0
    ) {
        self.conversation = conversation
        self.number = number
        self.target = target
        self.of = of
        self.status = status
        self.reason = reason
        self.text = text
        self.engine = engine
        self.kind = kind
        self.level = level
        self.terms = terms
        self.touched = touched
    }

    /// As users see it who may not get a text of such an engine.
    func seen(at level: IntelligenceLevel) -> MessageTranslation {
        guard level < self.level || level == .off, status == .done || status == .queued else { return self }
        var seen = self
        (seen.status, seen.reason, seen.text, seen.engine, seen.kind) = (.unavailable, .consentRequired, nil, nil, nil)
        return seen
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("number", number)
            writer.member("of", of)
            writer.member("language", language.string)
            writer.member("tone", target.tone?.rawValue)
            writer.member("status", status.rawValue)
            writer.member("reason", reason?.rawValue)
            writer.member("text", text)
            writer.member("engine", engine)
            writer.member("kind", kind?.rawValue)
            writer.member("touched", touched)
        }
    }
}

/// The operator's bounds of what machines may make of texts.
package struct IntelligenceRules: Hashable, Sendable {
    /// The most that anybody can allow.
    package var ceiling: IntelligenceLevel
    /// The level that applies if nobody has chosen one.
    package var defaultLevel: IntelligenceLevel
    /// What hosted services may be given.
    package var budget: ProviderBudget
    /// Whether sounds leave the server to be transcribed.
    package var isTranscriberHosted: Bool
    /// Whether texts leave the server to be turned into vectors.
    package var isEmbedderHosted: Bool
    /// Terms of all conversations, which may have others for the same words.
    package var glossary: [GlossaryEntry]
    /// How readers are addressed who have not chosen a tone.
    package var tone: TranslationTone?
    /// Of models, by their names as engines.
    package var prices: [String: TokenPrice]
    /// Dollars for a minute of speech; 0 if it is not set.
    package var minutePrice: Double

    package init(
        ceiling: IntelligenceLevel = .full, defaultLevel: IntelligenceLevel = .local,
        budget: ProviderBudget = ProviderBudget(), isTranscriberHosted: Bool = false, isEmbedderHosted: Bool = false,
        glossary: [GlossaryEntry] = [], tone: TranslationTone? = nil, prices: [String: TokenPrice] = [:],
        minutePrice: Double = 0
    ) {
        self.prices = prices
        self.minutePrice = minutePrice
        self.glossary = glossary
        self.tone = tone
        self.budget = budget
        self.isTranscriberHosted = isTranscriberHosted
        self.isEmbedderHosted = isEmbedderHosted
        self.ceiling = ceiling
        self.defaultLevel = defaultLevel
    }
}

/// Which languages can be translated, as far as it can be said without asking an engine.
package struct TranslationSupport: Sendable {
    package enum Answer: Hashable, Sendable {
        case supported(isHosted: Bool)
        /// A hosted engine could, which the level does not allow.
        case hostedOnly
        case pairNotSupported
    }

    let answer: @Sendable (_ source: LanguageTag, _ target: LanguageTag, _ allowsHosted: Bool) -> Answer

    package init(_ answer: @escaping @Sendable (LanguageTag, LanguageTag, Bool) -> Answer) { self.answer = answer }
}

/// What made a translation, as its readers are shown it.
package enum TranslationKind: String, Hashable, Sendable, CaseIterable {
    /// A language model or a neural network.
    case model
    /// Dictionaries and rules, between close languages.
    case rules
}

/// How the reader is spoken to.
package enum TranslationTone: String, Hashable, Sendable, CaseIterable, Codable {
    case formal, informal
}

/// Into which language, and how its reader is spoken to.
package struct TranslationTarget: Hashable, Sendable {
    package var language: LanguageTag
    /// Nil as the text is.
    package var tone: TranslationTone?

    package init(_ language: LanguageTag, tone: TranslationTone? = nil) {
        self.language = language
        self.tone = tone
    }

    /// Both in a word or two, by which listeners are told apart.
    package var text: String { tone.map { "\(language.string) \($0.rawValue)" } ?? language.string }
}

/// A term that is always translated in the same way.
package struct GlossaryTerm: Hashable, Sendable {
    package var source: String
    package var target: String

    package init(source: String, target: String) {
        self.source = source
        self.target = target
    }
}

/// Texts to translate. All are by one author in one conversation: nobody's text can change how another's is translated.
package struct TranslationRequest: Hashable, Sendable {
    package static let maxTexts = 20

    /// 1 to `maxTexts`, each with words.
    package var texts: [MaskedText]
    package var source: LanguageTag
    package var target: LanguageTag
    package var tone: TranslationTone?
    /// Those that stand in the texts, for engines that know what to make of them.
    package var terms: [GlossaryTerm]

    package init(
        texts: [MaskedText], source: LanguageTag, target: LanguageTag, tone: TranslationTone? = nil,
        terms: [GlossaryTerm] = []
    ) {
        self.texts = texts
        self.source = source
        self.target = target
        self.tone = tone
        self.terms = terms
    }
}

/// What became of one text.
package enum TranslationResult: Hashable, Sendable {
    /// With everything that was kept.
    case text(String)
    case failed(TranslationFailure)
}

/// Why there is no translation.
package enum TranslationFailure: Error, Hashable, Sendable {
    /// What had to be kept did not come back once each.
    case damaged
    /// The engine does not know too many of the words.
    case unknownWords
    /// What came back is empty, too long, cut or of no shape.
    case invalidResponse(String)
    /// The engine does not translate between these languages.
    case pairNotSupported
    case textTooLong
    /// It did not respond in time, cannot be reached or has ended.
    case unavailable(String)
    /// It refused, and accepts none before this time has passed.
    case limited(retryAfter: Duration?)
    /// It refused for good, such as for a wrong key.
    case refused(String)
    /// A text that has ended an engine twice is not given to it again.
    case ended
    case cancelled

    /// Whether the same request may succeed later.
    package var isTemporary: Bool {
        switch self {
        case .unavailable, .limited, .cancelled: true
        case .damaged, .unknownWords, .invalidResponse, .pairNotSupported, .textTooLong, .refused, .ended: false
        }
    }
}

/// Translates texts. It validates what it is given back, and ends at the deadline or when its task is cancelled. How many
/// requests run at a time, and whether one is repeated, is up to who asks.
package protocol TranslationEngine: Sendable {
    /// As readers are shown it, such as `apertium` or a model's name: at most 64 characters.
    var name: String { get }
    var kind: TranslationKind { get }
    /// Whether texts leave what the operator runs.
    var isHosted: Bool { get }

    /// Of the requests of these texts, before they are sent; none of an engine that knows no tokens.
    func estimate(of request: TranslationRequest) -> TokenUsage

    func translates(from source: LanguageTag, into target: LanguageTag) -> Bool

    /// - Returns: a result for each text, in their order.
    /// - Throws: what concerns all of them.
    func translate(
        _ request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult]
}

extension TranslationEngine {
    package func estimate(of request: TranslationRequest) -> TokenUsage { TokenUsage() }
}

/// What may be made of a text by machines. Each level allows what those before it do.
package enum IntelligenceLevel: String, Hashable, Sendable, CaseIterable, Codable {
    /// Nothing.
    case off
    /// What engines make that the operator runs: the text stays on the server.
    case local
    /// Hosted services may translate and transcribe it.
    case translate
    /// Hosted services may do everything.
    case full

    private var rank: Int {
        switch self {
        case .off: 0
        case .local: 1
        case .translate: 2
        case .full: 3
        }
    }

    /// Whether engines may translate a text of this level.
    ///
    /// - Parameter isHosted: whether the text leaves the server.
    package func allowsTranslation(byHosted isHosted: Bool) -> Bool { self >= (isHosted ? .translate : .local) }

    /// Whether what is said may be transcribed.
    ///
    /// - Parameter isHosted: whether the sound leaves the server.
    package func allowsTranscription(byHosted isHosted: Bool) -> Bool { allowsTranslation(byHosted: isHosted) }

    /// Whether a text may be turned into a vector, by which others find it.
    ///
    /// - Parameter isHosted: whether the text leaves the server.
    package func allowsEmbedding(byHosted isHosted: Bool) -> Bool { self >= (isHosted ? .full : .local) }
}

extension IntelligenceLevel: Comparable {
    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

/// What somebody wants of translations, or of hints.
package enum TranslationMode: String, Hashable, Sendable, CaseIterable, Codable {
    /// What they look at is translated, or explained, unasked.
    case automatic
    case onRequest
    case off
}

/// How somebody reads what others write in other languages.
package struct TranslationSettings: Hashable, Sendable {
    package var mode: TranslationMode
    /// Nil for the first language of the user's profile.
    package var into: LanguageTag?
    /// Nil as the server says.
    package var tone: TranslationTone?

    package init(mode: TranslationMode = .onRequest, into: LanguageTag? = nil, tone: TranslationTone? = nil) {
        self.mode = mode
        self.into = into
        self.tone = tone
    }
}

extension TranslationSettings: Codable {
    private enum Keys: CodingKey { case mode, into, tone }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        mode = try container.decode(TranslationMode.self, forKey: .mode)
        into = try container.decodeIfPresent(String.self, forKey: .into).map { tag in
            guard let language = LanguageTag(wellFormed: tag)?.asTarget else {
                throw DecodingError.dataCorruptedError(
                    forKey: .into, in: container,
                    debugDescription: "This is not the tag of a language, such as en or pt-BR.")
            }
            return language
        }
        tone = try container.decodeIfPresent(TranslationTone.self, forKey: .tone)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(mode, forKey: .mode)
        try container.encodeIfPresent(into?.string, forKey: .into)
        try container.encodeIfPresent(tone, forKey: .tone)
    }
}

/// What a user wants of machines, in general or in one conversation; what is nil is as the more general says.
package struct LanguageChoices: Hashable, Sendable {
    package var translation: TranslationSettings?
    /// The most that may be made of what the user writes.
    package var intelligence: IntelligenceLevel?
    /// When messages are explained.
    package var hints: TranslationMode?

    package init(
        translation: TranslationSettings? = nil, intelligence: IntelligenceLevel? = nil, hints: TranslationMode? = nil
    ) {
        self.hints = hints
        self.translation = translation
        self.intelligence = intelligence
    }
}

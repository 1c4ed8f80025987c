/// The language of a message's text.
package struct MessageLanguage: Hashable, Sendable {
    package enum Confidence: String, Hashable, Sendable, CaseIterable {
        /// The engine is sure, or the author said so.
        case high
        /// A guess: it is not translated for who may know the language.
        case low
    }

    package var code: LanguageTag
    package var confidence: Confidence

    package init(code: LanguageTag, confidence: Confidence) {
        self.code = code
        self.confidence = confidence
    }
}

/// What an engine says of a text: how well each language fits, the best first. It knows nothing of who wrote it.
package struct LanguageScores: Hashable, Sendable {
    package struct Score: Hashable, Sendable {
        package var code: LanguageTag
        /// 0 to 1.
        package var value: Double

        package init(code: LanguageTag, value: Double) {
            self.code = code
            self.value = value
        }
    }

    /// At most `maxScores`.
    package let scores: [Score]
    /// Whether the engine is sure of the first.
    package let isReliable: Bool

    package static let maxScores = 8
    /// What the languages of the author, and English, have in advance. A larger one would be wrong more often where
    /// somebody writes in a language that they did not name.
    package static let prior = 0.1

    /// - Parameter text: tells Chinese in traditional characters, which engines may not, from that in simplified ones.
    package init(_ scores: [Score], isReliable: Bool, text: IdentifiableText) {
        self.scores = scores.sorted { $0.value > $1.value }.prefix(Self.maxScores).map { score in
            guard score.code.string == "zh" else { return score }
            return Score(code: ChineseScript.tag(of: text.text), value: score.value)
        }
        self.isReliable = isReliable
    }

    /// The language of a text by somebody who knows `languages`, in the order of their preference.
    package func language(knowing languages: [LanguageTag]) -> MessageLanguage? {
        let adjusted = scores.map { score in
            let isExpected = score.code.primaryLanguage == "en" || score.code.isReadable(knowing: languages)
            return Score(code: score.code, value: score.value + (isExpected ? Self.prior : 0))
        }
        guard let best = adjusted.enumerated().max(by: { ($0.1.value, $1.0) < ($1.1.value, $0.0) })?.element else {
            return nil
        }
        return MessageLanguage(
            code: named(best.code, languages), confidence: isReliable && best.code == scores[0].code ? .high : .low)
    }

    /// Malay and Indonesian, and what is written in Norway, are told apart by what the author says to write: engines do not
    /// tell them apart.
    private func named(_ code: LanguageTag, _ languages: [LanguageTag]) -> LanguageTag {
        let alternatives: [String] =
            switch code.string {
            case "ms", "id": ["ms", "id"]
            case "no": ["nb", "nn"]
            default: []
            }
        for language in languages {
            if let one = alternatives.first(where: { $0 == language.primaryLanguage }) {
                return LanguageTag(wellFormed: one) ?? code
            }
        }
        return code
    }
}

package import Languages
import Model

/// What is found in a text before it is stored.
package struct TextAnalysis: Hashable, Sendable {
    package var ranges: [TextRange]
    /// Nil if the text is in no language, or the language is not known.
    package var scores: LanguageScores?
}

/// Finds what there is to be found in a text.
package struct TextAnalyzer: Sendable {
    /// Nil where languages are not identified.
    private let engine: (any LanguageEngine)?

    package init(engine: (any LanguageEngine)? = nil) { self.engine = engine }

    /// The text with its analysis, so that the transaction that stores it does not have to make one.
    package func analyzed(_ text: MessageText) -> MessageText {
        var text = text
        text.analysis = analysis(of: text)
        return text
    }

    func analysis(of text: MessageText) -> TextAnalysis {
        if let known = text.analysis { return known }
        let ranges = RangeFinder.ranges(in: text.text).ranges
        return TextAnalysis(ranges: ranges, scores: engine.flatMap { scores(of: text.text, ranges, by: $0) })
    }

    /// Of a text whose ranges are known.
    func analysis(of text: String, _ ranges: [TextRange]) -> TextAnalysis {
        TextAnalysis(ranges: ranges, scores: engine.flatMap { scores(of: text, ranges, by: $0) })
    }

    private func scores(of text: String, _ ranges: [TextRange], by engine: any LanguageEngine) -> LanguageScores? {
        let masked = ranges.filter(\.kind.isSameInEveryLanguage).map { $0.start..<$0.end }
        return IdentifiableText(text, omitting: masked).flatMap { engine.scores(of: $0) }
    }
}

extension TextRange.Kind {
    /// Whether what is in such a range says nothing of the language of the text around it.
    var isSameInEveryLanguage: Bool {
        switch self {
        case .mention, .link, .code, .block, .emoji: true
        case .bold, .italic, .strike: false
        }
    }
}

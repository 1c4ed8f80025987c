package import Languages

/// Between which languages an engine translates, as an operator lists them.
///
/// ```
/// en:pt-BR     from English into Portuguese of Brazil
/// *:en         from every language into English
/// ```
package struct LanguagePairs: Hashable, Sendable {
    private struct Pair: Hashable {
        /// Nil: every one.
        var source: LanguageTag?
        var target: LanguageTag?
    }

    /// Empty: every pair.
    private let pairs: [Pair]

    package static let all = LanguagePairs(pairs: [])

    private init(pairs: [Pair]) { self.pairs = pairs }

    /// - Returns: nil if one is not written so.
    package init?(_ texts: [String]) {
        var pairs: [Pair] = []
        for text in texts {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { return nil }
            let tags = parts.map { $0 == "*" ? nil : LanguageTag(wellFormed: $0) }
            guard zip(parts, tags).allSatisfy({ $0 == "*" || $1 != nil }) else { return nil }
            pairs.append(Pair(source: tags[0], target: tags[1]))
        }
        self.pairs = pairs
    }

    package func contains(_ source: LanguageTag, _ target: LanguageTag) -> Bool {
        pairs.isEmpty
            || pairs.contains { pair in
                (pair.source.map { source.isReadable(knowing: $0) } ?? true)
                    && (pair.target.map { $0.isReadable(knowing: target) } ?? true)
            }
    }

    /// One of them, for a test.
    package var example: (source: String, target: String) {
        (pairs.first?.source?.string ?? "en", pairs.first?.target?.string ?? "es")
    }
}

/// Explains what it knows of texts, at once and on this server: idioms of WordNet, where it is installed, abbreviations of
/// chats, and forms of address. What a text refers to it cannot know.
///
/// It would rather miss something than explain what needs no explanation. Its time grows with the length of the text.
package struct HintLexicon: Sendable {
    /// As readers are shown it.
    package static let name = "lexicon"
    /// In which language it explains.
    package static let language = LanguageTag(constant: "en")

    private let idioms: IdiomIndex

    package init(idioms: IdiomIndex = IdiomIndex()) { self.idioms = idioms }

    /// - Parameters:
    ///   - kept: what is no text of anybody: links, mentions, code and emoji, as offsets in UTF-16 code units.
    ///   - language: of the text; nil if nobody knows.
    ///   - isCertain: whether that is more than a guess.
    ///   - reader: into which language equivalents are.
    /// - Returns: at most `Hint.maxCount`, in the order of the text, which do not overlap.
    package func hints(
        in text: String, keeping kept: some Sequence<Range<Int>>, language: LanguageTag?, isCertain: Bool = true,
        reader: LanguageTag? = nil
    ) -> [Hint] {
        let words = HintWords(text, keeping: kept).words
        var hints: [Hint] = []
        var known: Set<String> = []
        // Whole idioms are rare in other languages by chance, so a guess is enough.
        let hasIdioms = language?.primaryLanguage == "en" || language == nil
        var index = 0
        while index < words.count, hints.count < Hint.maxCount {
            if hasIdioms, let match = idioms.match(words, at: index) {
                if known.insert(match.idiom.key).inserted {
                    let (start, end) = (words[index].range.lowerBound, words[index + match.count - 1].range.upperBound)
                    hints.append(
                        Hint(start: start, length: end - start, kind: .idiom, meaning: match.idiom.meaning))
                }
                index += match.count
                continue
            }
            let word = words[index]
            if let row = ChatAbbreviations.row(for: word, language: language, isCertain: isCertain),
                known.insert(row.expansion).inserted
            {
                hints.append(Hint(row, at: word.range, reader: reader))
            }
            index += 1
        }
        if let formal = FormalityRules.formalAddress(in: words, language: isCertain ? language : nil),
            !hints.contains(where: { $0.start < formal.end && formal.start < $0.end })
        {
            if hints.count == Hint.maxCount { hints.removeLast() }
            hints.append(formal)
            hints.sort { $0.start < $1.start }
        }
        return hints
    }
}

extension Hint {
    fileprivate init(_ row: ChatAbbreviations.Row, at range: Range<Int>, reader: LanguageTag?) {
        let other = reader.flatMap { ChatAbbreviations.equivalent(of: row, in: $0) }
        self.init(
            start: range.lowerBound, length: range.count, kind: .slang, meaning: row.meaning, expansion: row.expansion,
            equivalent: other)
    }
}

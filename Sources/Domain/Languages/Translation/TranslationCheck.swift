extension PlaceholderText {
    /// A translation may be so many times as long as its text, and `extraLength` characters longer.
    static let maxGrowth = 4
    static let extraLength = 200

    /// What an engine returned for this text, checked: it says something, is not much longer, has no control characters and
    /// no halves of characters that the text has not, and everything kept came back once.
    package func result(_ translation: String) -> TranslationResult {
        let scalars = translation.unicodeScalars
        if !scalars.contains(where: { !$0.properties.isWhitespace }) {
            return .failed(.invalidResponse("an empty translation"))
        }
        if scalars.count > Self.maxGrowth * text.unicodeScalars.count + Self.extraLength {
            return .failed(.invalidResponse("a translation that is much longer than the text"))
        }
        let strange = scalars.first { scalar in
            scalar.properties.generalCategory == .control && scalar != "\n" || scalar == "\u{FFFD}"
        }
        if let strange, !text.unicodeScalars.contains(strange) {
            return .failed(.invalidResponse("a translation with characters of no meaning"))
        }
        guard let restored = restoredWithMargins(translation) else { return .failed(.damaged) }
        return .text(restored)
    }

    /// Engines remove white space at both ends, or add some: it is the text's.
    private func restoredWithMargins(_ translation: String) -> String? {
        let isSpace = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        let scalars = text.unicodeScalars
        let start = scalars.prefix(while: isSpace)
        let end = scalars.dropFirst(start.count).reversed().prefix(while: isSpace).reversed()
        let inner = translation.unicodeScalars.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        var text = String.UnicodeScalarView()
        text.append(contentsOf: start)
        text.append(contentsOf: inner)
        text.append(contentsOf: end)
        return restored(String(text))
    }
}

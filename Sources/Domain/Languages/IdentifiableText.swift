/// What of a text says in which language it is: its letters, without what everybody writes alike.
///
/// "ok" or a link would be taken for some language or other, so links, mentions, code and emoji are left out, and so are
/// words with a digit in them, names with an `@` and addresses.
package struct IdentifiableText: Hashable, Sendable {
    /// What is beyond says nothing new, and engines read no more. In bytes of UTF-8.
    package static let maxBytes = 1_000
    /// Fewer letters are no language: "ok", "+1".
    package static let minLetters = 3

    /// Words with one space between them.
    package let text: String

    /// Nil if there are too few letters.
    ///
    /// - Parameter omitted: offsets in UTF-16 code units, by their start; they may contain one another.
    package init?(_ text: String, omitting omitted: some Sequence<Range<Int>>) {
        var kept = String.UnicodeScalarView()
        var byteCount = 0
        var letters = 0
        var word = Word()
        func finish() {
            defer { word = Word() }
            guard word.letters > 0, word.isLanguage else { return }
            letters += word.letters
            if !kept.isEmpty { kept.append(" ") }
            kept.append(contentsOf: word.scalars)
        }
        var ranges = omitted.makeIterator()
        var range = ranges.next()
        var offset = 0
        for scalar in text.unicodeScalars {
            guard byteCount < Self.maxBytes else { break }
            while let one = range, one.upperBound <= offset { range = ranges.next() }
            if let one = range, one.contains(offset) {
                finish()
            } else {
                byteCount += scalar.utf8Length
                if scalar.properties.isWhitespace { finish() } else { word.append(scalar) }
            }
            offset += scalar.value > 0xFFFF ? 2 : 1
        }
        finish()
        guard letters >= Self.minLetters else { return nil }
        self.text = String(kept)
    }

    /// What stands between spaces.
    private struct Word {
        var scalars: [Unicode.Scalar] = []
        var letters = 0
        var isLanguage = true

        mutating func append(_ scalar: Unicode.Scalar) {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
                letters += 1
            case .decimalNumber, .letterNumber, .otherNumber: isLanguage = false
            case .control, .privateUse, .surrogate, .unassigned: return
            default: if scalar == "@" || scalar == "_" { isLanguage = false }
            }
            scalars.append(scalar)
        }
    }
}

extension Unicode.Scalar {
    fileprivate var utf8Length: Int { UTF8.width(self) }
}

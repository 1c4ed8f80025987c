/// The words of a text, with where they stand: what is kept has none, and no phrase goes across it or across punctuation.
struct HintWords: Sendable {
    struct Word: Hashable, Sendable {
        /// In lower case, with a straight apostrophe.
        var text: String
        /// In UTF-16 code units.
        var range: Range<Int>
        /// Whether there are only spaces and hyphens between it and the word before.
        var followsDirectly: Bool
        /// Whether it is written in lower case alone.
        var isLowercase: Bool
        /// Whether it is written in upper case alone.
        var isUppercase: Bool
    }

    /// What is beyond is not looked at.
    static let maxCount = 4_000

    private(set) var words: [Word] = []

    /// - Parameter kept: offsets in UTF-16 code units, in any order; they may overlap.
    init(_ text: String, keeping kept: some Sequence<Range<Int>>) {
        var ranges = kept.filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }[...]
        var offset = 0
        var (word, start) = (String.UnicodeScalarView(), 0)
        var followsDirectly = false
        // Apostrophes belong to a word that goes on after them.
        var apostrophes = 0
        func finish() {
            defer { (word, apostrophes) = (String.UnicodeScalarView(), 0) }
            if word.isEmpty { return }
            let end = offset - apostrophes
            word.removeLast(apostrophes)
            guard !word.isEmpty, words.count < Self.maxCount else { return }
            let written = String(word)
            let lower = written.lowercased()
            words.append(
                Word(
                    text: lower, range: start..<end, followsDirectly: followsDirectly && !words.isEmpty,
                    isLowercase: written == lower, isUppercase: written != lower && written == written.uppercased()))
            followsDirectly = apostrophes == 0
        }
        for scalar in text.unicodeScalars {
            while let range = ranges.first, range.upperBound <= offset { ranges.removeFirst() }
            if let range = ranges.first, range.contains(offset) {
                finish()
                followsDirectly = false
            } else if Self.isLetter(scalar) {
                if word.isEmpty { start = offset }
                word.append(scalar)
                apostrophes = 0
            } else if scalar == "'" || scalar == "\u{2019}" {
                if word.isEmpty {
                    followsDirectly = false
                } else {
                    word.append("'")
                    apostrophes += 1
                }
            } else {
                finish()
                if scalar != " " && scalar != "-" && scalar != "\u{A0}" { followsDirectly = false }
            }
            offset += scalar.value > 0xFFFF ? 2 : 1
        }
        finish()
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber:
            return true
        // Joiners stand inside of words of Hindi and Persian.
        default: return scalar == "\u{200C}" || scalar == "\u{200D}"
        }
    }
}

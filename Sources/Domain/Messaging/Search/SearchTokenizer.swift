/// Makes the terms by which messages are found, of their text and of what is searched for.
///
/// A word is a run of letters, marks and numbers, folded: lower case, without accents. Scripts that write no spaces between
/// words (Han, Hiragana, Katakana, Thai, Lao, Khmer, Burmese) give a term for each two neighbouring characters, and one for
/// a character that stands alone.
package struct SearchTokenizer {
    /// Of a word, in scalars; the rest of a longer one is not searched.
    package static let maxLength = 32
    /// Distinct terms of a text; those after it are not searched.
    package static let maxTerms = 4_096

    /// A term, and where the text has it.
    package struct Token: Hashable, Sendable {
        package var term: String
        /// In UTF-16 code units.
        package var start: Int
        package var length: Int
        /// Its place among the words: terms of one phrase follow each other.
        package var position: Int
    }

    /// The distinct terms of a text, in the order of the text.
    package static func terms(in text: String) -> [String] {
        var seen: Set<String> = []
        var terms: [String] = []
        for token in tokens(in: text) where terms.count < maxTerms && seen.insert(token.term).inserted {
            terms.append(token.term)
        }
        return terms
    }

    package static func tokens(in text: String) -> [Token] {
        var tokenizer = SearchTokenizer()
        for scalar in text.unicodeScalars { tokenizer.take(scalar) }
        tokenizer.endWord()
        tokenizer.endRun()
        return tokenizer.tokens
    }

    private var tokens: [Token] = []
    private var offset = 0
    private var position = 0
    private var word: [Unicode.Scalar] = []
    private var wordStart = 0
    /// The last character of a script without spaces, and whether it is part of a term already.
    private var previous: (scalar: Unicode.Scalar, start: Int, end: Int, isUsed: Bool)?

    private init() {}

    private mutating func take(_ scalar: Unicode.Scalar) {
        let start = offset
        offset += scalar.value > 0xFFFF ? 2 : 1
        if Self.isWithoutSpaces(scalar) {
            endWord()
            extendRun(with: scalar, from: start)
        } else if Self.isPartOfWord(scalar) {
            // A mark belongs to the character before it, in both kinds of scripts.
            if previous != nil, Self.isMark(scalar) { return }
            endRun()
            if word.isEmpty { wordStart = start }
            word.append(scalar)
        } else if !Self.isIgnored(scalar) {
            endWord()
            endRun()
        }
    }

    private mutating func extendRun(with scalar: Unicode.Scalar, from start: Int) {
        let folded = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
        if let previous {
            var term = String.UnicodeScalarView()
            term.append(previous.scalar)
            term.append(folded)
            add(String(term), from: previous.start, to: offset)
        }
        previous = (folded, start, offset, previous != nil)
    }

    private mutating func endRun() {
        guard let last = previous else { return }
        if !last.isUsed { add(String(last.scalar), from: last.start, to: last.end) }
        previous = nil
    }

    private mutating func endWord() {
        guard !word.isEmpty else { return }
        let term = TermFolding.fold(word)
        if !term.isEmpty {
            add(term, from: wordStart, to: wordStart + word.reduce(0) { $0 + ($1.value > 0xFFFF ? 2 : 1) })
        }
        word.removeAll(keepingCapacity: true)
    }

    private mutating func add(_ term: String, from start: Int, to end: Int) {
        tokens.append(Token(term: term, start: start, length: end - start, position: position))
        position += 1
    }
}

// What characters are.
extension SearchTokenizer {
    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return (0x30...0x39).contains(scalar.value) || (0x61...0x7A).contains(scalar.value | 0x20)
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark:
            return true
        default: return false
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark: true
        default: false
        }
    }

    /// Joiners and soft hyphens divide no word.
    private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isDefaultIgnorableCodePoint }

    private static func isWithoutSpaces(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E01...0x0E30, 0x0E32...0x0E33, 0x0E40...0x0E46: true  // Thai, but for marks
        case 0x0E81...0x0EB0, 0x0EB2...0x0EB3, 0x0EC0...0x0EC6, 0x0EDC...0x0EDF: true  // Lao
        case 0x1000...0x102A, 0x103F, 0x1050...0x1055: true  // Burmese
        case 0x1780...0x17B3: true  // Khmer
        case 0x3005...0x3007, 0x3041...0x3096, 0x309D...0x309F, 0x30A1...0x30FA, 0x30FC...0x30FF, 0x31F0...0x31FF,
            0xFF66...0xFF9D:
            true  // Hiragana and Katakana
        case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFD: true  // Han
        default: false
        }
    }
}

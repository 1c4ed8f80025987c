internal import Languages

/// Divides texts into terms: in the same way for messages and for queries, and for texts that look the same
/// (``NormalizedText``).
///
/// A unit is a word: a run of letters, marks and numbers, folded to lower case without accents. In scripts that write
/// no spaces between words (Han, Hiragana, Katakana, Thai, Lao, Khmer, Burmese) each character is a unit, and the index
/// has a term for each two neighbouring ones.
package struct SearchTokenizer {
    /// Of a word, in scalars; the rest of a longer one is not searched.
    package static let maxLength = 32
    /// Distinct terms of a text; what comes after them is not searched.
    package static let maxTerms = 4_096
    /// The version of this type. An index of another version is built again: raise it with every change of the terms of
    /// a text.
    package static let version: Int64 = 4

    /// A word, or a character of a script without spaces, and where the text has it.
    package struct Unit: Hashable, Sendable {
        package var term: SearchTerm
        /// In UTF-16 code units.
        package var start: Int
        package var length: Int
        package var isCharacter: Bool
        /// Whether it is a character that follows another one with nothing in between.
        package var isJoined: Bool

        package var end: Int { start + length }
    }

    /// The distinct terms of a text, in the order of the text.
    package static func terms(in text: String) -> [SearchTerm] {
        var seen: Set<SearchTerm> = []
        return terms(of: units(in: text)).filter { seen.insert($0).inserted }
    }

    /// The units of a text, as far as it is searched.
    package static func units(in text: String) -> [Unit] {
        var tokenizer = SearchTokenizer()
        for scalar in text.unicodeScalars { tokenizer.read(scalar) }
        tokenizer.endSegment()
        tokenizer.endWord()
        return searched(tokenizer.units)
    }

    /// A term for each unit: the character and its neighbour where the next one is joined to it.
    static func terms(of units: [Unit]) -> [SearchTerm] {
        units.indices.map { index in
            let next = index + 1
            guard next < units.count, units[next].isJoined else { return units[index].term }
            return SearchTerm(units[index].term.text + units[next].term.text)
        }
    }

    /// Without those after `maxTerms` distinct terms.
    private static func searched(_ units: [Unit]) -> [Unit] {
        guard units.count > maxTerms else { return units }
        var seen: Set<SearchTerm> = []
        for (index, term) in terms(of: units).enumerated() where seen.insert(term).inserted && seen.count > maxTerms {
            return Array(units.prefix(index))
        }
        return units
    }

    private var units: [Unit] = []
    private var offset = 0
    /// The character that was read last, unless it is in the segment.
    private var pending: NormalizedScalar?
    /// A segment that is normalized together: a scalar with the marks after it, or other scalars that change with those
    /// before them.
    private var segment: [NormalizedScalar] = []
    private var word: [Unicode.Scalar] = []
    private var wordStart = 0
    private var wordEnd = 0
    /// Whether the last unit is a character that another one may follow.
    private var isInRun = false

    private init() {}

    private mutating func read(_ scalar: Unicode.Scalar) {
        let start = offset
        offset += scalar.value > 0xFFFF ? 2 : 1
        let one = NormalizedScalar(scalar, start: start, end: offset)
        if Self.joinsSegment(scalar) {
            if let pending { segment.append(pending) }
            pending = nil
            segment.append(one)
        } else {
            endSegment()
            pending = one
        }
    }

    private mutating func endSegment() {
        if var one = pending {
            if one.scalar.value > 0xFF00 { one.scalar = NormalizedText.inUsualWidth(one.scalar) }
            take(one)
        } else if !segment.isEmpty {
            NormalizedText.normalize(&segment)
            for one in segment { take(one) }
            segment.removeAll(keepingCapacity: true)
        }
        pending = nil
    }

    private mutating func take(_ one: NormalizedScalar) {
        let scalar = one.scalar
        if Self.isWithoutSpaces(scalar) {
            endWord()
            // None of these scripts has letters of two cases.
            add(String(scalar), from: one.start, to: one.end, isCharacter: true)
            isInRun = true
        } else if Self.isPartOfWord(scalar) {
            // A mark belongs to the character before it, in both kinds of scripts.
            if isInRun, Self.isMark(scalar) { return extendLast(to: one.end) }
            isInRun = false
            // Marks stand in another order than they were written in.
            wordStart = word.isEmpty ? one.start : min(wordStart, one.start)
            wordEnd = word.isEmpty ? one.end : max(wordEnd, one.end)
            word.append(scalar)
        } else if !Self.isIgnored(scalar) {
            endWord()
            isInRun = false
        }
    }

    private mutating func endWord() {
        guard !word.isEmpty else { return }
        let term = TermFolding.fold(word)
        if !term.isEmpty { add(term, from: wordStart, to: wordEnd, isCharacter: false) }
        word.removeAll(keepingCapacity: true)
    }

    private mutating func extendLast(to end: Int) {
        guard var last = units.popLast() else { return }
        last.length = max(last.end, end) - last.start
        units.append(last)
    }

    private mutating func add(_ term: String, from start: Int, to end: Int, isCharacter: Bool) {
        units.append(
            Unit(
                term: SearchTerm(term), start: start, length: end - start, isCharacter: isCharacter,
                isJoined: isCharacter && isInRun))
    }
}

// What characters are.
extension SearchTokenizer {
    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return (0x30...0x39).contains(scalar.value) || (0x61...0x7A).contains(scalar.value | 0x20)
        }
        return ScalarTraits(scalar).contains(.partOfWord)
    }

    private static func joinsSegment(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Latin, Han and the syllables of Hangul, which most texts consist of.
        case 0..<0x300, 0x3400...0x9FFF, 0xAC00...0xD7A3: false
        default: ScalarTraits(scalar).contains(.joinsSegment)
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool { ScalarTraits(scalar).contains(.mark) }

    /// Joiners and soft hyphens divide no word.
    private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool { ScalarTraits(scalar).contains(.ignorable) }

    private static func isWithoutSpaces(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E01...0x0E30, 0x0E32...0x0E33, 0x0E40...0x0E46: true  // Thai, but for marks
        case 0x0E81...0x0EB0, 0x0EB2...0x0EB3, 0x0EC0...0x0EC6, 0x0EDC...0x0EDF: true  // Lao
        case 0x1000...0x102A, 0x103F, 0x1050...0x1055: true  // Burmese
        case 0x1780...0x17B3: true  // Khmer
        case 0x3005...0x3007, 0x3041...0x3096, 0x309D...0x309F, 0x30A1...0x30FA, 0x30FC...0x30FF, 0x31F0...0x31FF:
            true  // Hiragana and Katakana
        case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFD: true  // Han
        default: false
        }
    }
}

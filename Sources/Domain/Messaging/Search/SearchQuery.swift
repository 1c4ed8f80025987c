package import Model

/// What is searched for: phrases, all of which a text must have.
///
/// A query is words with spaces between them. Text between quotation marks is one phrase, whose words follow each
/// other, and so is a word that is divided by other characters, as in `e-mail`, or written in a script without spaces.
/// Of the last word the beginning is enough, unless it is quoted. A missing closing quotation mark is added at the end.
package struct SearchQuery: Hashable, Sendable {
    /// In Unicode scalars.
    package static let maxLength = 256
    /// Words, and characters of scripts without spaces.
    package static let maxUnits = 32

    package struct Phrase: Hashable, Sendable {
        package var units: [SearchTokenizer.Unit]
        /// Whether the last word is the beginning of one.
        package var isPrefix: Bool
    }

    package let phrases: [Phrase]
    /// As it was written, with spaces for plus signs: that is how forms and URLs of browsers write them.
    package let text: String

    /// - Throws: `invalid_request` of the field: of a query that is too long or has nothing to search for.
    package init(_ text: String, field: String = "query") throws(Problem) {
        guard text.utf8.count <= Self.maxLength * 4, text.unicodeScalars.count <= Self.maxLength else {
            throw .invalid(field, "A query has at most \(Self.maxLength) characters.")
        }
        var phrases: [Phrase] = []
        for part in Self.parts(of: text) {
            let units = SearchTokenizer.units(in: part.text)
            if !units.isEmpty { phrases.append(Phrase(units: units, isPrefix: !part.isQuoted)) }
        }
        guard let last = phrases.indices.last else {
            throw .invalid(field, "A query holds something to search for: a letter or a number.")
        }
        for index in phrases.indices where index != last { phrases[index].isPrefix = false }
        guard phrases.reduce(0, { $0 + $1.units.count }) <= Self.maxUnits else {
            throw .invalid(
                field,
                "A query has at most \(Self.maxUnits) words, of which each character of a script without spaces is one."
            )
        }
        // A repeated phrase does not change the result, but would cost as much again.
        var seen: Set<Phrase> = []
        self.phrases = phrases.filter { seen.insert($0.withoutPositions).inserted }
        self.text = text.replacing("+", with: " ")
    }

    private static let marks: Set<Unicode.Scalar> = ["\"", "“", "”", "„", "‟", "«", "»", "「", "」", "＂"]

    private static func parts(of text: String) -> [(text: String, isQuoted: Bool)] {
        var parts: [(text: String, isQuoted: Bool)] = []
        var part = String.UnicodeScalarView()
        var isQuoted = false
        func end(_ wasClosed: Bool) {
            if !part.isEmpty { parts.append((String(part), wasClosed)) }
            part.removeAll()
        }
        for scalar in text.unicodeScalars {
            if marks.contains(scalar) {
                end(isQuoted)
                isQuoted.toggle()
            } else if !isQuoted, scalar.properties.isWhitespace || scalar == "+" {
                // Forms and browsers' URLs have a plus sign for a space.
                end(false)
            } else {
                part.append(scalar)
            }
        }
        // A user who is still typing has not closed it yet.
        end(false)
        return parts
    }
}

extension SearchQuery.Phrase {
    /// What is searched for, wherever the query has it.
    fileprivate var withoutPositions: Self {
        var phrase = self
        for index in phrase.units.indices { (phrase.units[index].start, phrase.units[index].length) = (0, 0) }
        return phrase
    }

    /// What the index has of a text that has the phrase.
    var lookups: [SearchLookup] {
        units.indices.compactMap { index in
            let (unit, isLast) = (units[index], index == units.count - 1)
            guard unit.isCharacter else { return isLast && isPrefix ? .prefix(unit.term) : .term(unit.term) }
            if !isLast, units[index + 1].isJoined {
                return .term(SearchTerm(unit.term.text + units[index + 1].term.text))
            }
            // The last one of several is in the term before it; in a text, one alone may be followed by others.
            return unit.isJoined ? nil : .prefix(unit.term)
        }
    }

    /// The indices at which the phrase begins in a text.
    func occurrences(in text: [SearchTokenizer.Unit]) -> [Int] {
        guard text.count >= units.count else { return [] }
        return (0...text.count - units.count).filter { begins(at: $0, in: text) }
    }

    private func begins(at start: Int, in text: [SearchTokenizer.Unit]) -> Bool {
        for (index, unit) in units.enumerated() {
            let other = text[start + index]
            guard unit.isCharacter == other.isCharacter, !unit.isJoined || other.isJoined else { return false }
            let isPart = isPrefix && !unit.isCharacter && index == units.count - 1
            guard isPart ? other.term.hasPrefix(unit.term) : other.term == unit.term else { return false }
        }
        return true
    }
}

/// What is looked up in the index.
package enum SearchLookup: Hashable, Sendable {
    case term(SearchTerm)
    /// All terms that begin so.
    case prefix(SearchTerm)

    package func matches(_ term: SearchTerm) -> Bool {
        switch self {
        case .term(let wanted): term == wanted
        case .prefix(let wanted): term.hasPrefix(wanted)
        }
    }
}

package import Model

/// A term and how it is always translated into one language.
package struct GlossaryEntry: Hashable, Sendable {
    package static let maxLength = 100

    package var source: String
    package var target: String
    package var language: LanguageTag

    package init(source: String, target: String, language: LanguageTag) {
        self.source = source
        self.target = target
        self.language = language
    }
}

// As JSON.
extension GlossaryEntry {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("source", source)
            writer.member("target", target)
            writer.member("language", language.string)
        }
    }

    package static func json(_ entries: [GlossaryEntry]) -> String {
        var writer = JSONWriter(capacity: 64 * entries.count)
        writer.array(entries) { $1.write(to: &$0) }
        return writer.text
    }

    /// Those that `json` has written. One whose language is no tag is left out.
    package static func list(_ json: String) throws(JSONParseError) -> [GlossaryEntry] {
        var reader = JSONReader(Array(json.utf8))
        var entries: [GlossaryEntry] = []
        try reader.beginArray()
        while try reader.hasElement() {
            var (source, target, language) = ("", "", "")
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "source": source = try reader.readString()
                case "target": target = try reader.readString()
                case "language": language = try reader.readString()
                default: _ = try reader.skip()
                }
            }
            if let language = try? LanguageTag(language) {
                entries.append(GlossaryEntry(source: source, target: target, language: language))
            }
        }
        try reader.finish()
        return entries
    }
}

extension [GlossaryEntry] {
    /// Those into one language.
    package func terms(into target: LanguageTag) -> [GlossaryTerm] {
        filter { target.isReadable(knowing: [$0.language]) }
            .map { GlossaryTerm(source: $0.source, target: $0.target) }
    }
}

/// Terms and their translations.
///
/// A term is found as a whole word, as it is written or with a capital at its beginning, which its translation then has
/// too. In scripts without spaces, where nothing separates words, it is found everywhere. Of two that overlap the longer
/// one counts. At each character of a text at most as many are compared as the longest term has, and as there are terms,
/// whatever they are.
package struct Glossary: Hashable, Sendable {
    package static let empty = Glossary([])

    /// A character of terms that have the same characters before it.
    private struct Node: Hashable {
        var scalar: Unicode.Scalar
        /// One that follows it, and another one that follows what it follows.
        var child: Int?
        var sibling: Int?
        /// The term that ends with it.
        var term: Int?
    }

    private var nodes: [Node] = []
    /// The nodes of first characters.
    private var roots: [Unicode.Scalar: Int] = [:]
    private var terms: [GlossaryTerm] = []

    /// - Parameter entries: of two with the same source the first counts.
    package init(_ entries: [GlossaryTerm]) {
        for entry in entries {
            insert(entry)
            if let capitalized = entry.capitalized { insert(capitalized) }
        }
    }

    private mutating func insert(_ term: GlossaryTerm) {
        var node: Int?
        for scalar in term.source.unicodeScalars {
            node =
                node.map { child(of: $0, scalar) ?? add(scalar, after: $0) } ?? roots[scalar] ?? add(scalar, after: nil)
        }
        guard let node, nodes[node].term == nil else { return }
        nodes[node].term = terms.count
        terms.append(term)
    }

    private mutating func add(_ scalar: Unicode.Scalar, after parent: Int?) -> Int {
        let index = nodes.count
        nodes.append(Node(scalar: scalar, sibling: parent.flatMap { nodes[$0].child }))
        if let parent { nodes[parent].child = index } else { roots[scalar] = index }
        return index
    }

    private func child(of node: Int, _ scalar: Unicode.Scalar) -> Int? {
        var next = nodes[node].child
        while let one = next, nodes[one].scalar != scalar { next = nodes[one].sibling }
        return next
    }

    /// Of these entries those into one language; of two with the same source the first counts.
    package init(_ entries: [GlossaryEntry], into target: LanguageTag) { self.init(entries.terms(into: target)) }

    package var isEmpty: Bool { terms.isEmpty }

    /// Those that stand in what is to be translated of a text: each once, in the order in which they were given.
    package func terms(in text: MaskedText) -> [GlossaryTerm] {
        guard !isEmpty else { return [] }
        var isFound = Array(repeating: false, count: terms.count)
        for case .text(let part) in text.parts {
            for match in indices(in: Array(part.unicodeScalars)) { isFound[match.term] = true }
        }
        return terms.indices.filter { isFound[$0] }.map { terms[$0] }
    }

    /// Apart from each other, in their order.
    func matches(in text: [Unicode.Scalar]) -> [(range: Range<Int>, term: GlossaryTerm)] {
        indices(in: text).map { ($0.range, terms[$0.term]) }
    }

    private func indices(in text: [Unicode.Scalar]) -> [(range: Range<Int>, term: Int)] {
        // Whether a word may begin or end before each character, and at the end.
        var boundaries: [Bool] = [true]
        boundaries.reserveCapacity(text.count + 1)
        var isInWord = false
        for scalar in text {
            let isOfWord = scalar.isOfSpacedWord
            boundaries.append(true)
            if isInWord && isOfWord { boundaries[boundaries.count - 2] = false }
            isInWord = isOfWord
        }
        var found: [(range: Range<Int>, term: Int)] = []
        var index = 0
        while index < text.count {
            if boundaries[index], let match = longest(at: index, in: text, boundaries) {
                found.append((index..<match.end, match.term))
                index = match.end
            } else {
                index += 1
            }
        }
        return found
    }

    private func longest(at start: Int, in text: [Unicode.Scalar], _ boundaries: [Bool]) -> (end: Int, term: Int)? {
        var (node, end) = (roots[text[start]], start)
        var found: (end: Int, term: Int)?
        while let one = node {
            end += 1
            if let term = nodes[one].term, boundaries[end] { found = (end, term) }
            node = end < text.count ? child(of: one, text[end]) : nil
        }
        return found
    }
}

extension GlossaryTerm {
    /// With capitals at the beginning; nil if it is the same.
    fileprivate var capitalized: GlossaryTerm? {
        let source = source.capitalizedFirst
        return source == self.source ? nil : GlossaryTerm(source: source, target: target.capitalizedFirst)
    }

    /// Says whether a translation was made with these terms: another one of any of them is another fingerprint. Empty
    /// without terms. FNV-1a, of 64 bits.
    package static func fingerprint(of terms: [GlossaryTerm]) -> String {
        guard !terms.isEmpty else { return "" }
        // Of each term, added up: in whatever order they are.
        var sum: UInt64 = 0
        for term in terms {
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for text in [term.source, term.target] {
                for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
                hash = hash &* 0x100_0000_01B3
            }
            sum &+= hash
        }
        return String(sum, radix: 16)
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension Unicode.Scalar {
    /// Whether it is part of a word in a script that sets spaces between words.
    fileprivate var isOfSpacedWord: Bool {
        if isASCII { return ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self) }
        guard properties.isAlphabetic || properties.numericType != nil || properties.generalCategory == .nonspacingMark
        else { return false }
        if properties.isIdeographic { return false }
        switch value {
        // Thai, Lao, Myanmar, Khmer, Hiragana and Katakana; Hangul sets particles behind a word.
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0xAC00...0xD7AF: return false
        default: return true
        }
    }
}

extension MaskedText {
    /// The text in which terms stand as what they are translated to, and are kept: for engines that know no glossaries.
    package func replacing(_ terms: [GlossaryTerm]) -> MaskedText {
        guard !terms.isEmpty else { return self }
        let glossary = Glossary(terms)
        var replaced = MaskedText("", keeping: [])
        for part in parts {
            guard case .text(let text) = part else {
                replaced.append(part)
                continue
            }
            let scalars = Array(text.unicodeScalars)
            var position = 0
            for match in glossary.matches(in: scalars) {
                replaced.append(.text(Self.string(scalars[position..<match.range.lowerBound])))
                replaced.append(.replaced(match.term.source, by: match.term.target))
                position = match.range.upperBound
            }
            replaced.append(.text(Self.string(scalars[position...])))
        }
        return replaced
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}

extension TranslationRequest {
    /// The texts for an engine that knows no glossaries.
    package var textsWithTerms: [MaskedText] { texts.map { $0.replacing(terms) } }
}

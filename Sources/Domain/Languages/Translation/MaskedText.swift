/// A text whose parts that are the same in every language, or nobody else's business, are kept apart from the rest.
package struct MaskedText: Hashable, Sendable {
    package enum Part: Hashable, Sendable {
        /// To be translated.
        case text(String)
        /// Comes back as it is.
        case kept(String)
        /// Comes back as something else.
        case replaced(String, by: String)
    }

    /// Neither empty ones nor two texts or kept ones in a row.
    package private(set) var parts: [Part] = []

    /// - Parameter kept: offsets in UTF-16 code units, in any order; they may overlap. What lies beyond the text is ignored.
    package init(_ text: String, keeping kept: some Sequence<Range<Int>>) {
        let units = text.utf16
        var position = units.startIndex
        var offset = 0
        for range in Self.merged(kept) {
            let start = max(range.lowerBound, offset)
            guard start < range.upperBound,
                let first = units.index(position, offsetBy: start - offset, limitedBy: units.endIndex),
                first < units.endIndex
            else { continue }
            append(.text(String(text[position..<first])))
            let last =
                units.index(first, offsetBy: range.upperBound - start, limitedBy: units.endIndex) ?? units.endIndex
            append(.kept(String(text[first..<last])))
            (position, offset) = (last, range.upperBound)
        }
        append(.text(String(text[position...])))
    }

    init(parts: [Part]) {
        for part in parts { append(part) }
    }

    /// The original.
    package var original: String {
        parts.reduce(into: "") { text, part in
            switch part {
            case .text(let one), .kept(let one), .replaced(let one, _): text += one
            }
        }
    }

    /// In Unicode scalars.
    package var length: Int {
        parts.reduce(0) { length, part in
            switch part {
            case .text(let one), .kept(let one), .replaced(let one, _): length + one.unicodeScalars.count
            }
        }
    }

    /// Whether there is anything to translate: a letter that is not kept.
    package var hasWords: Bool {
        parts.contains { part in
            guard case .text(let text) = part else { return false }
            return text.unicodeScalars.contains { $0.properties.isAlphabetic }
        }
    }

    mutating func append(_ part: Part) {
        switch (part, parts.last) {
        case (.text(""), _), (.kept(""), _), (.replaced("", _), _): return
        case (.text(let text), .text(let before)): parts[parts.count - 1] = .text(before + text)
        case (.kept(let text), .kept(let before)): parts[parts.count - 1] = .kept(before + text)
        default: parts.append(part)
        }
    }

    private static func merged(_ ranges: some Sequence<Range<Int>>) -> [Range<Int>] {
        ranges.filter { !$0.isEmpty && $0.lowerBound >= 0 }.sorted { $0.lowerBound < $1.lowerBound }
            .reduce(into: []) { merged, range in
                if let last = merged.last, range.lowerBound <= last.upperBound {
                    merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
                } else {
                    merged.append(range)
                }
            }
    }
}

extension MaskedText {
    /// Where what is kept stands in the original, in UTF-16 code units.
    package var keptRanges: [Range<Int>] {
        var offset = 0
        return parts.compactMap { part in
            let start = offset
            switch part {
            case .text(let one):
                offset += one.utf16.count
                return nil
            case .kept(let one), .replaced(let one, _):
                offset += one.utf16.count
                return start..<offset
            }
        }
    }
}

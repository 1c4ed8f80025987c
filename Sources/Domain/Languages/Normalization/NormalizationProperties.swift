/// What normalizing asks of a scalar, from ``NormalizationTable``: an array of pages of 128 scalars, most of which are the
/// same empty one.
struct NormalizationProperties: Sendable {
    static let shared = NormalizationProperties()

    struct Entry: Hashable, Sendable {
        /// `Canonical_Combining_Class`: zero for what marks stand on.
        var combiningClass: UInt8 = 0
        /// The canonical decomposition, of one scalar or two; none where it is the scalar itself.
        var first: Unicode.Scalar?
        var second: Unicode.Scalar?
        /// What a wide or narrow scalar is otherwise.
        var otherWidth: Unicode.Scalar?
        /// Whether a composed text may have it (`NFC_Quick_Check` is Yes), and it is neither wide nor narrow.
        var isComposed = true
    }

    private static let pageBits = 7
    private static let pageLength = 1 << pageBits
    /// No scalar of a later plane has an entry.
    private static let end = 0x30000

    private var pages = [UInt16](repeating: 0, count: end >> pageBits)
    private var indices = [UInt16](repeating: 0, count: pageLength)
    private var entries = [Entry()]
    private var wholes: [UInt64: Unicode.Scalar] = [:]

    private init() {
        var made: [UInt32: Entry] = [:]
        Self.read(NormalizationTable.combiningClasses) { number, word in
            let range = word.split(separator: "-").compactMap { UInt32($0, radix: 16) }
            guard let first = range.first, let last = range.last, first <= last else { return }
            for value in first...last {
                made[value, default: Entry()].combiningClass = UInt8(truncatingIfNeeded: number)
            }
        }
        var number: UInt32 = 0
        var base: UInt32 = 0
        Self.read(NormalizationTable.decompositions) { start, word in
            (base, number) = start == base ? (base, number) : (start, start)
            defer { number += 1 }
            let parts = word.drop { $0 == "!" }.split(separator: "+").compactMap(Self.scalar)
            guard let first = parts.first, let whole = Unicode.Scalar(number) else { return }
            made[number, default: Entry()].first = first
            made[number, default: Entry()].second = parts.dropFirst().first
            if word.first != "!", parts.count == 2 {
                wholes[Self.key(first, parts[1])] = whole
                made[parts[1].value, default: Entry()].isComposed = false
            } else {
                made[number, default: Entry()].isComposed = false
            }
        }
        (base, number) = (0, 0)
        Self.read(NormalizationTable.widths) { start, word in
            (base, number) = start == base ? (base, number) : (start, start)
            defer { number += 1 }
            made[number, default: Entry()].otherWidth = Self.scalar(word)
            made[number, default: Entry()].isComposed = false
        }
        for value in HangulSyllable.following { made[value, default: Entry()].isComposed = false }
        for (value, entry) in made.sorted(by: { $0.key < $1.key }) { set(entry, of: Int(value)) }
    }

    subscript(scalar: Unicode.Scalar) -> Entry {
        let value = Int(scalar.value)
        guard value < Self.end else { return entries[0] }
        let page = Int(pages[value >> Self.pageBits])
        return entries[Int(indices[page << Self.pageBits | value & (Self.pageLength - 1)])]
    }

    /// Whether nothing before the scalar changes with it (UAX #15 section 9.1).
    func isStable(_ scalar: Unicode.Scalar) -> Bool {
        let entry = self[scalar]
        return entry.otherWidth.map { isStable($0) } ?? (entry.combiningClass == 0 && entry.isComposed)
    }

    /// What two scalars become that follow each other.
    func whole(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        HangulSyllable.whole(first, second) ?? wholes[Self.key(first, second)]
    }
}

// Reading the table.
extension NormalizationProperties {
    /// Calls `take` with each word and the number before the last colon.
    private static func read(_ section: String, take: (UInt32, Substring) -> Void) {
        var number: UInt32 = 0
        for word in section.split(whereSeparator: \.isWhitespace) {
            if word.last == ":" {
                number = UInt32(word.dropLast(), radix: 16) ?? 0
            } else {
                take(number, word)
            }
        }
    }

    private static func scalar(_ word: Substring) -> Unicode.Scalar? {
        UInt32(word, radix: 16).flatMap { Unicode.Scalar($0) }
    }

    private static func key(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> UInt64 {
        UInt64(first.value) << 32 | UInt64(second.value)
    }

    private mutating func set(_ entry: Entry, of value: Int) {
        guard value < Self.end, entries.count < UInt16.max else { return }
        let page = value >> Self.pageBits
        if pages[page] == 0 {
            pages[page] = UInt16(indices.count >> Self.pageBits)
            indices += [UInt16](repeating: 0, count: Self.pageLength)
        }
        if entry != entries.last { entries.append(entry) }
        indices[Int(pages[page]) << Self.pageBits | value & (Self.pageLength - 1)] = UInt16(entries.count - 1)
    }
}

/// The syllables of Hangul, which are computed (Unicode 15.0 section 3.12).
enum HangulSyllable {
    private static let (leading, vowel, trailing): (UInt32, UInt32, UInt32) = (0x1100, 0x1161, 0x11A7)
    private static let (leadingCount, vowelCount, trailingCount): (UInt32, UInt32, UInt32) = (19, 21, 28)
    private static let first: UInt32 = 0xAC00
    private static let count = leadingCount * vowelCount * trailingCount

    /// The vowels and consonants that join what is before them.
    static let following = [UInt32](vowel..<vowel + vowelCount) + [UInt32](trailing + 1..<trailing + trailingCount)

    /// The syllable of a consonant and a vowel, or of a syllable and a consonant.
    static func whole(_ one: Unicode.Scalar, _ other: Unicode.Scalar) -> Unicode.Scalar? {
        let (start, end, syllable) = (one.value &- leading, other.value &- vowel, one.value &- first)
        if start < leadingCount, end < vowelCount {
            return Unicode.Scalar(first + (start * vowelCount + end) * trailingCount)
        }
        let last = other.value &- trailing
        if syllable < count, syllable % trailingCount == 0, last > 0, last < trailingCount {
            return Unicode.Scalar(one.value + last)
        }
        return nil
    }

    /// Its consonant, vowel and last consonant; nil of anything else.
    static func parts(of scalar: Unicode.Scalar) -> [Unicode.Scalar]? {
        let index = scalar.value &- first
        guard index < count else { return nil }
        let (start, rest) = index.quotientAndRemainder(dividingBy: vowelCount * trailingCount)
        let (middle, end) = rest.quotientAndRemainder(dividingBy: trailingCount)
        let values = [leading + start, vowel + middle] + (end > 0 ? [trailing + end] : [])
        return values.compactMap { Unicode.Scalar($0) }
    }
}

/// Finds what leaves no server: addresses of e-mail and of the network, numbers of telephones, cards and accounts, and
/// what looks like a key.
///
/// It reads what is written, not what is meant: a long number is kept whatever it counts, and a name is not.
package enum SensitiveText {
    /// So many digits are a telephone's, a card's or an account's number.
    static let minNumberDigits = 7
    static let minKeyLength = 20

    /// By start, apart from each other; offsets in UTF-16 code units.
    package static func ranges(in text: String) -> [Range<Int>] {
        let units = Array(text.utf16)
        var found: [Range<Int>] = []
        var index = 0
        while index < units.count {
            guard units[index].isPartOfAddress else {
                index += 1
                continue
            }
            var end = index
            while end < units.count, units[end].isPartOfAddress { end += 1 }
            let word = trimmed(units, index..<end)
            if !word.isEmpty, isAddress(units[word]) || isKey(units[word]) { found.append(word) }
            index = end
        }
        found += numbers(in: units) + accounts(in: units)
        return merged(found)
    }

    // MARK: - Addresses and keys

    /// Without what ends a sentence or brackets a word.
    private static func trimmed(_ units: [UInt16], _ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while end > start, ".,:;=/-".utf16.contains(units[end - 1]) { end -= 1 }
        while start < end, ".,;=/-".utf16.contains(units[start]) { start += 1 }
        return start..<end
    }

    private static func isAddress(_ word: ArraySlice<UInt16>) -> Bool {
        if let at = word.firstIndex(of: UInt16(ascii: "@")) {
            let host = word[(at + 1)...]
            return at > word.startIndex && host.contains(UInt16(ascii: ".")) && host.first?.isAlphanumeric == true
        }
        return isIPv4(word) || isIPv6(word)
    }

    private static func isIPv4(_ word: ArraySlice<UInt16>) -> Bool {
        // A port or the length of a prefix may follow.
        let address = word.prefix { $0 != UInt16(ascii: ":") && $0 != UInt16(ascii: "/") }
        let parts = address.split(separator: UInt16(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.allSatisfy(\.isDigit)
                    && part.reduce(0) { $0 * 10 + Int($1 - UInt16(ascii: "0")) } <= 255
            }
    }

    private static func isIPv6(_ word: ArraySlice<UInt16>) -> Bool {
        let address = word.prefix { $0 != UInt16(ascii: "/") && $0 != UInt16(ascii: "%") }
        let colon = UInt16(ascii: ":")
        guard address.count <= 45, address.contains(where: \.isHexDigit),
            address.allSatisfy({ $0.isHexDigit || $0 == colon || $0 == UInt16(ascii: ".") })
        else { return false }
        let colons = address.count { $0 == colon }
        let isShortened = zip(address, address.dropFirst()).contains { $0 == colon && $1 == colon }
        return isShortened ? (2...7).contains(colons) : colons == 7
    }

    /// A long word of letters and digits, or one that begins as keys of known services do.
    private static func isKey(_ word: ArraySlice<UInt16>) -> Bool {
        guard word.count >= 16, !word.contains(UInt16(ascii: "@")) else { return false }
        let digits = word.count(where: \.isDigit)
        let letters = word.count(where: \.isLetter)
        if prefixes.contains(where: { word.starts(with: $0) }) { return true }
        // A word with a number in it is not one: "covid-19-vaccination-centre".
        return word.count >= minKeyLength && digits >= 4 && letters >= 4
    }

    private static let prefixes: [[UInt16]] = [
        "sk-", "pk_", "sk_", "rk_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xox", "AKIA", "ASIA", "AIza",
        "eyJ",
        "whsec_", "sbk_",
    ].map { Array($0.utf16) }

    // MARK: - Numbers

    /// Digits with what is written between them.
    private static func numbers(in units: [UInt16]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index < units.count {
            guard units[index].isDigit else {
                index += 1
                continue
            }
            var (end, digits, separators) = (index, 0, 0)
            var last = index
            while end < units.count {
                if units[end].isDigit {
                    (digits, separators, last) = (digits + 1, 0, end + 1)
                } else if units[end].isNumberSeparator, separators < 2 {
                    separators += 1
                } else {
                    break
                }
                end += 1
            }
            if digits >= minNumberDigits {
                var start = index
                while start > 0, "+(".utf16.contains(units[start - 1]) { start -= 1 }
                found.append(start..<last)
            }
            index = max(end, index + 1)
        }
        return found
    }

    /// International account numbers (ISO 13616), with or without spaces, whose check digits are right.
    private static func accounts(in units: [UInt16]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = 0
        while index + 3 < units.count {
            guard units[index].isUppercase, units[index + 1].isUppercase, units[index + 2].isDigit,
                units[index + 3].isDigit, index == 0 || !units[index - 1].isAlphanumeric
            else {
                index += 1
                continue
            }
            var characters: [UInt16] = []
            var end = index
            var longest: Int?
            while end < units.count, characters.count <= 34 {
                if units[end].isUppercase || units[end].isDigit {
                    characters.append(units[end])
                    let isEnd = end + 1 == units.count || !units[end + 1].isAlphanumeric
                    if isEnd, (15...34).contains(characters.count), isAccount(characters) { longest = end + 1 }
                } else if units[end] != UInt16(ascii: " ") || units[end - 1] == UInt16(ascii: " ") {
                    break
                }
                end += 1
            }
            if let longest { found.append(index..<longest) }
            index = longest ?? index + 2
        }
        return found
    }

    private static func isAccount(_ characters: [UInt16]) -> Bool {
        let rearranged = characters[4...] + characters[..<4]
        return rearranged.reduce(0) { rest, unit in
            let value = unit.isDigit ? Int(unit - UInt16(ascii: "0")) : Int(unit - UInt16(ascii: "A")) + 10
            return (rest * (value > 9 ? 100 : 10) + value) % 97
        } == 1
    }

    private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
        ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
            if let last = merged.last, range.lowerBound < last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
    }
}

extension UInt16 {
    fileprivate init(ascii: Unicode.Scalar) { self = UInt16(ascii.value) }

    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
    fileprivate var isUppercase: Bool { (0x41...0x5A).contains(self) }
    fileprivate var isLetter: Bool { isUppercase || (0x61...0x7A).contains(self) }
    fileprivate var isAlphanumeric: Bool { isLetter || isDigit }
    fileprivate var isHexDigit: Bool { isDigit || (0x41...0x46).contains(self) || (0x61...0x66).contains(self) }
    fileprivate var isNumberSeparator: Bool { " -./()".utf16.contains(self) }
    /// Of an e-mail address, an address of the network or a key.
    fileprivate var isPartOfAddress: Bool { isAlphanumeric || "@.:_-+/=%~".utf16.contains(self) }
}

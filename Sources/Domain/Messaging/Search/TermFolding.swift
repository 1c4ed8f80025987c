internal import Languages

/// Makes words equal that differ in case or accents only, so that José and JOSE match.
enum TermFolding {
    /// Lower case without accents (``LetterFolding``), of a normalized word; at most `SearchTokenizer.maxLength`
    /// scalars. Marks of scripts that write vowels with them stay, since they are part of the word.
    static func fold(_ word: [Unicode.Scalar]) -> String {
        var folded = String.UnicodeScalarView()
        var count = 0
        for scalar in word {
            guard count < SearchTokenizer.maxLength else { break }
            if scalar.isASCII {
                folded.append(scalar.lowercased)
                count += 1
                continue
            }
            for lower in scalar.properties.lowercaseMapping.unicodeScalars where !isDropped(lower) {
                let letters = equivalents[lower] ?? String(LetterFolding.base(of: lower))
                folded.append(contentsOf: letters.unicodeScalars)
                count += letters.unicodeScalars.count
            }
        }
        return String(folded)
    }

    /// Accents, the points of Hebrew and Arabic, and the Arabic stroke that lengthens words.
    private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isDiacritic || (0x300...0x36F).contains(scalar.value) || scalar == "\u{640}"
    }

    /// Letters that people write for each other and that have no base letter in their names.
    private static let equivalents: [Unicode.Scalar: String] = [
        "ß": "ss", "ı": "i", "ς": "σ", "ё": "е", "ѐ": "е", "ѝ": "и", "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه",
    ]
}

extension Unicode.Scalar {
    /// Of an ASCII scalar.
    fileprivate var lowercased: Unicode.Scalar {
        (0x41...0x5A).contains(value) ? Unicode.Scalar(UInt8(value) | 0x20) : self
    }
}

/// Makes words equal that differ in case or accents only, so that José and JOSE match.
enum TermFolding {
    /// Lower case without marks; at most `SearchTokenizer.maxLength` scalars. Latin letters with marks are reduced to the
    /// base letter in their Unicode name ("LATIN SMALL LETTER E WITH ACUTE"); marks of scripts that write vowels with them
    /// stay, since they are part of the word.
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
                let letters = equivalents[lower] ?? String(base(of: lower))
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
        "ß": "ss", "ı": "i", "ά": "α", "έ": "ε", "ή": "η", "ί": "ι", "ϊ": "ι", "ΐ": "ι", "ό": "ο", "ύ": "υ", "ϋ": "υ",
        "ΰ": "υ", "ώ": "ω", "ς": "σ", "ё": "е", "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه",
    ]

    private static func base(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        // The wide forms of ASCII.
        if (0xFF10...0xFF5A).contains(scalar.value) { return Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar }
        // Latin-1 Supplement to Latin Extended-B, and Latin Extended Additional: no other block has such names.
        guard (0xC0...0x24F).contains(scalar.value) || (0x1E00...0x1EFF).contains(scalar.value),
            let name = scalar.properties.name, name.hasPrefix("LATIN SMALL LETTER ")
        else { return scalar }
        let words = name.split(separator: " ")
        guard words.count > 4, words[4] == "WITH", words[3].utf8.count == 1,
            let letter = words[3].lowercased().unicodeScalars.first
        else { return scalar }
        return letter
    }
}

extension Unicode.Scalar {
    /// Of an ASCII scalar.
    fileprivate var lowercased: Unicode.Scalar {
        (0x41...0x5A).contains(value) ? Unicode.Scalar(UInt8(value) | 0x20) : self
    }
}

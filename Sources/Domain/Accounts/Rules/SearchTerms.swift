/// The search terms of a name: its words in lower case, without accents.
package enum SearchTerms {
    /// The terms of `name` without duplicates: at most 12 with at most 40 characters each.
    package static func terms(in name: String) -> [String] {
        var seen: Set<String> = []
        let words = name.split { !($0.isLetter || $0.isNumber) }.map { fold($0) }
        return Array(words.filter { !$0.isEmpty && seen.insert($0).inserted }.prefix(12))
    }

    /// Folds case and diacritics, so that José and JOSE match. Latin letters with marks are reduced to the base letter
    /// in their Unicode name ("LATIN SMALL LETTER E WITH ACUTE"); letters of other scripts keep theirs.
    static func fold(_ word: some StringProtocol) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in word.lowercased().unicodeScalars.prefix(40) where !scalar.properties.isDiacritic {
            scalars.append(scalar.isASCII ? scalar : base(of: scalar))
        }
        return String(scalars)
    }

    private static func base(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        guard let name = scalar.properties.name, name.hasPrefix("LATIN SMALL LETTER ") else { return scalar }
        let words = name.split(separator: " ")
        guard words.count > 4, words[4] == "WITH", words[3].utf8.count == 1,
            let letter = words[3].lowercased().unicodeScalars.first
        else { return scalar }
        return letter
    }
}

internal import Languages

/// The search terms of a name: its words in lower case, without accents. Names that look the same have the same.
///
/// The database keeps them: whoever changes what the terms of a name are adds a migration (`NameWords` of Storage).
package enum SearchTerms {
    /// The terms of `name` without duplicates: at most 12 with at most 40 characters each.
    package static func terms(in name: String) -> [String] {
        var seen: Set<String> = []
        let words = NormalizedText.normalized(name).split { !($0.isLetter || $0.isNumber) }.map { fold($0) }
        return Array(words.filter { !$0.isEmpty && seen.insert($0).inserted }.prefix(12))
    }

    /// Folds case and diacritics, so that José and JOSE match.
    static func fold(_ word: some StringProtocol) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in word.lowercased().unicodeScalars.prefix(40) where !scalar.properties.isDiacritic {
            scalars.append(LetterFolding.base(of: scalar))
        }
        return String(scalars)
    }
}

extension MaskedText {
    /// In Unicode scalars.
    package static let maxPhraseLength = 40

    /// Whether others may have written the same: a short text without digits, and without anything that is kept.
    package var isPhrase: Bool {
        guard parts.count == 1, case .text(let text) = parts[0], length <= Self.maxPhraseLength, hasWords else {
            return false
        }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .decimalNumber, .letterNumber, .otherNumber: false
            default: true
            }
        }
    }
}

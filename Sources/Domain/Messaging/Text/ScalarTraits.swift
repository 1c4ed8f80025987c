internal import Languages

/// What finding ranges and words asks of a character, from the Unicode Character Database. Each property of a character
/// that the standard library looks up costs as much as all of these together from a table.
struct ScalarTraits: OptionSet {
    let rawValue: UInt8

    /// `Emoji`, `Emoji_Presentation` and `Emoji_Modifier` (Unicode TR 51 section 1.4.1).
    static let emoji = Self(rawValue: 1)
    static let emojiPresentation = Self(rawValue: 2)
    static let emojiModifier = Self(rawValue: 4)
    /// A letter, a number, or a mark on one.
    static let partOfWord = Self(rawValue: 8)
    static let mark = Self(rawValue: 16)
    /// `Default_Ignorable_Code_Point`: joiners and soft hyphens.
    static let ignorable = Self(rawValue: 32)
    /// It may change with the scalars before it when a text is normalized.
    static let joinsSegment = Self(rawValue: 64)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ scalar: Unicode.Scalar) {
        let index = Int(scalar.value)
        self = index < Self.table.count ? Self.table[index] : Self(lookingUp: scalar)
    }

    /// Of the first two planes, which have what people write but for rare Han.
    private static let table: [Self] = (0..<0x20000 as Range<UInt32>).map { value in
        Unicode.Scalar(value).map { Self(lookingUp: $0) } ?? []
    }

    private init(lookingUp scalar: Unicode.Scalar) {
        let properties = scalar.properties
        var traits: Self = []
        if properties.isEmoji { traits.insert(.emoji) }
        if properties.isEmojiPresentation { traits.insert(.emojiPresentation) }
        if properties.isEmojiModifier { traits.insert(.emojiModifier) }
        if properties.isDefaultIgnorableCodePoint { traits.insert(.ignorable) }
        if !NormalizedText.isStable(scalar) { traits.insert(.joinsSegment) }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark: traits.formUnion([.partOfWord, .mark])
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            traits.insert(.partOfWord)
        default: break
        }
        self = traits
    }
}

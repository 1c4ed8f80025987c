package import Model

/// The one emoji of a reaction, fully qualified (Unicode TR 51 ED-18a), so that what looks the same is the same.
///
/// Keyboards leave variation selectors out or add them: a heart is U+2764 with or without U+FE0F. Its structure is
/// checked, and not that fonts have it, since Unicode adds emoji every year.
package struct ReactionEmoji: Hashable, Sendable {
    /// In bytes of UTF-8. The longest emoji of Unicode 16 has 35.
    package static let maxBytes = 64

    package let text: String

    /// - Throws: `invalid_request` of the field, unless the text is one emoji.
    package init(_ text: String, field: String = "emoji") throws(Problem) {
        guard text.utf8.count <= Self.maxBytes else { throw Self.invalid(field) }
        var qualifier = EmojiQualifier(scalars: Array(text.unicodeScalars))
        guard qualifier.sequence() else { throw Self.invalid(field) }
        self.text = String(qualifier.qualified)
    }

    private static func invalid(_ field: String) -> Problem {
        .invalid(field, "A reaction is one emoji of at most \(maxBytes) bytes of UTF-8.")
    }
}

/// Reads an emoji and writes it fully qualified (Unicode TR 51 section 1.4.9).
private struct EmojiQualifier {
    private static let joiner: Unicode.Scalar = "\u{200D}"
    private static let emojiStyle: Unicode.Scalar = "\u{FE0F}"

    let scalars: [Unicode.Scalar]
    private(set) var qualified = String.UnicodeScalarView()
    private var index = 0

    init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    /// Whether all of it is one emoji.
    mutating func sequence() -> Bool {
        guard let first = scalars.first else { return false }
        if first.isASCII { return keycap() && index == scalars.count }
        if Self.isRegionalIndicator(first) { return flag() && index == scalars.count }
        guard element() else { return false }
        while take(where: { $0 == Self.joiner }) {
            guard element() else { return false }
        }
        return index == scalars.count
    }

    /// `[0-9#*] U+FE0F U+20E3`
    private mutating func keycap() -> Bool {
        guard take(where: { "0123456789#*".unicodeScalars.contains($0) }) else { return false }
        skipStyle()
        qualified.append(Self.emojiStyle)
        return take { $0 == "\u{20E3}" }
    }

    /// Two regional indicators.
    private mutating func flag() -> Bool {
        take(where: Self.isRegionalIndicator) && take(where: Self.isRegionalIndicator)
    }

    /// A character with a modifier, or with the selector that it needs, and perhaps the tags of a subdivision's flag.
    private mutating func element() -> Bool {
        guard index < scalars.count else { return false }
        let base = scalars[index]
        guard
            take(where: {
                !$0.isASCII && $0.properties.isEmoji && !$0.properties.isEmojiModifier && !Self.isRegionalIndicator($0)
            })
        else { return false }
        skipStyle()
        if base.properties.isEmojiModifierBase, take(where: { $0.properties.isEmojiModifier }) { return tags() }
        if !base.properties.isEmojiPresentation { qualified.append(Self.emojiStyle) }
        return tags()
    }

    private mutating func tags() -> Bool {
        guard take(where: { (0xE0020...0xE007E).contains($0.value) }) else { return true }
        while take(where: { (0xE0020...0xE007E).contains($0.value) }) {}
        return take { $0.value == 0xE007F }
    }

    private mutating func take(where condition: (Unicode.Scalar) -> Bool) -> Bool {
        guard index < scalars.count, condition(scalars[index]) else { return false }
        qualified.append(scalars[index])
        index += 1
        return true
    }

    private mutating func skipStyle() {
        if index < scalars.count, scalars[index] == Self.emojiStyle { index += 1 }
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }
}

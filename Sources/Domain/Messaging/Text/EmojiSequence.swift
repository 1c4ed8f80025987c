/// Emoji, which may consist of several scalars (Unicode TR 51 section 1.4.9).
enum EmojiSequence {
    /// The end of the emoji that begins at `start`; nil if none begins there.
    static func end(in scalars: [Unicode.Scalar], from start: Int) -> Int? {
        guard var end = elementEnd(in: scalars, from: start) else { return nil }
        // Joined to others, such as a family.
        while end < scalars.count, scalars[end] == "\u{200D}", let next = elementEnd(in: scalars, from: end + 1) {
            end = next
        }
        return end
    }

    private static func elementEnd(in scalars: [Unicode.Scalar], from start: Int) -> Int? {
        guard start < scalars.count else { return nil }
        let first = scalars[start]
        // Below are the digits, which are emoji in keycaps only, and what nearly every text consists of.
        if first.isASCII { return keycapEnd(in: scalars, from: start) }
        let traits = ScalarTraits(first)
        guard traits.contains(.emoji) || isRegionalIndicator(first) else { return nil }
        var end = start + 1
        if isRegionalIndicator(first) {
            guard end < scalars.count, isRegionalIndicator(scalars[end]) else { return nil }
            return end + 1
        }
        var isEmoji = traits.contains(.emojiPresentation)
        if end < scalars.count, ScalarTraits(scalars[end]).contains(.emojiModifier) {
            isEmoji = true
            end += 1
        } else if end < scalars.count, scalars[end] == "\u{FE0F}" {
            isEmoji = true
            end += 1
        } else if end < scalars.count, scalars[end] == "\u{FE0E}" {
            // It is to be shown as text.
            return nil
        }
        guard isEmoji else { return nil }
        return tagsEnd(in: scalars, from: end) ?? end
    }

    private static func keycapEnd(in scalars: [Unicode.Scalar], from start: Int) -> Int? {
        switch scalars[start] {
        case "0"..."9", "#", "*": break
        default: return nil
        }
        var end = start + 1
        if end < scalars.count, scalars[end] == "\u{FE0F}" { end += 1 }
        guard end < scalars.count, scalars[end] == "\u{20E3}" else { return nil }
        return end + 1
    }

    /// The tags of a flag of a subdivision, up to their end.
    private static func tagsEnd(in scalars: [Unicode.Scalar], from start: Int) -> Int? {
        var end = start
        while end < scalars.count, (0xE0020...0xE007E).contains(scalars[end].value) { end += 1 }
        guard end > start, end < scalars.count, scalars[end].value == 0xE007F else { return nil }
        return end + 1
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }
}

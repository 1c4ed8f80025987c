/// Emoji, which may consist of several scalars (Unicode TR 51 section 1.4.9).
enum EmojiSequence {
    /// The end of the emoji that begins at `start`; nil if none begins there.
    static func end(in scalars: [Unicode.Scalar], from start: Int) -> Int? {
        guard mayBegin(in: scalars, at: start), let first = element(in: scalars, from: start) else { return nil }
        var end = first.end
        // Joined to others, such as a family: then each is an emoji, whichever way it is shown alone (ED-16).
        while end < scalars.count, scalars[end] == "\u{200D}", let next = element(in: scalars, from: end + 1) {
            end = next.end
        }
        return first.isShown || end > first.end ? end : nil
    }

    /// False of what nearly every text consists of.
    @inline(__always)
    private static func mayBegin(in scalars: [Unicode.Scalar], at start: Int) -> Bool {
        guard start < scalars.count else { return false }
        let first = scalars[start]
        return first.isASCII
            ? (0x23...0x39).contains(first.value) : ScalarTraits(first).contains(.emoji) || isRegionalIndicator(first)
    }

    /// A part of an emoji, and whether it is one by itself: ❤ alone is shown as text, unless U+FE0F follows.
    private static func element(in scalars: [Unicode.Scalar], from start: Int) -> (end: Int, isShown: Bool)? {
        guard start < scalars.count else { return nil }
        let first = scalars[start]
        // The digits are emoji in keycaps only.
        if first.isASCII { return keycapEnd(in: scalars, from: start).map { ($0, true) } }
        let traits = ScalarTraits(first)
        guard traits.contains(.emoji) || isRegionalIndicator(first) else { return nil }
        var end = start + 1
        if isRegionalIndicator(first) {
            guard end < scalars.count, isRegionalIndicator(scalars[end]) else { return nil }
            return (end + 1, true)
        }
        var isShown = traits.contains(.emojiPresentation)
        if end < scalars.count, ScalarTraits(scalars[end]).contains(.emojiModifier) {
            isShown = true
            end += 1
        } else if end < scalars.count, scalars[end] == "\u{FE0F}" {
            isShown = true
            end += 1
        } else if end < scalars.count, scalars[end] == "\u{FE0E}" {
            // It is to be shown as text.
            return nil
        }
        return (tagsEnd(in: scalars, from: end) ?? end, isShown)
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

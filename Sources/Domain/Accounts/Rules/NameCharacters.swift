/// The characters that a display name must not contain: invisible ones, and those that change the text direction. With
/// them a name could look like another one, or empty.
///
/// Some scripts and emoji need characters that are invisible by themselves. Those are allowed where they have an
/// effect: joiners as in RFC 5892 appendix A and between emoji (Unicode TR 51 section 1.4), variation selectors after
/// characters with variants, tags in the flags of subdivisions.
enum NameCharacters {
    /// The first disallowed character; nil for a valid name.
    static func firstDisallowed(in name: String) -> Unicode.Scalar? {
        let scalars = Array(name.unicodeScalars)
        return scalars.indices.first { isDisallowed(at: $0, in: scalars) }.map { scalars[$0] }
    }

    /// The name without disallowed characters. The result may still contain some, since a joiner may have lost its
    /// context.
    static func removingDisallowed(from name: String) -> String {
        let scalars = Array(name.unicodeScalars)
        var kept = String.UnicodeScalarView()
        for index in scalars.indices where !isDisallowed(at: index, in: scalars) { kept.append(scalars[index]) }
        return String(kept)
    }

    /// The character's name, such as `RIGHT-TO-LEFT OVERRIDE (U+202E)`. Control characters have no names.
    static func name(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let number = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return "\(scalar.properties.name ?? "a control character") (\(number))"
    }

    private static func isDisallowed(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        let scalar = scalars[index]
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: return true
        default: break
        }
        switch scalar.value {
        case 0x200C: return !mayNotJoin(at: index, in: scalars)
        case 0x200D: return !mayJoin(at: index, in: scalars)
        case 0xE0020...0xE007F: return !isFlagTag(at: index, in: scalars)
        // The Braille blank, annotations, the object replacement character, the fillers of Khitan and musical notation:
        // invisible, though not default-ignorable.
        case 0x2800, 0xFFF9...0xFFFC, 0x16FE4, 0x1D159: return true
        // Hieroglyph format controls.
        case 0x13430...0x1343F: return true
        default: break
        }
        if scalar.properties.isVariationSelector { return !hasVariants(before: index, in: scalars) }
        return scalar.properties.isBidiControl || scalar.properties.isDefaultIgnorableCodePoint
            || scalar.properties.isNoncharacterCodePoint
    }
}

// Joiners.
extension NameCharacters {
    /// ZERO WIDTH NON-JOINER: after a virama, or between two letters that would join (RFC 5892 appendix A.1).
    private static func mayNotJoin(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        if followsVirama(index, in: scalars) { return true }
        guard let before = scalars[..<index].last(where: { !isMark($0) }),
            let after = scalars[(index + 1)...].first(where: { !isMark($0) })
        else { return false }
        return joinsNext(before) && isCursive(after)
    }

    /// ZERO WIDTH JOINER: after a virama (RFC 5892 appendix A.2), or between two emoji.
    private static func mayJoin(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        if followsVirama(index, in: scalars) { return true }
        let before = scalars[..<index].last { $0.value != 0xFE0F && !$0.properties.isEmojiModifier }
        guard let before, index + 1 < scalars.count else { return false }
        return isEmojiSymbol(before) && isEmojiSymbol(scalars[index + 1])
    }

    private static func followsVirama(_ index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        index > 0 && scalars[index - 1].properties.canonicalCombiningClass == .virama
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Letters of cursive scripts: Arabic, Syriac, N'Ko, Mandaic, Mongolian, Hanifi Rohingya, Adlam.
    private static func isCursive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Hamza and high hamza stand alone.
        case 0x0621, 0x0674: false
        case 0x0620...0x06FF, 0x0700...0x077F, 0x07C0...0x07FF, 0x0840...0x08FF, 0x1800...0x18AF, 0x10D00...0x10D3F,
            0x1E900...0x1E95F:
            scalar.properties.isAlphabetic
        default: false
        }
    }

    /// Whether a letter joins the next one: the Arabic letters that do not are those with the joining type R of
    /// Unicode's ArabicShaping.txt. (Those of other scripts are assumed to join.)
    private static func joinsNext(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0622...0x0625, 0x0627, 0x0629, 0x062F...0x0632, 0x0648, 0x0671...0x0673, 0x0675...0x0677,
            0x0688...0x0699, 0x06C0, 0x06C3...0x06CB, 0x06CD, 0x06CF, 0x06D2, 0x06D3, 0x06D5, 0x06EE, 0x06EF,
            0x0759...0x075B, 0x076B, 0x076C, 0x0771, 0x0773, 0x0774, 0x0778, 0x0779:
            false
        default: isCursive(scalar)
        }
    }
}

// Emoji and variants.
extension NameCharacters {
    /// An emoji other than an ASCII digit or sign.
    private static func isEmojiSymbol(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isEmoji && !scalar.isASCII }

    private static func hasVariants(before index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        guard index > 0 else { return false }
        let base = scalars[index - 1]
        switch scalars[index].value {
        // Text or emoji presentation; for digits only in a keycap.
        case 0xFE0E, 0xFE0F:
            return isEmojiSymbol(base)
                || base.properties.isEmoji && index + 1 < scalars.count && scalars[index + 1].value == 0x20E3
        case 0x180B...0x180F: return (0x1820...0x18AA).contains(base.value)
        default: return base.properties.isIdeographic
        }
    }

    /// Tags name a subdivision after a black flag, in 3 to 6 letters and digits, and end with a tag of their own
    /// (Unicode TR 51 section 1.4.6).
    private static func isFlagTag(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        func isTag(_ scalar: Unicode.Scalar) -> Bool { (0xE0020...0xE007F).contains(scalar.value) }
        guard let flag = scalars[..<index].lastIndex(where: { !isTag($0) }), scalars[flag].value == 0x1F3F4 else {
            return false
        }
        let tags = scalars[(flag + 1)...].prefix(while: isTag)
        guard (4...7).contains(tags.count), tags.last?.value == 0xE007F else { return false }
        return tags.dropLast().allSatisfy {
            (0xE0030...0xE0039).contains($0.value) || (0xE0061...0xE007A).contains($0.value)
        }
    }
}

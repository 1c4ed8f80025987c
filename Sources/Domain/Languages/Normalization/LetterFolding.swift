/// Letters without their accents, as people type them who search.
package enum LetterFolding {
    /// The letter that a small letter of the Latin or Greek script is written on; of other scripts, in which й and が are
    /// letters of their own, the letter itself. Latin has letters that are written through, such as ø, so that its names tell
    /// ("LATIN SMALL LETTER O WITH STROKE").
    package static func base(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x370...0x3FF, 0x1F00...0x1FFF: NormalizedText.base(of: scalar)
        case 0xC0...0x24F, 0x1E00...0x1EFF, 0x2C60...0x2C7F, 0xA722...0xA7FF: latinBase(of: scalar)
        default: scalar
        }
    }

    private static func latinBase(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        guard let name = scalar.properties.name, name.hasPrefix("LATIN SMALL LETTER ") else { return scalar }
        let words = name.split(separator: " ")
        guard words.count > 4, words[4] == "WITH", words[3].utf8.count == 1,
            let letter = words[3].lowercased().unicodeScalars.first
        else { return scalar }
        return letter
    }
}

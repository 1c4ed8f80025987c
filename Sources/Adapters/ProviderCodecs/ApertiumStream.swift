package import Languages

/// What Apertium's programs read and write: the text with masked ranges and reserved characters as superblanks, a line
/// break, a NUL, a nonce as a superblank of its own, and a NUL.
///
/// Without the line break some programs lose the last character before the NUL.
package enum ApertiumStream {
    package static let delimiter: UInt8 = 0
    package static let delimiterCount = 2

    package static func request(_ text: PlaceholderText, nonce: String) -> [UInt8] {
        Array(text.text.utf8) + [UInt8(ascii: "\n"), delimiter] + trailer(nonce)
    }

    /// The translation in a response, which ends with the nonce of its request.
    package static func translation(in response: some Collection<UInt8>, nonce: String) -> String? {
        let bytes = Array(response)
        let trailer = trailer(nonce)
        guard bytes.count > trailer.count, Array(bytes.suffix(trailer.count)) == trailer else { return nil }
        let text = bytes.dropLast(trailer.count + 1)
        guard bytes[text.endIndex] == delimiter, !text.contains(delimiter) else { return nil }
        return String(validating: text.last == UInt8(ascii: "\n") ? text.dropLast() : text, as: UTF8.self)
    }

    private static func trailer(_ nonce: String) -> [UInt8] { Array("[\(nonce)]".utf8) + [delimiter] }
}

/// A translation as the programs write it, without their marks.
///
/// - `*word`: it is in no dictionary; `@word`: its translation is in none; `#word`: this form of it cannot be made.
/// - `one/other`: either will do; the first is taken.
///
/// In the text itself all of these are kept.
package struct ApertiumOutput: Hashable, Sendable {
    package private(set) var text = ""
    /// Words with a mark.
    package private(set) var unknownWords = 0

    package init(_ output: String) {
        var scalars = output.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "*", "@", "#":
                if scalars.first?.isOfWord == true { unknownWords += 1 }
            case "/": scalars = scalars.drop(while: \.isOfWord)
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Above this share of unknown words a text is not shown.
    static let maxUnknownPercentage = 15

    package func isUnderstood(wordsInText words: Int) -> Bool {
        unknownWords * 100 <= Self.maxUnknownPercentage * max(words, 1)
    }
}

extension MaskedText {
    /// Of what is not kept.
    package var wordCount: Int {
        parts.reduce(0) { count, part in
            guard case .text(let text) = part else { return count }
            return count
                + text.unicodeScalars.split { !$0.isOfWord }.count { $0.contains(where: \.properties.isAlphabetic) }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isOfWord: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .nonspacingMark, .spacingMark, .enclosingMark:
            true
        default: ["'", "’", "-", "ʼ"].contains(self)
        }
    }
}

package import Model

/// The text of a message: what was written, with line breaks made uniform and the space around it removed.
///
/// Nothing else is changed: characters that are invisible or change the text direction are part of what people write,
/// and clients that show a text isolate its direction.
package struct MessageText: Hashable, Sendable {
    /// In bytes of UTF-8.
    package static let maxBytes = 65_536

    package let text: String
    /// Nil if it was not made yet: see `TextAnalyzer`.
    package internal(set) var analysis: TextAnalysis?

    /// - Throws: `invalid_request` of the field: of a text that is empty, too long, has a control character other than
    ///   a tab and line breaks, or a character with more than 64 marks.
    package init(_ text: String, field: String = "text") throws(Problem) {
        // A text that is too long is not analysed.
        guard text.utf8.count <= Self.maxBytes else { throw Self.tooLong(field) }
        var scalars = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            defer { previous = scalar }
            switch scalar {
            case "\r": scalars.append("\n")
            case "\n" where previous == "\r": continue
            case "\n", "\t": scalars.append(scalar)
            default:
                // The general category Cc, which never changes.
                guard scalar.value >= 0x20, !(0x7F...0x9F).contains(scalar.value) else {
                    throw .invalid(
                        field, "A text must not contain the control character U+\(Self.digits(of: scalar)).")
                }
                scalars.append(scalar)
            }
        }
        self.text = Self.trimmed(scalars)
        guard !self.text.isEmpty else { throw .invalid(field, "A text has at least one character that is no space.") }
        guard !self.text.hasLongCluster else {
            throw .invalid(field, "A character of a text has at most \(String.maxClusterLength - 1) marks.")
        }
    }

    private static func tooLong(_ field: String) -> Problem {
        .invalid(field, "A text has at most \(maxBytes) bytes of UTF-8.")
    }

    private static func trimmed(_ scalars: String.UnicodeScalarView) -> String {
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    private static func digits(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

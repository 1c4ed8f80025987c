/// Text of others that is shown on one line.
package enum SingleLine {
    /// Removes control characters and repeated white space.
    package static func normalized(_ text: String) -> String {
        let printable = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        return printable.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// Why a text is not a session description: the line, what was found there, and what is allowed there.
package struct DescriptionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Counted from 1. The line after the last one when something is missing at the end.
    package let line: Int
    /// The text there, truncated and without control characters, so that it can be logged and shown.
    package let found: String
    package let allowed: String

    init(line: Int, found: some StringProtocol, allowed: String) {
        self.line = line
        var shown = ""
        for scalar in found.unicodeScalars.prefix(80) {
            shown.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? "\u{FFFD}" : scalar)
        }
        self.found = shown
        self.allowed = allowed
    }

    package var description: String {
        found.isEmpty ? "line \(line): expected \(allowed)" : "line \(line): “\(found)”: expected \(allowed)"
    }
}

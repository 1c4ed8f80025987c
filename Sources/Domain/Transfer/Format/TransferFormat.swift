package import Model

/// The bounds of the format.
package enum TransferFormat {
    /// Bytes of a line, without its end.
    package static let maxLine = 1 << 20
    /// Bytes of an id of the source.
    package static let maxID = 256
    package static let maxSource = 64
    package static let maxReactions = 10_000
    package static let maxEdits = 100
    package static let maxSpans = 64
    package static let maxPushes = 256

    /// - Throws: `invalid_request` of the field, unless it is a name of 1 to 64 of `A-Z a-z 0-9 . _ -`.
    package static func source(_ text: String, field: String = "source") throws(Problem) -> String {
        let isAllowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard (1...maxSource).contains(text.utf8.count), isAllowed else {
            throw .invalid(field, "A source is a name of 1 to \(maxSource) of A-Z, a-z, 0-9, ., _ and -.")
        }
        return text
    }

    /// The key of a record, by which it is found again: of its source, kind and id.
    package static func key(_ kind: String, _ id: String, of source: String) -> String {
        // Neither source nor kind has a space.
        "\(source) \(kind) \(id)"
    }
}

import Model
import NIOCore

/// Writes JSON text directly into a buffer, without a tree of values.
extension ByteBuffer {
    mutating func writeText(_ text: StaticString) {
        writeStaticString(text)
    }

    /// Writes a string in quotes, with the escapes of RFC 8259 section 7.
    mutating func writeQuoted(_ string: String) {
        writeInteger(UInt8(ascii: "\""))
        if string.utf8.contains(where: Self.mustEscape) {
            var escaped: [UInt8] = []
            JSONWriter.escape(string, into: &escaped)
            writeBytes(escaped)
        } else {
            writeString(string)
        }
        writeInteger(UInt8(ascii: "\""))
    }

    mutating func writeDecimal(_ number: Int64) {
        writeString(String(number))
    }

    /// Writes `["e1",17]`.
    mutating func writePosition(_ position: Position) {
        writeInteger(UInt8(ascii: "["))
        writeQuoted(position.epoch)
        writeInteger(UInt8(ascii: ","))
        writeDecimal(position.sequence)
        writeInteger(UInt8(ascii: "]"))
    }

    // Nearly no string of a frame needs an escape: the others are copied at once.
    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }
}

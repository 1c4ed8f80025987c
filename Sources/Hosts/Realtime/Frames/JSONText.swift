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
            for byte in string.utf8 { writeEscaped(byte) }
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

    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): writeText(#"\""#)
        case UInt8(ascii: "\\"): writeText(#"\\"#)
        case UInt8(ascii: "\n"): writeText(#"\n"#)
        case UInt8(ascii: "\r"): writeText(#"\r"#)
        case UInt8(ascii: "\t"): writeText(#"\t"#)
        case ..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            writeText(#"\u00"#)
            writeInteger(digits[Int(byte >> 4)])
            writeInteger(digits[Int(byte & 0xF)])
        default: writeInteger(byte)
        }
    }
}

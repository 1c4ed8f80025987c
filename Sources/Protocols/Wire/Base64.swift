/// Base64 (RFC 4648 section 4), for nonces and passwords.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: RawSpan) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.byteCount + 2) / 3 * 4)
        var offset = 0
        while let first = bytes.byte(at: offset) {
            let second = bytes.byte(at: offset + 1)
            let third = bytes.byte(at: offset + 2)
            let group = UInt32(first) << 16 | UInt32(second ?? 0) << 8 | UInt32(third ?? 0)
            text.append(alphabet[Int(group >> 18 & 63)])
            text.append(alphabet[Int(group >> 12 & 63)])
            text.append(second == nil ? UInt8(ascii: "=") : alphabet[Int(group >> 6 & 63)])
            text.append(third == nil ? UInt8(ascii: "=") : alphabet[Int(group & 63)])
            offset += 3
        }
        return text
    }

    /// The bytes, or nil when the text is not padded base64 or has stray bits: every value has exactly one encoding.
    package static func decode(_ text: RawSpan) -> [UInt8]? {
        guard text.byteCount % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.byteCount / 4 * 3)
        var group: UInt32 = 0
        var padding = 0
        for offset in 0..<text.byteCount {
            guard let character = text.byte(at: offset) else { return nil }
            if character == UInt8(ascii: "=") {
                guard offset >= text.byteCount - 2 else { return nil }
                padding += 1
                group <<= 6
            } else {
                guard padding == 0, let value = value(of: character) else { return nil }
                group = group << 6 | value
            }
            guard offset % 4 == 3 else { continue }
            let octets = [
                UInt8(truncatingIfNeeded: group >> 16), UInt8(truncatingIfNeeded: group >> 8),
                UInt8(truncatingIfNeeded: group),
            ]
            guard octets.suffix(padding).allSatisfy({ $0 == 0 }) else { return nil }
            bytes += octets.dropLast(padding)
            group = 0
        }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character &- UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character &- UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character &- UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

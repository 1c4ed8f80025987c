import Wire

/// FINGERPRINT: the CRC-32 of ISO 3309 over the message before the attribute, combined with "STUN" so that it differs
/// from other protocols' checksums (RFC 8489 section 14.7).
package enum Fingerprint {
    package static func value(of bytes: RawSpan) -> UInt32 {
        var crc = UInt32.max
        for offset in 0..<bytes.byteCount {
            guard let byte = bytes.byte(at: offset) else { break }
            crc = table[Int((crc ^ UInt32(byte)) & 0xFF)] ^ crc >> 8
        }
        return ~crc ^ 0x5354_554E
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }
}

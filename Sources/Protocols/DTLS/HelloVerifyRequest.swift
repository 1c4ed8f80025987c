import Wire

/// The response to a hello without a valid cookie, which asks the client to repeat it with this one (RFC 6347 section
/// 4.2.1).
///
/// 48 bytes, fewer than the shortest hello, so that it cannot be used for amplification.
enum HelloVerifyRequest {
    /// Of another server's, with the longest cookie.
    static let maximumByteCount = 2 + 1 + 255

    /// Replaces the content of `target` with one. `sequence` is that of the hello's record, as the RFC requires, so
    /// that no state is needed for the sequence of later records. False when the cryptography failed.
    static func write(
        into target: inout [UInt8], sequence: UInt64, client: TransportAddress, covered: RawSpan,
        _ cookies: CookieGenerator, at now: Instant, _ authentication: some MessageAuthentication
    ) -> Bool {
        let message = 2 + 1 + CookieGenerator.byteCount
        target.removeAll(keepingCapacity: true)
        appendHeaders(
            to: &target, HandshakeFragment.MessageType.helloVerifyRequest, messageSequence: 0, byteCount: message,
            sequence: sequence)
        target.append(bigEndian: RecordHeader.oldestVersion)
        target.append(UInt8(CookieGenerator.byteCount))
        return cookies.append(for: client, covered, at: now, to: &target, authentication)
    }
}

/// The headers of a handshake message that is alone in a record and not fragmented.
func appendHeaders(
    to target: inout [UInt8], _ type: HandshakeFragment.MessageType, messageSequence: UInt16, byteCount: Int,
    sequence: UInt64
) {
    let record = UInt16(truncatingIfNeeded: HandshakeFragment.headerByteCount &+ byteCount)
    target.append(RecordHeader.ContentType.handshake.rawValue)
    target.append(bigEndian: RecordHeader.oldestVersion)
    // Epoch 0 and 48 bits of sequence.
    target.append(bigEndian: sequence & 0xFFFF_FFFF_FFFF)
    target.append(bigEndian: record)
    let length = UInt32(truncatingIfNeeded: byteCount) & 0xFF_FFFF
    target.append(bigEndian: UInt32(type.rawValue) << 24 | length)
    target.append(bigEndian: messageSequence)
    target.append(bigEndian: UInt16(0))
    // The last byte of the offset, then the fragment's length.
    target.append(bigEndian: length)
}

import Wire

/// How ICE lays packets into a TCP connection (RFC 6544 section 3): two bytes of length, then the packet (RFC 4571
/// section 2). STUN, DTLS, RTP and RTCP all come so.
package enum PacketFraming {
    package static let headerByteCount = 2
    /// What a length can say; a reader needs no more room than this and the header.
    package static let maximumPayloadByteCount = 0xFFFF

    package enum Next: Hashable, Sendable {
        /// The packet lies at these bytes; the next one begins where they end.
        case packet(Range<Int>)
        /// The packet is not whole. With its header it will have so many bytes, as far as can be told.
        case incomplete(Int)
    }

    /// The first packet of what has come. Lengths are added in `Int`, so no 16-bit sum can wrap.
    package static func next(_ bytes: RawSpan) -> Next {
        guard let length = bytes.integer(at: 0, as: UInt16.self) else { return .incomplete(headerByteCount) }
        let end = headerByteCount &+ Int(length)
        return bytes.byteCount >= end ? .packet(headerByteCount..<end) : .incomplete(end)
    }

    /// Writes the two bytes before a packet of this size; false when no frame can hold it or they do not fit.
    package static func writeHeader(payload: Int, into target: inout MutableRawSpan) -> Bool {
        guard let length = UInt16(exactly: payload), target.byteCount >= headerByteCount else { return false }
        target.store(length, at: 0)
        return true
    }
}

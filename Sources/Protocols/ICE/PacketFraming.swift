import Wire

/// The framing of packets in ICE over TCP (RFC 6544 section 3): two bytes of length, then the packet (RFC 4571 section
/// 2). Used for STUN, DTLS, RTP and RTCP.
package enum PacketFraming {
    package static let headerByteCount = 2
    /// The maximum of the length field; a reader needs a buffer for this and the header.
    package static let maximumPayloadByteCount = 0xFFFF

    package enum Next: Hashable, Sendable {
        /// The range of the packet; the next frame begins where it ends.
        case packet(Range<Int>)
        /// The packet is incomplete. With its header it has at least so many bytes, as far as is known.
        case incomplete(Int)
    }

    /// The first packet of the received bytes. Lengths are added in `Int`, so no 16-bit sum can wrap.
    package static func next(_ bytes: RawSpan) -> Next {
        guard let length = bytes.integer(at: 0, as: UInt16.self) else { return .incomplete(headerByteCount) }
        let end = headerByteCount &+ Int(length)
        return bytes.byteCount >= end ? .packet(headerByteCount..<end) : .incomplete(end)
    }

    /// Writes the two bytes before a packet of this size; false when it is too large for a frame or they do not fit.
    package static func writeHeader(payload: Int, into target: inout MutableRawSpan) -> Bool {
        guard let length = UInt16(exactly: payload), target.byteCount >= headerByteCount else { return false }
        target.store(length, at: 0)
        return true
    }
}

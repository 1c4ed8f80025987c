import Wire

// What SRTP has to know about a packet before it can decrypt it: the length of the clear header, and the source.

/// The part of an RTP packet that SRTP leaves in the clear but authenticates (RFC 3711 section 3.1): the fixed header
/// with its contributing sources and the whole header extension (RFC 3550 section 5.1).
package struct SecuredRTPHeader: Hashable, Sendable {
    package static let fixedByteCount = 12

    package let byteCount: Int
    package let sequence: UInt16
    /// The SSRC.
    package let source: UInt32

    /// nil when this is not RTP of version 2, or ends within the header.
    package init?(_ packet: RawSpan) {
        guard let first = packet.byte(at: 0), first >> 6 == 2, let sequence = packet.integer(at: 2, as: UInt16.self),
            let source = packet.integer(at: 8, as: UInt32.self)
        else { return nil }
        var byteCount = 12 &+ 4 &* Int(first & 0x0F)
        if first & 0x10 != 0 {
            // The profile's 16 bits, then the number of words behind them.
            guard let words = packet.integer(at: byteCount &+ 2, as: UInt16.self) else { return nil }
            byteCount &+= 4 &+ 4 &* Int(words)
        }
        guard byteCount <= packet.byteCount else { return nil }
        self.byteCount = byteCount
        self.sequence = sequence
        self.source = source
    }
}

/// The same of an RTCP compound (RFC 3711 section 3.4): the first packet's header and its sender's SSRC.
package struct SecuredRTCPHeader: Hashable, Sendable {
    package static let byteCount = 8

    package let source: UInt32

    /// nil when this is not RTCP of version 2, or too short for a header.
    package init?(_ packet: RawSpan) {
        guard let first = packet.byte(at: 0), first >> 6 == 2, let source = packet.integer(at: 4, as: UInt32.self)
        else {
            return nil
        }
        self.source = source
    }
}

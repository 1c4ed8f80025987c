import Wire

/// An RTCP datagram: a compound of packets (RFC 3550 section 6.1), or a single one of any kind if reduced size was
/// negotiated (RFC 5506).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |V=2|P|  count  |  packet type  |  length in words, minus one   |      RFC 3550 section 6.4
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
/// All headers are checked in `init`: a datagram with one wrong length is dropped as a whole.
package struct RTCPCompound: ~Escapable {
    package let bytes: RawSpan
    /// True when it does not begin with a report, as a full compound packet must.
    package let isReducedSize: Bool
    private var offset = 0

    package enum ParseError: Error, Hashable {
        /// Too short, of another version, or not a packet type of RTCP (RFC 5761 section 4).
        case notRTCP
        /// A length that runs past the end, or padding that is not there.
        case malformed
    }

    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan) throws(ParseError) {
        guard bytes.byteCount >= 4, Self.isLikely(bytes) else { throw .notRTCP }
        var offset = 0
        while offset < bytes.byteCount {
            guard let header = RTCPHeader(bytes, at: offset), offset &+ header.byteCount <= bytes.byteCount else {
                throw .malformed
            }
            if header.hasPadding {
                // RFC 3550 section 6.4.1 allows padding only of the last packet, in whole words. Browsers pad every
                // transport-wide feedback with one to three bytes, wherever it is in the compound.
                guard let padding = bytes.byte(at: offset &+ header.byteCount &- 1), padding > 0,
                    Int(padding) <= header.byteCount &- 4
                else { throw .malformed }
            }
            offset &+= header.byteCount
        }
        self.bytes = bytes
        isReducedSize = !(200...201).contains(bytes.byte(at: 1) ?? 0)
    }

    /// The next packet; nil after the last.
    @_lifetime(copy self)
    package mutating func next() -> RTCPPacket? {
        guard let header = RTCPHeader(bytes, at: offset),
            let whole = bytes.part(offset..<offset &+ header.byteCount)
        else { return nil }
        offset &+= header.byteCount
        let padding = header.hasPadding ? Int(whole.byte(at: whole.byteCount &- 1) ?? 0) : 0
        guard let body = whole.part(4..<max(4, whole.byteCount &- padding)) else { return nil }
        return RTCPPacket(
            kind: RTCPPacket.Kind(type: header.type, format: header.count), count: header.count, body: body)
    }

    /// True when the first bytes look like RTCP on a port that RTP, STUN and DTLS share (RFC 7983, RFC 5761 section 4).
    package static func isLikely(_ bytes: RawSpan) -> Bool {
        guard bytes.byteCount >= 4, let first = bytes.byte(at: 0), let type = bytes.byte(at: 1) else { return false }
        return first >> 6 == 2 && (192...223).contains(type)
    }
}

struct RTCPHeader {
    let count: UInt8
    let type: UInt8
    let hasPadding: Bool
    /// With the header itself.
    let byteCount: Int

    init?(_ bytes: RawSpan, at offset: Int) {
        guard let first = bytes.byte(at: offset), first >> 6 == 2, let type = bytes.byte(at: offset &+ 1),
            let words = bytes.integer(at: offset &+ 2, as: UInt16.self)
        else { return nil }
        count = first & 31
        hasPadding = first & 0x20 != 0
        self.type = type
        byteCount = (Int(words) &+ 1) &* 4
    }
}

/// One packet of a compound. The extensions in this folder parse the body of each `kind`.
package struct RTCPPacket: ~Escapable {
    package enum Kind: Hashable, Sendable {
        // RFC 3550 section 12.1.
        case senderReport
        case receiverReport
        case sourceDescription
        case goodbye
        case applicationDefined
        // RFC 4585 section 6.2 and 6.3, RFC 5104 section 4.3.
        case nack
        case transportFeedback
        case pictureLoss
        case fullIntraRequest
        case estimatedMaximumBitrate
        /// RFC 3611.
        case extendedReport
        /// Ignored.
        case other(type: UInt8, format: UInt8)

        init(type: UInt8, format: UInt8) {
            self =
                switch (type, format) {
                case (200, _): .senderReport
                case (201, _): .receiverReport
                case (202, _): .sourceDescription
                case (203, _): .goodbye
                case (204, _): .applicationDefined
                case (205, 1): .nack
                case (205, 15): .transportFeedback
                case (206, 1): .pictureLoss
                case (206, 4): .fullIntraRequest
                case (206, 15): .estimatedMaximumBitrate
                case (207, _): .extendedReport
                default: .other(type: type, format: format)
                }
        }
    }

    package let kind: Kind
    /// The five bits that count blocks or name a feedback's format.
    let count: UInt8
    /// What follows the first four bytes, without padding.
    package let body: RawSpan

    @_lifetime(copy body)
    init(kind: Kind, count: UInt8, body: RawSpan) {
        self.kind = kind
        self.count = count
        self.body = body
    }

    /// The sender's SSRC: the first word of every kind but SDES and BYE without sources.
    package var sender: UInt32? { body.integer(at: 0, as: UInt32.self) }
}

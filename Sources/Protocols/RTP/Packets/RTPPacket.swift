import Wire

/// An RTP packet as a view into its datagram: nothing is copied.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |V=2|P|X|  CC   |M|     PT      |       sequence number         |
///     |                           timestamp                           |
///     |           synchronization source (SSRC) identifier            |
///     |            contributing source (CSRC) identifiers             |      RFC 3550 section 5.1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |      extension profile        |      length in words          |      RFC 8285, when X is set
///     |                     extension elements                        |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
/// The bounds of header, extension block, payload and padding are checked once, in `init`; later reads cannot run past
/// the end. Elements within the extension block are read leniently: a malformed one ends the list.
package struct RTPPacket: ~Escapable {
    package static let headerByteCount = 12

    package let bytes: RawSpan
    package let header: RTPHeader
    package let contributorCount: Int
    /// The profile before the extension elements: 0xBEDE, 0x100X, or a private one. 0 without an extension.
    package let extensionProfile: UInt16
    /// The range of the extension elements, without the four bytes before them; empty without an extension.
    package let extensionRange: Range<Int>
    /// The range of the payload, without padding.
    package let payloadRange: Range<Int>

    package enum ParseError: Error, Hashable {
        /// Too short or of another version.
        case notRTP
        /// Contributors or the extension run past the end.
        case malformedHeader
        /// The padding count is 0 or too large.
        case malformedPadding
    }

    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan) throws(ParseError) {
        guard let first = bytes.byte(at: 0), first >> 6 == 2, let second = bytes.byte(at: 1),
            let sequence = bytes.integer(at: 2, as: UInt16.self), let timestamp = bytes.integer(at: 4, as: UInt32.self),
            let ssrc = bytes.integer(at: 8, as: UInt32.self)
        else { throw .notRTP }
        contributorCount = Int(first & 15)
        var offset = Self.headerByteCount &+ contributorCount &* 4
        if first & 0x10 != 0 {
            guard let profile = bytes.integer(at: offset, as: UInt16.self),
                let words = bytes.integer(at: offset &+ 2, as: UInt16.self)
            else { throw .malformedHeader }
            extensionProfile = profile
            extensionRange = offset &+ 4..<offset &+ 4 &+ Int(words) &* 4
            offset = extensionRange.upperBound
        } else {
            extensionProfile = 0
            extensionRange = offset..<offset
        }
        guard offset <= bytes.byteCount else { throw .malformedHeader }
        var end = bytes.byteCount
        if first & 0x20 != 0 {
            guard let padding = bytes.byte(at: end &- 1), padding > 0, Int(padding) <= end &- offset else {
                throw .malformedPadding
            }
            end &-= Int(padding)
        }
        payloadRange = offset..<end
        header = RTPHeader(
            payloadType: second & 0x7F, marker: second & 0x80 != 0, sequence: sequence, timestamp: timestamp, ssrc: ssrc
        )
        self.bytes = bytes
    }

    package var payloadType: UInt8 { header.payloadType }
    package var marker: Bool { header.marker }
    package var sequence: UInt16 { header.sequence }
    package var timestamp: UInt32 { header.timestamp }
    package var ssrc: UInt32 { header.ssrc }
    package var paddingByteCount: Int { bytes.byteCount &- payloadRange.upperBound }

    package var payload: RawSpan {
        @_lifetime(copy self)
        get { bytes.extracting(payloadRange) }
    }

    /// Nil when there are fewer.
    package func contributor(at index: Int) -> UInt32? {
        guard index >= 0, index < contributorCount else { return nil }
        return bytes.integer(at: Self.headerByteCount &+ index &* 4, as: UInt32.self)
    }

    /// True when the first bytes look like RTP rather than STUN, DTLS or RTCP on one port (RFC 7983, RFC 5761 section
    /// 4).
    package static func isLikely(_ bytes: RawSpan) -> Bool {
        guard bytes.byteCount >= headerByteCount, let first = bytes.byte(at: 0), let second = bytes.byte(at: 1) else {
            return false
        }
        return first >> 6 == 2 && !(192...223).contains(second)
    }
}

/// The header fields that a forwarder changes.
package struct RTPHeader: Hashable, Sendable {
    /// 7 bits.
    package var payloadType: UInt8
    /// For video the last packet of a frame, for audio the first after silence.
    package var marker: Bool
    package var sequence: UInt16
    package var timestamp: UInt32
    package var ssrc: UInt32

    package init(payloadType: UInt8, marker: Bool = false, sequence: UInt16, timestamp: UInt32, ssrc: UInt32) {
        self.payloadType = payloadType & 0x7F
        self.marker = marker
        self.sequence = sequence
        self.timestamp = timestamp
        self.ssrc = ssrc
    }
}

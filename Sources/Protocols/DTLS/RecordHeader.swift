import Wire

/// A record of DTLS 1.2, as a range of its datagram (RFC 6347 section 4.1).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |  Content Type |            Version            |     Epoch     |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |     Epoch     |        Sequence Number (48 bits)              |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |              Sequence Number  |             Length            |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
/// A datagram is one or more whole records. Offsets are kept instead of bytes, so that a host can pass on a record from
/// the buffer that it arrived in.
package struct RecordHeader: Hashable, Sendable {
    package enum ContentType: UInt8, Hashable, Sendable {
        case changeCipherSpec = 20
        case alert = 21
        case handshake = 22
        case applicationData = 23
    }

    package static let byteCount = 13
    /// No flight of a handshake needs more records in a datagram. The rest is ignored, so that a datagram of hundreds
    /// of empty records does not cost hundreds of times the work.
    package static let maximumPerDatagram = 16
    /// DTLS 1.0, which a server uses before the version is agreed on (RFC 6347 section 4.2.1).
    static let oldestVersion: UInt16 = 0xFEFF
    static let majorVersion: UInt8 = 0xFE

    package let contentType: ContentType
    /// 0 until a side switches to encryption.
    package let epoch: UInt16
    /// 48 bits.
    package let sequence: UInt64
    /// The range of the record's bytes in the datagram, after the header.
    package let body: Range<Int>

    /// The record that begins at `offset`; nil when there is none, or it does not fit.
    package init?(_ datagram: RawSpan, at offset: Int) {
        guard let first = datagram.byte(at: offset), let contentType = ContentType(rawValue: first),
            datagram.byte(at: offset &+ 1) == Self.majorVersion,
            let epochAndSequence = datagram.integer(at: offset &+ 3, as: UInt64.self),
            let length = datagram.integer(at: offset &+ 11, as: UInt16.self)
        else { return nil }
        let start = offset &+ Self.byteCount
        guard datagram.byteCount &- start >= Int(length) else { return nil }
        self.contentType = contentType
        epoch = UInt16(truncatingIfNeeded: epochAndSequence >> 48)
        sequence = epochAndSequence & 0xFFFF_FFFF_FFFF
        body = start..<start &+ Int(length)
    }

    /// The range of the record in the datagram, with its header.
    package var whole: Range<Int> {
        body.lowerBound &- Self.byteCount..<body.upperBound
    }

    /// Whether a datagram is DTLS, by its first byte, on a port shared with STUN and TURN (RFC 7983 section 7).
    @inlinable
    package static func mayBegin(with first: UInt8) -> Bool {
        first &- 20 < 44
    }
}

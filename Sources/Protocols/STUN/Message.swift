import Wire

/// A STUN message, read in place: nothing is copied.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |0 0|     STUN Message Type     |         Message Length        |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                   Magic Cookie = 0x2112A442                   |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                     Transaction ID (96 bits)                  |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
/// The whole structure is checked once, in `init`; later reads cannot run past the end. A receiver handles only the
/// attributes before the first integrity attribute, because anyone on the path can append to a message (RFC 8489
/// section 14.5): `attribute(_:)` and `visitAttributes(_:)` skip the rest.
package struct Message: ~Escapable {
    package static let headerByteCount = 20
    package static let magicCookie: UInt32 = 0x2112_A442

    package let bytes: RawSpan
    package let type: MessageType
    package let transaction: TransactionID
    /// The end of the attributes that a receiver may handle: the offset of the first integrity attribute, or the end.
    package let handledEnd: Int
    /// The offset of MESSAGE-INTEGRITY, if present.
    package let integrityOffset: Int?
    /// The offset of MESSAGE-INTEGRITY-SHA256, if present.
    package let integritySHA256Offset: Int?
    package let hasFingerprint: Bool

    package enum ParseError: Error, Hashable {
        /// Not a STUN message at all: wrong first bits, cookie or size.
        case notSTUN
        /// An attribute runs past the end of the message.
        case malformedAttribute
        /// FINGERPRINT is present and wrong, so this is not a STUN message either (RFC 8489 section 14.7).
        case wrongFingerprint
    }

    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan) throws(ParseError) {
        guard let bits = bytes.integer(at: 0, as: UInt16.self), let type = MessageType(bits: bits),
            let length = bytes.integer(at: 2, as: UInt16.self), Int(length) == bytes.byteCount &- Self.headerByteCount,
            length & 3 == 0, bytes.integer(at: 4, as: UInt32.self) == Self.magicCookie,
            let first = bytes.integer(at: 8, as: UInt32.self), let rest = bytes.integer(at: 12, as: UInt64.self)
        else { throw .notSTUN }

        var integrity: Int?
        var integritySHA256: Int?
        var fingerprint: Int?
        var offset = Self.headerByteCount
        while offset < bytes.byteCount {
            guard let kind = bytes.integer(at: offset, as: UInt16.self),
                let size = bytes.integer(at: offset &+ 2, as: UInt16.self),
                let end = Self.end(ofAttributeAt: offset, size: size, within: bytes.byteCount)
            else { throw .malformedAttribute }
            switch AttributeType(rawValue: kind) {
            case .messageIntegrity where integrity == nil && integritySHA256 == nil:
                guard size == 20 else { throw .malformedAttribute }
                integrity = offset
            case .messageIntegritySHA256 where integritySHA256 == nil:
                // RFC 8489 section 14.6: at least 16 bytes, a multiple of 4; no usage here allows less than all 32.
                guard size == 32 else { throw .malformedAttribute }
                integritySHA256 = offset
            case .fingerprint where end == bytes.byteCount:
                guard size == 4 else { throw .malformedAttribute }
                fingerprint = offset
            default:
                break
            }
            offset = end
        }
        if let fingerprint {
            guard
                bytes.integer(at: fingerprint &+ 4, as: UInt32.self)
                    == Fingerprint.value(of: bytes.extracting(0..<fingerprint))
            else { throw .wrongFingerprint }
        }

        self.bytes = bytes
        self.type = type
        transaction = TransactionID(first, rest)
        integrityOffset = integrity
        integritySHA256Offset = integritySHA256
        hasFingerprint = fingerprint != nil
        handledEnd = min(
            integrity ?? bytes.byteCount, integritySHA256 ?? bytes.byteCount, fingerprint ?? bytes.byteCount)
    }

    /// True when the first bytes look like STUN rather than ChannelData, DTLS, RTP or noise (RFC 7983).
    package static func isLikely(_ bytes: RawSpan) -> Bool {
        bytes.byteCount >= headerByteCount && (bytes.byte(at: 0) ?? 0xFF) < 4
            && bytes.integer(at: 4, as: UInt32.self) == magicCookie
    }

    /// The value of the first attribute of this type that a receiver may handle.
    @_lifetime(copy self)
    package func attribute(_ type: AttributeType) -> RawSpan? {
        guard let range = range(of: type) else { return nil }
        return bytes.part(range)
    }

    /// The range of that value in the datagram.
    package func range(of type: AttributeType) -> Range<Int>? {
        var offset = Self.headerByteCount
        while offset < handledEnd, let kind = bytes.integer(at: offset, as: UInt16.self),
            let size = bytes.integer(at: offset &+ 2, as: UInt16.self),
            let end = Self.end(ofAttributeAt: offset, size: size, within: handledEnd)
        {
            if kind == type.rawValue {
                return offset &+ 4..<offset &+ 4 &+ Int(size)
            }
            offset = end
        }
        return nil
    }

    package func has(_ type: AttributeType) -> Bool {
        range(of: type) != nil
    }

    /// Calls `body` with every attribute that a receiver may handle, in order.
    package func visitAttributes(_ body: (AttributeType, RawSpan) -> Void) {
        var offset = Self.headerByteCount
        while offset < handledEnd, let kind = bytes.integer(at: offset, as: UInt16.self),
            let size = bytes.integer(at: offset &+ 2, as: UInt16.self),
            let end = Self.end(ofAttributeAt: offset, size: size, within: handledEnd),
            let value = bytes.part(offset &+ 4..<offset &+ 4 &+ Int(size))
        {
            body(AttributeType(rawValue: kind), value)
            offset = end
        }
    }

    /// Attributes are padded to four bytes; the padding must be within the message too.
    private static func end(ofAttributeAt offset: Int, size: UInt16, within limit: Int) -> Int? {
        let end = offset &+ 4 &+ (Int(size) &+ 3) & ~3
        return end <= limit ? end : nil
    }
}

import Wire

/// Where a part of a handshake message lies in its datagram (RFC 6347 section 4.2.2).
///
///     | Type (8) | Length (24) | Message Sequence (16) | Fragment Offset (24) | Fragment Length (24) |
///
/// The length is that of the whole message; a message that is not cut is one fragment.
package struct HandshakeFragment: Hashable, Sendable {
    package enum MessageType: UInt8, Hashable, Sendable {
        case clientHello = 1
        case helloVerifyRequest = 3
        case certificate = 11
        case certificateVerify = 15
        case clientKeyExchange = 16
    }

    package static let headerByteCount = 12

    package let type: UInt8
    package let messageByteCount: Int
    package let messageSequence: UInt16
    /// Where in the message the fragment belongs.
    package let offset: Int
    /// The fragment's bytes in the datagram behind the header.
    package let body: Range<Int>

    /// The fragment at the start of `place` in the datagram; nil when there is none that fits there and in its message.
    package init?(_ datagram: RawSpan, in place: Range<Int>) {
        guard let bytes = datagram.part(place), let typeAndLength = bytes.integer(at: 0, as: UInt32.self),
            let messageSequence = bytes.integer(at: 4, as: UInt16.self),
            // Two bytes of the sequence stand before the 24 bits of the offset, one of the offset before the length.
            let sequenceAndOffset = bytes.integer(at: 5, as: UInt32.self),
            let offsetAndLength = bytes.integer(at: 8, as: UInt32.self)
        else { return nil }
        type = UInt8(truncatingIfNeeded: typeAndLength >> 24)
        messageByteCount = Int(typeAndLength & 0xFF_FFFF)
        self.messageSequence = messageSequence
        offset = Int(sequenceAndOffset & 0xFF_FFFF)
        let length = Int(offsetAndLength & 0xFF_FFFF)
        let start = place.lowerBound &+ Self.headerByteCount
        guard place.upperBound &- start >= length, offset &+ length <= messageByteCount else { return nil }
        body = start..<start &+ length
    }

    package func isOf(_ type: MessageType) -> Bool {
        self.type == type.rawValue
    }

    /// Whether the message is here as a whole.
    package var isWhole: Bool {
        offset == 0 && body.count == messageByteCount
    }
}

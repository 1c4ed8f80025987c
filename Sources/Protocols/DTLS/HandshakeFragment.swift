import Wire

/// A fragment of a handshake message, as a range of its datagram (RFC 6347 section 4.2.2).
///
///     | Type (8) | Length (24) | Message Sequence (16) | Fragment Offset (24) | Fragment Length (24) |
///
/// The length is that of the whole message; a message that is not fragmented is one fragment.
package struct HandshakeFragment: Hashable, Sendable {
    package enum MessageType: UInt8, Hashable, Sendable {
        case clientHello = 1
        case serverHello = 2
        case helloVerifyRequest = 3
        case certificate = 11
        case serverKeyExchange = 12
        case certificateRequest = 13
        case serverHelloDone = 14
        case certificateVerify = 15
        case clientKeyExchange = 16
    }

    package static let headerByteCount = 12

    package let type: UInt8
    package let messageByteCount: Int
    package let messageSequence: UInt16
    /// The fragment's offset in the message.
    package let offset: Int
    /// The range of the fragment's bytes in the datagram, after the header.
    package let body: Range<Int>

    /// The fragment at the start of `range` in the datagram; nil when none fits there and into its message.
    package init?(_ datagram: RawSpan, in range: Range<Int>) {
        guard let bytes = datagram.part(range), let typeAndLength = bytes.integer(at: 0, as: UInt32.self),
            let messageSequence = bytes.integer(at: 4, as: UInt16.self),
            // These overlap: two bytes of sequence before the 24 bits of offset, one byte of offset before the length.
            let sequenceAndOffset = bytes.integer(at: 5, as: UInt32.self),
            let offsetAndLength = bytes.integer(at: 8, as: UInt32.self)
        else { return nil }
        type = UInt8(truncatingIfNeeded: typeAndLength >> 24)
        messageByteCount = Int(typeAndLength & 0xFF_FFFF)
        self.messageSequence = messageSequence
        offset = Int(sequenceAndOffset & 0xFF_FFFF)
        let length = Int(offsetAndLength & 0xFF_FFFF)
        let start = range.lowerBound &+ Self.headerByteCount
        guard range.upperBound &- start >= length, offset &+ length <= messageByteCount else { return nil }
        body = start..<start &+ length
    }

    package func isOf(_ type: MessageType) -> Bool {
        self.type == type.rawValue
    }

    /// Whether it is the whole message.
    package var isWhole: Bool {
        offset == 0 && body.count == messageByteCount
    }
}

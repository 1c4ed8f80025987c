import STUN
import Wire

/// The framing of TURN messages over TCP and TLS: one after the other, each with its own length.
///
/// A STUN message's length excludes the 20 bytes of its header (RFC 8489 section 6.2.2); that of ChannelData is its
/// payload's, padded to a multiple of four on a stream (RFC 8656 section 12.5). Lengths are added in `Int`, so no
/// 16-bit sum can wrap. A reader that lost the beginning of a message could not find the next one, so bytes that cannot
/// begin a message end the connection.
package enum StreamFraming {
    package enum Next: Hashable, Sendable {
        /// The first so many bytes are a message, its padding included.
        case frame(Int)
        /// The message is incomplete. It has at least so many bytes, as far as is known.
        case incomplete(Int)
        /// No message begins like this.
        case malformed
    }

    /// The largest ChannelData and the largest STUN message.
    package static let maximumByteCount = Message.headerByteCount + 0xFFFC

    package static func next(_ bytes: RawSpan) -> Next {
        guard let first = bytes.byte(at: 0) else { return .incomplete(4) }
        switch first & 0xC0 {
        case 0x00:
            // The length's last two bits are 0 in every STUN message.
            guard let length = bytes.integer(at: 2, as: UInt16.self) else {
                return .incomplete(Message.headerByteCount)
            }
            guard length & 3 == 0, bytes.integer(at: 4, as: UInt32.self) ?? Message.magicCookie == Message.magicCookie
            else { return .malformed }
            return whole(Message.headerByteCount + Int(length), bytes.byteCount)
        case 0x40:
            guard let length = bytes.integer(at: 2, as: UInt16.self) else { return .incomplete(4) }
            return whole((4 + Int(length) + 3) & ~3, bytes.byteCount)
        default:
            return .malformed
        }
    }

    private static func whole(_ byteCount: Int, _ available: Int) -> Next {
        available >= byteCount ? .frame(byteCount) : .incomplete(byteCount)
    }
}

/// The protocol of a connection, detected from its first bytes (RFC 7983).
package enum DetectedProtocol: Hashable, Sendable {
    /// A TLS handshake record.
    case tls
    /// A STUN message in the clear.
    case turn
    case incomplete
    case unknown

    package init(_ bytes: RawSpan) {
        switch bytes.byte(at: 0) {
        case nil: self = .incomplete
        // Every TLS version so far has the major number 3.
        case 0x16?: self = bytes.byte(at: 1) ?? 3 == 3 ? .tls : .unknown
        case (0x00...0x3F)?:
            switch bytes.integer(at: 4, as: UInt32.self) {
            case nil: self = .incomplete
            case Message.magicCookie?: self = .turn
            default: self = .unknown
            }
        default: self = .unknown
        }
    }
}

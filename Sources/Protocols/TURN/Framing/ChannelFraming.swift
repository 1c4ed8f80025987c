package import STUN
package import Wire

extension ToClient.Framing {
    /// The largest header that `write` puts before a payload.
    package static let maximumHeaderByteCount = 48

    /// Bytes before the payload: a ChannelData header, or a Data indication up to its DATA value.
    package var headerByteCount: Int {
        switch self {
        case .channel: 4
        case .indication(let peer): peer.address.family == .ipv4 ? 36 : 48
        }
    }

    /// Zero bytes after a payload of this size. ChannelData has none in a datagram (RFC 8656 section 12.5).
    package func paddingByteCount(payload: Int, on transport: Flow.Transport) -> Int {
        switch self {
        case .channel: transport.isStream ? -payload & 3 : 0
        case .indication: -payload & 3
        }
    }

    /// Writes the header into exactly `headerByteCount` bytes of `target`; false when it is smaller or the payload does
    /// not fit a 16-bit length.
    package func write(
        payload: Int, transaction: TransactionID, into target: inout MutableRawSpan
    ) -> Bool {
        // Only an indication's length counts its padding.
        let body = headerByteCount &- Message.headerByteCount &+ payload &+ (-payload & 3)
        guard target.byteCount >= headerByteCount, payload >= 0, body <= 0xFFFF, payload <= 0xFFFF else { return false }
        switch self {
        case .channel(let number):
            target.store(number, at: 0)
            target.store(UInt16(truncatingIfNeeded: payload), at: 2)
        case .indication(let peer):
            target.store(MessageType(.indication, .data).bits, at: 0)
            target.store(UInt16(truncatingIfNeeded: body), at: 2)
            target.store(Message.magicCookie, at: 4)
            target.store(transaction.first, at: 8)
            target.store(transaction.rest, at: 12)
            target.store(AttributeType.xorPeerAddress.rawValue, at: 20)
            target.store(UInt16(truncatingIfNeeded: 4 &+ peer.address.byteCount), at: 22)
            target.store(UInt16(peer.address.family.rawValue), at: 24)
            target.store(peer.port ^ 0x2112, at: 26)
            switch peer.address.family {
            case .ipv4:
                target.store(peer.address.ipv4 ^ Message.magicCookie, at: 28)
            case .ipv6:
                target.store(peer.address.high ^ transaction.xorHigh, at: 28)
                target.store(peer.address.low ^ transaction.rest, at: 36)
            }
            target.store(AttributeType.data.rawValue, at: headerByteCount &- 4)
            target.store(UInt16(truncatingIfNeeded: payload), at: headerByteCount &- 2)
        }
        return true
    }
}

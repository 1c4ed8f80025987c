/// The header of the PROXY protocol, version 2, in which a load balancer names the client of a connection.
///
///     | signature (12) | version 2, command | family, protocol | length (2) | addresses and TLVs |
///
/// From HAProxy's `proxy-protocol.txt`, section 2.2. It is not authenticated: only connections from configured
/// balancers may have it, and those must have it.
package enum ProxyHeader: Hashable, Sendable {
    /// The header takes so many bytes and names this client; nil when the balancer itself connects, for a health check.
    case whole(byteCount: Int, source: TransportAddress?)
    case incomplete
    case malformed

    /// Real headers have up to a few hundred bytes of TLVs.
    package static let maximumByteCount = 2048
    private static let fixedByteCount = 16
    private static let signature: (UInt64, UInt32) = (0x0D0A_0D0A_000D_0A51, 0x5549_540A)

    package init(_ bytes: RawSpan) {
        guard Self.beginsLikeSignature(bytes) else {
            self = .malformed
            return
        }
        guard let command = bytes.byte(at: 12), let kind = bytes.byte(at: 13),
            let length = bytes.integer(at: 14, as: UInt16.self)
        else {
            self = .incomplete
            return
        }
        let byteCount = Self.fixedByteCount + Int(length)
        guard command >> 4 == 2, command & 0xF <= 1, byteCount <= Self.maximumByteCount else {
            self = .malformed
            return
        }
        guard let addresses = bytes.part(Self.fixedByteCount..<byteCount) else {
            self = .incomplete
            return
        }
        if command & 0xF == 0 || kind == 0 {
            // LOCAL, or a family that the balancer does not know: the connection's own address applies.
            self = .whole(byteCount: byteCount, source: nil)
        } else if let source = Self.source(kind, addresses) {
            self = .whole(byteCount: byteCount, source: source)
        } else {
            self = .malformed
        }
    }

    private static func beginsLikeSignature(_ bytes: RawSpan) -> Bool {
        for offset in 0..<min(bytes.byteCount, 12) {
            let expected =
                offset < 8
                ? UInt8(truncatingIfNeeded: signature.0 >> UInt64((7 - offset) * 8))
                : UInt8(truncatingIfNeeded: signature.1 >> UInt32((11 - offset) * 8))
            guard bytes.byte(at: offset) == expected else { return false }
        }
        return true
    }

    /// The source of TCP over IPv4 (0x11) or IPv6 (0x21); datagrams and Unix sockets are not supported.
    private static func source(_ kind: UInt8, _ addresses: RawSpan) -> TransportAddress? {
        let size: Int
        switch kind {
        case 0x11: size = 4
        case 0x21: size = 16
        default: return nil
        }
        // Source, destination, and then their ports.
        guard let bytes = addresses.part(0..<size), let address = IPAddress(bytes: bytes),
            addresses.byteCount >= size * 2 + 4, let port = addresses.integer(at: size * 2, as: UInt16.self)
        else { return nil }
        return TransportAddress(address, port: port)
    }
}

/// An IPv4 or IPv6 address as two integers, so that comparing and hashing need no other memory.
///
/// An IPv4 address is the low 32 bits of `low`; `high` is then 0. Addresses of the two families are never equal, even
/// when an IPv6 address embeds the same IPv4 address: see `EmbeddedIPv4`.
package struct IPAddress: Hashable, Sendable {
    /// Raw values are STUN's family codes (RFC 8489 section 14.1).
    package enum Family: UInt8, Hashable, Sendable {
        case ipv4 = 0x01
        case ipv6 = 0x02
    }

    package let high: UInt64
    package let low: UInt64
    package let family: Family

    package init(ipv4 address: UInt32) {
        high = 0
        low = UInt64(address)
        family = .ipv4
    }

    package init(ipv6High high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
        family = .ipv6
    }

    // Every packet compares addresses. Other modules would call the synthesized operator through a witness table.
    @inlinable
    package static func == (left: IPAddress, right: IPAddress) -> Bool {
        left.low == right.low && left.high == right.high && left.family.rawValue == right.family.rawValue
    }

    /// The IPv4 address as an integer in host order; 0 for IPv6.
    package var ipv4: UInt32 {
        family == .ipv4 ? UInt32(truncatingIfNeeded: low) : 0
    }

    package var byteCount: Int {
        family == .ipv4 ? 4 : 16
    }

    /// The address that every interface listens on: 0.0.0.0 or ::.
    package var isUnspecified: Bool {
        high == 0 && low == 0
    }

    package var isLoopback: Bool {
        switch family {
        case .ipv4: low >> 24 == 127
        case .ipv6: high == 0 && low == 1
        }
    }

    /// fe80::/10, which means something only together with an interface.
    package var isLinkLocalIPv6: Bool {
        family == .ipv6 && high >> 54 == 0xFE80 >> 6
    }
}

extension IPAddress {
    /// The smallest prefix that a provider assigns to one customer: an IPv4 address, or the /64 of an IPv6 one.
    package var sourcePrefix: IPAddress {
        family == .ipv4 ? self : IPAddress(ipv6High: high, low: 0)
    }
}

/// An address and a UDP or TCP port.
package struct TransportAddress: Hashable, Sendable {
    package var address: IPAddress
    package var port: UInt16

    package init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    @inlinable
    package static func == (left: TransportAddress, right: TransportAddress) -> Bool {
        left.port == right.port && left.address == right.address
    }
}

/// A CIDR range: every address of one family whose first `prefixLength` bits are those of `base`.
package struct AddressRange: Hashable, Sendable {
    package let base: IPAddress
    package let prefixLength: Int
    private let maskHigh: UInt64
    private let maskLow: UInt64

    /// The range, or nil when the prefix is longer than the family's addresses. Bits of `base` beyond the prefix are
    /// cleared.
    package init?(_ base: IPAddress, prefixLength: Int) {
        let bits = base.family == .ipv4 ? 32 : 128
        guard (0...bits).contains(prefixLength) else { return nil }
        self.prefixLength = prefixLength
        switch base.family {
        case .ipv4:
            maskHigh = 0
            maskLow = UInt64(UInt32.max) & ~(UInt64(UInt32.max) >> UInt64(prefixLength))
            self.base = IPAddress(ipv4: UInt32(truncatingIfNeeded: base.low & maskLow))
        case .ipv6:
            // Swift's shifts give 0 when they go beyond the width, as a mask needs.
            maskHigh = ~(UInt64.max >> UInt64(min(prefixLength, 64)))
            maskLow = ~(UInt64.max >> UInt64(max(prefixLength - 64, 0)))
            self.base = IPAddress(ipv6High: base.high & maskHigh, low: base.low & maskLow)
        }
    }

    package func contains(_ address: IPAddress) -> Bool {
        address.family == base.family && address.high & maskHigh == base.high && address.low & maskLow == base.low
    }
}

extension AddressRange: LosslessStringConvertible {
    /// `10.0.0.0/8`, `fd00::/8`, or a single address without a slash.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = IPAddress(String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            self.init(base, prefixLength: base.byteCount * 8)
            return
        }
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(parts[1]) else { return nil }
        self.init(base, prefixLength: length)
    }

    package var description: String {
        "\(base)/\(prefixLength)"
    }
}

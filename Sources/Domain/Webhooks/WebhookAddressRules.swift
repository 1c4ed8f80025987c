package import Wire

/// Which addresses a webhook may have: public ones, and those within `allowed`.
///
/// A webhook must not give access to the operator's network, so private, loopback, link-local and other special ranges
/// are refused, and an IPv6 address that embeds an IPv4 address is public only if both are.
package struct WebhookAddressRules: Hashable, Sendable {
    /// Ranges whose addresses are always allowed, without TLS too.
    package let allowed: [AddressRange]
    /// Whether public addresses need no TLS.
    package let allowsPlainHTTP: Bool

    package init(allowed: [AddressRange] = [], allowsPlainHTTP: Bool = false) {
        self.allowed = allowed
        self.allowsPlainHTTP = allowsPlainHTTP
    }

    /// Every address of both families.
    package static let everything = Self(
        allowed: [
            AddressRange(IPAddress(ipv4: 0), prefixLength: 0),
            AddressRange(IPAddress(ipv6High: 0, low: 0), prefixLength: 0),
        ].compactMap(\.self), allowsPlainHTTP: true)

    package func permits(_ address: IPAddress, isEncrypted: Bool) -> Bool {
        if allowed.contains(where: { $0.contains(address) }) { return true }
        return (isEncrypted || allowsPlainHTTP) && Self.isPublic(address)
    }

    /// As `permits`, for the resolver's text. What is no address, or has a zone, which names an interface of this
    /// machine, is refused.
    package func permits(_ text: String, isEncrypted: Bool) -> Bool {
        guard let address = IPAddress(text) else { return false }
        return permits(address, isEncrypted: isEncrypted)
    }

    private static func isPublic(_ address: IPAddress) -> Bool {
        !SpecialRanges.contains(address)
            && EmbeddedIPv4.addresses(in: address).allSatisfy { !SpecialRanges.contains($0) }
    }
}

/// The addresses that no peer may have unless the operator allows it: the IANA special-purpose registries (RFC 6890 and
/// its updates), multicast, and everything outside of global unicast space.
package enum SpecialRanges {
    package static func contains(_ address: IPAddress) -> Bool {
        switch address.family {
        case .ipv4:
            ipv4.contains { $0.contains(address) }
        case .ipv6:
            !globalIPv6.contains { $0.contains(address) } || ipv6.contains { $0.contains(address) }
        }
    }

    private static let ipv4 = ranges(
        "0.0.0.0/8",  // "this host": Linux delivers it to loopback
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",  // private
        "100.64.0.0/10",  // shared, carriers' NATs
        "127.0.0.0/8",  // loopback
        "169.254.0.0/16",  // link-local, clouds' metadata services
        "192.0.0.0/24",  // protocol assignments
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",  // documentation
        "192.88.99.0/24",  // 6to4 relays, deprecated
        "198.18.0.0/15",  // benchmarks
        "224.0.0.0/4",  // multicast
        "240.0.0.0/4")  // reserved, broadcast

    /// Everything that is routed: global unicast, and the NAT64 prefix, whose embedded address is checked separately.
    private static let globalIPv6 = ranges("2000::/3", "64:ff9b::/96")

    /// The special ranges within global unicast space.
    private static let ipv6 = ranges(
        "2001:2::/48",  // benchmarks
        "2001:10::/28", "2001:20::/28", "2001:30::/28",  // ORCHIDs and drone identifiers: no hosts
        "2001:db8::/32", "3fff::/20",  // documentation
        "2620:4f:8000::/48")  // AS112

    private static func ranges(_ texts: String...) -> [AddressRange] {
        texts.compactMap { AddressRange($0) }
    }
}

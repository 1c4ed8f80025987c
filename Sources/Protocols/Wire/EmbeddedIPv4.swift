/// The IPv4 addresses that are embedded in an IPv6 address.
///
/// A translator, tunnel or socket on the path may unwrap them, so a peer's policy checks them too: coturn had to fix
/// this vulnerability four times (CVE-2020-26262, CVE-2026-27624, CVE-2026-53450 and after).
package enum EmbeddedIPv4 {
    package static func addresses(in address: IPAddress) -> [IPAddress] {
        guard address.family == .ipv6 else { return [] }
        let low32 = UInt32(truncatingIfNeeded: address.low)
        // ::/96 compatible (RFC 4291 section 2.5.5.1), ::ffff:0:0/96 mapped (2.5.5.2), ::ffff:0:0:0/96 translated
        // (RFC 2765), 64:ff9b::/96 NAT64 (RFC 6052).
        if address.high == 0, [0, 0xFFFF, 0xFFFF_0000].contains(address.low >> 32) {
            return [IPAddress(ipv4: low32)]
        }
        if address.high == 0x0064_FF9B_0000_0000, address.low >> 32 == 0 {
            return [IPAddress(ipv4: low32)]
        }
        // 64:ff9b:1::/48, local-use NAT64 (RFC 8215): the address follows a prefix of 48, 56, 64 or 96 bits, skipping
        // bits 64 to 71 (RFC 6052 section 2.2).
        if address.high >> 16 == 0x0064_FF9B_0001 {
            let behind48 = address.high << 16 | address.low >> 40 & 0xFFFF
            let behind56 = (address.high & 0xFF) << 24 | address.low >> 32 & 0xFF_FFFF
            return [
                IPAddress(ipv4: UInt32(truncatingIfNeeded: behind48 & 0xFFFF_FFFF)),
                IPAddress(ipv4: UInt32(truncatingIfNeeded: behind56)),
                IPAddress(ipv4: UInt32(truncatingIfNeeded: address.low >> 24)),
                IPAddress(ipv4: low32),
            ]
        }
        // 2002::/16, 6to4 (RFC 3056): the next 32 bits.
        if address.high >> 48 == 0x2002 {
            return [IPAddress(ipv4: UInt32(truncatingIfNeeded: address.high >> 16))]
        }
        // 2001::/32, Teredo (RFC 4380): the server's address, and the client's with every bit inverted.
        if address.high >> 32 == 0x2001_0000 {
            return [IPAddress(ipv4: UInt32(truncatingIfNeeded: address.high)), IPAddress(ipv4: ~low32)]
        }
        // ISATAP (RFC 5214): an interface identifier of 0000:5efe or 0200:5efe and the address.
        if address.low >> 32 & 0xFCFF_FFFF == 0x0000_5EFE {
            return [IPAddress(ipv4: low32)]
        }
        return []
    }
}

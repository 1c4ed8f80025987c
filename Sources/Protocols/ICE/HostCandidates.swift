package import Wire

/// A host candidate of the gateway (RFC 8445 section 5.1, RFC 6544 section 4).
package struct HostCandidate: Hashable, Sendable {
    package let transport: Flow.Transport
    /// The address for clients: the external one, where there is one.
    package let address: TransportAddress
    package let foundation: String
    package let priority: UInt32

    /// Candidates for addresses in the order in which clients should prefer them. UDP comes before TCP, which is
    /// passive here (RFC 6544 section 4.1); `external` maps addresses behind a one-to-one NAT to those that clients
    /// reach, and comes before the others: some clients take the first candidate only. Unreachable addresses and duplicates
    /// are omitted.
    package static func all(
        udp: [TransportAddress], tcp: [TransportAddress], external: [IPAddress: IPAddress] = [:]
    ) -> [HostCandidate] {
        var made: [HostCandidate] = []
        var seen: Set<TransportAddress> = []
        for (transport, bases) in [(Flow.Transport.udp, udp), (.tcp, tcp)] {
            seen.removeAll()
            let mapped = bases.filter { external[$0.address] != nil }
            for base in mapped + bases.filter({ external[$0.address] == nil }) {
                let address = TransportAddress(external[base.address] ?? base.address, port: base.port)
                guard !address.address.isUnspecified, !address.address.isLinkLocalIPv6, address.port != 0,
                    seen.insert(address).inserted
                else { continue }
                made.append(
                    HostCandidate(
                        transport: transport, address: address,
                        foundation: foundation(transport, base.address, bases: transport == .udp ? udp : tcp),
                        priority: priority(transport, index: seen.count - 1)))
            }
        }
        return made
    }

    /// RFC 8445 section 5.1.1.3: equal for candidates with the same base address and transport.
    private static func foundation(
        _ transport: Flow.Transport, _ address: IPAddress, bases: [TransportAddress]
    ) -> String {
        let index = bases.firstIndex { $0.address == address } ?? 0
        return (transport == .udp ? "1" : "2") + String(index)
    }

    /// RFC 8445 section 5.1.2.1, component 1. TCP has a lower type preference than any UDP candidate, and its local
    /// preference begins with that of being passive (RFC 6544 section 4.2).
    static func priority(_ transport: Flow.Transport, index: Int) -> UInt32 {
        let typePreference: UInt32 = transport == .udp ? 126 : 90
        let localPreference =
            transport == .udp
            ? UInt32(65535) &- UInt32(truncatingIfNeeded: min(index, 1000))
            : 4 << 13 | (UInt32(8191) &- UInt32(truncatingIfNeeded: min(index, 1000)))
        return typePreference << 24 | localPreference << 8 | 255
    }
}

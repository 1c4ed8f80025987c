import DatagramIO
import Relay
import Wire

/// An address and transport that `switchboard check` tests.
struct CheckTarget: Hashable, Sendable {
    let transport: Flow.Transport
    let address: TransportAddress
    /// Reached through relay.externalAddress, behind which another machine may respond.
    let isExternal: Bool

    var label: String { "\(transport.name) \(address)" }

    /// Every transport of the configuration, on every address that clients may use.
    ///
    /// - Parameter address: the only one to test, for a check from another machine.
    static func all(_ relay: RelaySettings, at address: IPAddress?) -> [CheckTarget] {
        let addresses: [(IPAddress, Bool)]
        if let address {
            addresses = [(address, true)]
        } else {
            let external = relay.configuration.externalAddresses.map { ($0.external, true) }
            let local = localAddresses(relay.configuration.listen).filter { own in !external.contains { $0.0 == own } }
            addresses = local.map { ($0, false) } + external
        }
        return transports(relay).flatMap { transport, port in
            addresses.map { address, isExternal in
                CheckTarget(
                    transport: transport, address: TransportAddress(address, port: port), isExternal: isExternal)
            }
        }
    }

    /// The listed addresses; for a wildcard, one address of each family, loopback only if there is no other.
    private static func localAddresses(_ listen: [IPAddress]) -> [IPAddress] {
        let wildcards = listen.isEmpty ? [IPAddress.Family.ipv4, .ipv6] : listen.filter(\.isUnspecified).map(\.family)
        let own = LocalAddresses.current().preferred
        let found = wildcards.compactMap { family in
            own.first { $0.family == family && !$0.isLoopback } ?? own.first { $0.family == family }
        }
        return listen.filter { !$0.isUnspecified } + found
    }

    private static func transports(_ settings: RelaySettings) -> [(Flow.Transport, UInt16)] {
        let relay = settings.configuration
        let open: [(Flow.Transport, UInt16)] = [(.udp, relay.port), (.tcp, relay.port)]
        guard settings.hasTLS else { return open }
        // relay.port accepts all four.
        let secured = relay.tlsPorts.isEmpty ? [relay.port] : relay.tlsPorts
        return open + secured.flatMap { [(.tls, $0), (.dtls, $0)] }
    }
}

extension Flow.Transport {
    var name: String {
        switch self {
        case .udp: "UDP"
        case .tcp: "TCP"
        case .tls: "TLS"
        case .dtls: "DTLS"
        }
    }

    /// The protocol that a firewall sees.
    var carrier: String { self == .udp || self == .dtls ? "UDP" : "TCP" }
}

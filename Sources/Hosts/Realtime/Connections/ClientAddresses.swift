package import NIOCore
import Synchronization
package import Wire

/// Determines the addresses of clients: the remote address of the connection or, behind trusted proxies, what those
/// report.
///
///     connection -> PROXY header, from `proxyProtocol` sources -> forwarded header, while the hop is a trusted proxy
///
/// The addresses are for limits: an IPv6 client has a /64 to itself, so its whole prefix counts as one.
package final class ClientAddresses: Sendable {
    package struct Rules: Sendable {
        /// Proxies whose `header` is trusted.
        package var trustedProxies: [AddressRange] = []
        package var header = ForwardedHeader.none
        /// Load balancers whose connections begin with a PROXY header.
        package var proxyProtocol: [AddressRange] = []

        package init() {}
    }

    /// The address of a connection without one, as in tests.
    package static let unknown = "-"

    private let rules: Rules
    /// Clients of connections that began with a PROXY header.
    private let proxiedClients = Mutex<[ObjectIdentifier: IPAddress]>([:])

    package init(_ rules: Rules = Rules()) { self.rules = rules }

    /// The client of a request for limits: an IPv4 address, or a /64.
    ///
    /// - Parameter lines: returns all lines of a header in order.
    package func client(of channel: any Channel, header lines: (_ name: String) -> [String]) -> String {
        guard let peer = peer(of: channel) else { return Self.unknown }
        guard rules.header != .none, isTrusted(peer) else { return peer.limitKey }
        return client(behind: peer, hops: rules.header.hops(in: lines(rules.header.rawValue))).limitKey
    }

    /// The client of a connection: from the PROXY header, otherwise the remote address.
    func peer(of channel: any Channel) -> IPAddress? {
        if !rules.proxyProtocol.isEmpty, let client = proxiedClients.withLock({ $0[ObjectIdentifier(channel)] }) {
            return client
        }
        return channel.remoteAddress?.ipAddress.flatMap { IPAddress($0)?.unmapped }
    }

    /// Goes from right to left to the first hop that is not a trusted proxy; stops at a hop without an address.
    package func client(behind peer: IPAddress, hops: [IPAddress?]) -> IPAddress {
        var client = peer
        for hop in hops.reversed() {
            guard isTrusted(client), let hop else { break }
            client = hop
        }
        return client
    }

    package func isTrusted(_ address: IPAddress) -> Bool { rules.trustedProxies.contains { $0.contains(address) } }

    func expectsProxyHeader(_ peer: IPAddress) -> Bool { rules.proxyProtocol.contains { $0.contains(peer) } }

    /// Stores the client for which a load balancer opened the connection, until it is closed.
    func setClient(_ client: IPAddress, of channel: any Channel) {
        let id = ObjectIdentifier(channel)
        proxiedClients.withLock { $0[id] = client }
        channel.closeFuture.whenComplete { [weak self] _ in self?.proxiedClients.withLock { $0[id] = nil } }
    }
}

extension IPAddress {
    /// The key of limits, as text: an IPv4 address, or the /64 of an IPv6 address.
    var limitKey: String {
        family == .ipv4 ? description : "\(sourcePrefix)/64"
    }
}

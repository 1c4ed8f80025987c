package import NIOCore
import Synchronization
package import Wire

/// Tells where clients are: the other end of their connection or, behind proxies that are trusted, what those say.
///
///     connection -> PROXY header, from `proxyProtocol` sources -> forwarded header, while the hop is a trusted proxy
///
/// What it tells is meant for counting: an IPv6 client has a /64 to itself, so its whole prefix counts as one.
package final class ClientAddresses: Sendable {
    package struct Rules: Sendable {
        /// Proxies whose `header` is believed.
        package var trustedProxies: [AddressRange] = []
        package var header = ForwardedHeader.none
        /// Load balancers whose connections begin with a PROXY header.
        package var proxyProtocol: [AddressRange] = []

        package init() {}
    }

    /// Of a connection without an address, such as one in a test.
    package static let unknown = "-"

    private let rules: Rules
    /// Clients of connections that began with a PROXY header.
    private let announced = Mutex<[ObjectIdentifier: IPAddress]>([:])

    package init(_ rules: Rules = Rules()) { self.rules = rules }

    /// The client of a request as it is counted: an IPv4 address, or a /64.
    ///
    /// - Parameter lines: of a header by its name, all lines of it in their order.
    package func client(of channel: any Channel, header lines: (_ name: String) -> [String]) -> String {
        guard let peer = peer(of: channel) else { return Self.unknown }
        guard rules.header != .none, isTrusted(peer) else { return peer.limitKey }
        return client(behind: peer, hops: rules.header.hops(in: lines(rules.header.rawValue))).limitKey
    }

    /// The client of a connection: whoever the PROXY header names, else the other end.
    func peer(of channel: any Channel) -> IPAddress? {
        if !rules.proxyProtocol.isEmpty, let client = announced.withLock({ $0[ObjectIdentifier(channel)] }) {
            return client
        }
        return channel.remoteAddress?.ipAddress.flatMap { IPAddress($0)?.unmapped }
    }

    /// From right to left to the first hop that is no trusted proxy; a hop without an address ends the walk.
    package func client(behind peer: IPAddress, hops: [IPAddress?]) -> IPAddress {
        var client = peer
        for hop in hops.reversed() {
            guard isTrusted(client), let hop else { break }
            client = hop
        }
        return client
    }

    package func isTrusted(_ address: IPAddress) -> Bool { rules.trustedProxies.contains { $0.contains(address) } }

    func mustAnnounce(_ peer: IPAddress) -> Bool { rules.proxyProtocol.contains { $0.contains(peer) } }

    /// Notes for whom a balancer opened the connection, until it is closed.
    func announce(_ client: IPAddress, of channel: any Channel) {
        let id = ObjectIdentifier(channel)
        announced.withLock { $0[id] = client }
        channel.closeFuture.whenComplete { [weak self] _ in self?.announced.withLock { $0[id] = nil } }
    }
}

extension IPAddress {
    /// What limits count by: an IPv4 address, or the /64 of an IPv6 address.
    var limitKey: String {
        switch family {
        case .ipv4: description
        case .ipv6: AddressRange(self, prefixLength: 64)?.description ?? description
        }
    }
}

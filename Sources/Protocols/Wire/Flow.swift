/// The 5-tuple of a datagram or connection (RFC 8656 section 2.2), seen from the server.
package struct Flow: Hashable, Sendable {
    package enum Transport: UInt8, CaseIterable, Hashable, Sendable {
        case udp
        case tcp
        case tls
        case dtls

        /// A byte stream over a connection, not datagrams.
        package var isStream: Bool {
            self == .tcp || self == .tls
        }
    }

    /// The server's own address, on which the client's datagrams arrive.
    package let local: TransportAddress
    /// The client's address as the server sees it: its server-reflexive address.
    package let remote: TransportAddress
    package let transport: Transport

    package init(_ transport: Transport, local: TransportAddress, remote: TransportAddress) {
        self.transport = transport
        self.local = local
        self.remote = remote
    }

    @inlinable
    package static func == (left: Flow, right: Flow) -> Bool {
        left.remote == right.remote && left.local == right.local && left.transport.rawValue == right.transport.rawValue
    }

    // A flow is looked up for every datagram of a client, so it is hashed in as few words as possible.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(
            UInt64(local.port) << 48 | UInt64(remote.port) << 32 | UInt64(transport.rawValue) << 8
                | UInt64(local.address.family.rawValue))
        switch local.address.family {
        case .ipv4:
            hasher.combine(local.address.low << 32 | remote.address.low & 0xFFFF_FFFF)
        case .ipv6:
            hasher.combine(local.address.high)
            hasher.combine(local.address.low)
            hasher.combine(remote.address.high)
            hasher.combine(remote.address.low)
        }
    }
}

package import Wire

/// The open relays of all workers.
package protocol LiveRelays: AnyObject, Sendable {
    /// The local address of the relay with this address, one of the server's own, local or external. nil when there is
    /// no open relay.
    func local(of address: TransportAddress) -> TransportAddress?
}

/// Decides which peers a client may reach.
///
/// Special-purpose addresses are forbidden, in every notation, unless `allowed` has them. The server's own addresses
/// are forbidden in any range, except for the ports of live relays, so that two relayed clients reach each other and no
/// client reaches the server's other services. Allowing a range that contains an own address allows its ports too,
/// except for `deniedOwnPorts`. `openOwn` are services of this server that are public anyway: clients that can reach
/// nothing but the relay use them through it. Addresses in `denied` are always forbidden, except for relays of this
/// server.
package struct PeerPolicy: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// Send to `destination`, which differs from the peer when that is an own external address.
        case allowed(destination: TransportAddress, isOwn: Bool)
        case forbidden
    }

    private let allowed: [AddressRange]
    private let denied: [AddressRange]
    private let own: [IPAddress]
    /// External addresses and the local ones behind them.
    private let externals: [(external: IPAddress, local: IPAddress)]
    private let deniedOwnPorts: Set<UInt16>
    private let openOwn: Set<TransportAddress>
    private let live: any LiveRelays

    /// `own` are all addresses of this machine; external ones are added to them. `openOwn` are local addresses.
    package init(
        allowed: [AddressRange], denied: [AddressRange] = [], own: [IPAddress],
        externals: [(external: IPAddress, local: IPAddress)],
        deniedOwnPorts: Set<UInt16>, openOwn: Set<TransportAddress> = [], live: any LiveRelays
    ) {
        self.allowed = allowed
        self.denied = denied
        var all = own
        for mapping in externals where !all.contains(mapping.external) { all.append(mapping.external) }
        self.own = all
        self.externals = externals
        self.deniedOwnPorts = deniedOwnPorts
        self.openOwn = openOwn
        self.live = live
    }

    /// Whether an address is in a special-purpose range, and so not on the public Internet.
    package static func isSpecialPurpose(_ address: IPAddress) -> Bool { SpecialRanges.contains(address) }

    /// - Parameter gatewayOnly: allows no peers but the public services of this server.
    package func verdict(on peer: TransportAddress, gatewayOnly: Bool = false) -> Verdict {
        if gatewayOnly {
            let local = TransportAddress(local(of: peer.address), port: peer.port)
            guard isOwn(peer.address), openOwn.contains(local), !isDenied(peer.address) else { return .forbidden }
            return .allowed(destination: local, isOwn: true)
        }
        if isOwn(peer.address) {
            if let local = live.local(of: peer) { return .allowed(destination: local, isOwn: true) }
            let local = TransportAddress(local(of: peer.address), port: peer.port)
            guard isOpenOwn(local, as: peer.address) else { return .forbidden }
            return .allowed(destination: local, isOwn: true)
        }
        guard isPermitted(peer.address),
            EmbeddedIPv4.addresses(in: peer.address).allSatisfy({ isPermitted($0) && !isOwn($0) })
        else { return .forbidden }
        return .allowed(destination: peer, isOwn: false)
    }

    /// Whether a permission for this address is allowed: on an own address, each port is checked when a packet comes.
    func allowsSome(_ address: IPAddress, gatewayOnly: Bool) -> Bool {
        guard !gatewayOnly else { return isOwn(address) }
        return isOwn(address) || verdict(on: TransportAddress(address, port: 0)) != .forbidden
    }

    /// Whether a packet to or from this port of an own address may pass now; `address` is the local one.
    func allowsOwn(_ address: TransportAddress, gatewayOnly: Bool) -> Bool {
        guard !gatewayOnly else { return openOwn.contains(address) && !isDenied(address.address) }
        return live.local(of: address) != nil || isOpenOwn(address, as: address.address)
    }

    /// Whether a service of this machine is open to peers; clients may use its external address.
    private func isOpenOwn(_ local: TransportAddress, as address: IPAddress) -> Bool {
        if openOwn.contains(local) { return !isDenied(address) }
        return isListed(address) && !deniedOwnPorts.contains(local.port)
    }

    /// Whether this is the address of one of our own relays, which must not become clients: that would make a loop.
    func isLiveRelay(_ address: TransportAddress) -> Bool {
        isOwn(address.address) && live.local(of: address) != nil
    }

    /// The address that clients are given for an own local one: its external address, where there is one.
    func advertised(_ address: TransportAddress) -> TransportAddress {
        guard let mapping = externals.first(where: { $0.local == address.address }) else { return address }
        return TransportAddress(mapping.external, port: address.port)
    }

    func isOwn(_ address: IPAddress) -> Bool {
        // All of 127/8, 0.0.0.0 and :: reach this machine.
        own.contains(address) || address.isLoopback || address.isUnspecified
    }

    private func local(of address: IPAddress) -> IPAddress {
        externals.first { $0.external == address }?.local ?? address
    }

    private func isPermitted(_ address: IPAddress) -> Bool {
        SpecialRanges.contains(address) ? isListed(address) : !isDenied(address)
    }

    private func isListed(_ address: IPAddress) -> Bool {
        allowed.contains { $0.contains(address) } && !address.isUnspecified && !isDenied(address)
    }

    private func isDenied(_ address: IPAddress) -> Bool {
        denied.contains { $0.contains(address) }
    }
}

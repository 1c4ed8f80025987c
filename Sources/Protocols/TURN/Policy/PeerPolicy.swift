package import Wire

/// The relays that live now, on all workers.
package protocol LiveRelays: AnyObject, Sendable {
    /// Where the relay is bound that is reached under this address, one of the server's own, local or external. nil
    /// when no relay lives there.
    func local(of address: TransportAddress) -> TransportAddress?
}

/// The one place that decides which peers a client may reach.
///
/// Everything special-purpose is refused, in every spelling, unless `allowed` opens it. The server's own addresses are
/// refused whatever range they are in, but for the ports of live relays, so that two relayed clients reach each other
/// and nobody reaches the server's other services. Opening a range that holds an own address opens its ports too, but
/// for `deniedOwnPorts`. `openOwn` are services of this server that everybody may reach anyway: clients that get through
/// to nothing but the relay reach them by it. What `denied` names is refused in any case; relays of this server are the
/// one exception.
package struct PeerPolicy: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// Send to `destination`, which differs from the peer where that is an own external address.
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

    /// Whether an address is of a range that is not the open Internet's.
    package static func isSpecialPurpose(_ address: IPAddress) -> Bool { SpecialRanges.contains(address) }

    /// - Parameter gatewayOnly: of peers none but the services of this server that everybody may reach.
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

    /// Whether a permission for this address may stand: on an own address, each port is judged when a packet comes.
    func allowsSome(_ address: IPAddress, gatewayOnly: Bool) -> Bool {
        guard !gatewayOnly else { return isOwn(address) }
        return isOwn(address) || verdict(on: TransportAddress(address, port: 0)) != .forbidden
    }

    /// Whether a packet to or from this port of an own address may pass now; `address` in its local form.
    func allowsOwn(_ address: TransportAddress, gatewayOnly: Bool) -> Bool {
        guard !gatewayOnly else { return openOwn.contains(address) && !isDenied(address.address) }
        return live.local(of: address) != nil || isOpenOwn(address, as: address.address)
    }

    /// Whether a service of this machine is open to peers; clients may know its address by another name.
    private func isOpenOwn(_ local: TransportAddress, as address: IPAddress) -> Bool {
        if openOwn.contains(local) { return !isDenied(address) }
        return isListed(address) && !deniedOwnPorts.contains(local.port)
    }

    /// Whether packets from here are our own relays', which must not become clients: a chain of them would be a loop.
    func isLiveRelay(_ address: TransportAddress) -> Bool {
        isOwn(address.address) && live.local(of: address) != nil
    }

    /// What clients are told for an address that packets arrive from: the external form of a local one.
    func told(_ address: TransportAddress) -> TransportAddress {
        guard let mapping = externals.first(where: { $0.local == address.address }) else { return address }
        return TransportAddress(mapping.external, port: address.port)
    }

    func isOwn(_ address: IPAddress) -> Bool {
        // All of 127/8 and 0.0.0.0 and :: lead to this machine.
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

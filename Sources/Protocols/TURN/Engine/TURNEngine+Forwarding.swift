import BasicContainers
import STUN
package import Wire

/// A packet from a client to a peer: `payload` is its range in the client's datagram.
package struct ToPeer: Hashable, Sendable {
    package let relay: RelayID
    package let destination: TransportAddress
    package let payload: Range<Int>
    /// Whether to set the IP header's DF bit (RFC 8656 section 14). Never for ChannelData: that section's "alternate
    /// behavior", which does not copy the bit from the received packet.
    package let dontFragment: Bool

    package init(relay: RelayID, destination: TransportAddress, payload: Range<Int>, dontFragment: Bool = false) {
        self.relay = relay
        self.destination = destination
        self.payload = payload
        self.dontFragment = dontFragment
    }
}

/// A packet from a peer to a client: the payload is the whole datagram, and `framing` goes before it.
package struct ToClient: Hashable, Sendable {
    package let flow: Flow
    package let framing: Framing
    /// The worker that must send it, nil for this one: see `TURNEngine.host(of:)`.
    package let worker: UInt8?

    package init(flow: Flow, framing: Framing, through worker: UInt8? = nil) {
        self.flow = flow
        self.framing = framing
        self.worker = worker
    }

    package enum Framing: Hashable, Sendable {
        /// ChannelData, RFC 8656 section 12.4.
        case channel(UInt16)
        /// A Data indication that names this peer, section 11.3.
        case indication(TransportAddress)
    }
}

// The fast path, which runs for every media packet. Nothing here allocates or copies.

extension TURNEngine {
    ///     |         Channel Number        |            Length             |      RFC 8656 section 12.4
    mutating func forwardChannelData(_ bytes: RawSpan, on flow: Flow, at now: Instant) -> ToPeer? {
        guard let number = bytes.integer(at: 0, as: UInt16.self), let length = bytes.integer(at: 2, as: UInt16.self),
            Int(length) <= bytes.byteCount &- 4
        else {
            counters.malformed &+= 1
            return nil
        }
        guard let slot = flows[flow].map({ Int($0) }), allocations[slot].isOpen,
            let channel = channel(in: slot, where: { $0.number == number }), channel.expiry > now,
            channel.permissionExpiry > now,
            !channel.isOwn || policy.allowsOwn(channel.peer, gatewayOnly: allocations[slot].reachesGatewayOnly)
        else {
            counters.unpermittedFromClient &+= 1
            return nil
        }
        guard passes(allocations[slot].toPeers.spend(Int(length), limits, at: now)),
            fitsSharedLimits(slot, Int(length), at: now)
        else { return nil }
        confirmMove(to: flow, slot)
        return ToPeer(
            relay: relayID(slot, channel.peer.address.family), destination: channel.peer,
            payload: 4..<4 &+ Int(length))
    }

    /// RFC 8656 section 11.2. A Send indication gets no response.
    mutating func forwardSend(_ message: borrowing Message, on flow: Flow, at now: Instant) -> ToPeer? {
        guard let slot = flows[flow].map({ Int($0) }), allocations[slot].isOpen,
            let peer = message.xorAddress(.xorPeerAddress), let payload = message.range(of: .data),
            message.unknownRequired(knowing: Self.sendAttributes).isEmpty, isPossible(message),
            allocations[slot].transport == .udp,
            allocations[slot].relay(peer.address.family) != nil,
            // The verdict also maps an own external address to the local one.
            case .allowed(let destination, _) = policy.verdict(
                on: peer, gatewayOnly: allocations[slot].reachesGatewayOnly),
            hasPermission(slot, destination.address, at: now)
        else {
            counters.unpermittedFromClient &+= 1
            return nil
        }
        guard passes(allocations[slot].toPeers.spend(payload.count, limits, at: now)),
            fitsSharedLimits(slot, payload.count, at: now)
        else { return nil }
        confirmMove(to: flow, slot)
        return ToPeer(
            relay: relayID(slot, destination.address.family), destination: destination, payload: payload,
            dontFragment: message.has(.dontFragment))
    }

    /// A Send indication with DONT-FRAGMENT is dropped where the host cannot set the bit (RFC 8656 section 11.2).
    private func isPossible(_ send: borrowing Message) -> Bool {
        setsDontFragment || !send.has(.dontFragment)
    }

    /// The client sent something valid on this flow. Where its allocation is moving there, that completes the move.
    mutating func confirmMove(to flow: Flow, _ slot: Int) {
        if allocations[slot].isMoving, allocations[slot].mobility?.pending == flow { completeMove(slot: slot) }
    }

    private mutating func passes(_ verdict: TrafficLimiter.Verdict) -> Bool {
        switch verdict {
        case .passes: return true
        case .tooManyBytes: counters.limitedBytes &+= 1
        case .tooManyPackets: counters.limitedPackets &+= 1
        }
        return false
    }

    /// Whether the limits that its user's allocations share, and all of the relay, allow so many bytes more.
    private mutating func fitsSharedLimits(_ slot: Int, _ byteCount: Int, at now: Instant) -> Bool {
        guard allocations[slot].userBudget.take(byteCount, at: now) else {
            counters.limitedUserBytes &+= 1
            return false
        }
        guard totalBudget.take(byteCount, at: now) else {
            counters.limitedTotalBytes &+= 1
            return false
        }
        return true
    }

    /// Handles a datagram of so many bytes that arrived at a relay. The packet that it returns is sent to the client.
    package mutating func receiveFromPeer(
        on relay: RelayID, from peer: TransportAddress, byteCount: Int, at now: Instant
    ) -> ToClient? {
        let slot = Int(relay.allocation.slot)
        guard slot < allocations.count, allocations[slot].generation == relay.allocation.generation,
            allocations[slot].isOpen
        else { return nil }
        if let channel = channel(in: slot, where: { $0.peer == peer }), channel.expiry > now,
            channel.permissionExpiry > now
        {
            guard !channel.isOwn || policy.allowsOwn(peer, gatewayOnly: allocations[slot].reachesGatewayOnly) else {
                counters.unpermittedFromPeer &+= 1
                return nil
            }
            guard passes(allocations[slot].toClient.spend(byteCount, limits, at: now)),
                fitsSharedLimits(slot, byteCount, at: now)
            else { return nil }
            return toClient(slot, .channel(channel.number))
        }
        guard hasPermission(slot, peer.address, at: now), allocations[slot].transport == .udp,
            !policy.isOwn(peer.address)
                || policy.allowsOwn(peer, gatewayOnly: allocations[slot].reachesGatewayOnly)
        else {
            counters.unpermittedFromPeer &+= 1
            return nil
        }
        guard passes(allocations[slot].toClient.spend(byteCount, limits, at: now)),
            fitsSharedLimits(slot, byteCount, at: now)
        else { return nil }
        return toClient(slot, .indication(policy.advertised(peer)))
    }

    private func toClient(_ slot: Int, _ framing: ToClient.Framing) -> ToClient {
        let flow = allocations[slot].flow
        return ToClient(flow: flow, framing: framing, through: host(of: flow))
    }

    private mutating func channel(in slot: Int, where matches: (Channel) -> Bool) -> Channel? {
        if let recent = allocations[slot].recentChannel, matches(recent) { return recent }
        for index in 0..<allocations[slot].channels.count where matches(allocations[slot].channels[index]) {
            allocations[slot].recentChannel = allocations[slot].channels[index]
            return allocations[slot].channels[index]
        }
        return nil
    }

    func hasPermission(_ slot: Int, _ peer: IPAddress, at now: Instant) -> Bool {
        for index in 0..<allocations[slot].permissions.count
        where allocations[slot].permissions[index].peer == peer {
            return allocations[slot].permissions[index].expiry > now
        }
        return false
    }

    func relayID(_ slot: Int, _ family: IPAddress.Family) -> RelayID {
        RelayID(
            AllocationID(slot: UInt32(truncatingIfNeeded: slot), generation: allocations[slot].generation), family)
    }
}

import BasicContainers
package import Wire

// The rate limits of a TCP allocation's connections. A stream must not lose bytes, so the host asks before it reads and
// reads no more than allowed: the kernel's full buffer slows down the sender.

/// Which side sends: the client or the peer.
package enum StreamSender: Hashable, Sendable {
    case client, peer
}

extension TURNEngine {
    /// How many bytes, at most `requested`, may be read now from a bound connection. 0 when its allocation's bandwidth
    /// is used up: then the host asks again a little later.
    package mutating func streamAllowance(
        _ id: PeerConnectionID, from source: StreamSender, upTo requested: Int, at now: Instant
    ) -> Int {
        guard let slot = peerConnections[id].map({ Int($0.allocation.slot) }), slot < allocations.count else {
            return requested
        }
        let own =
            switch source {
            case .client: allocations[slot].toPeers.allowance(upTo: requested, limits, at: now)
            case .peer: allocations[slot].toClient.allowance(upTo: requested, limits, at: now)
            }
        let user = allocations[slot].userBudget.available(upTo: own, at: now)
        return totalBudget.available(upTo: user, at: now)
    }

    /// Charges bytes that were read. They may exceed the allowance a little, since TLS reads whole records; the excess
    /// is deducted later.
    package mutating func streamed(_ byteCount: Int, on id: PeerConnectionID, from source: StreamSender) {
        guard let slot = peerConnections[id].map({ Int($0.allocation.slot) }), slot < allocations.count else { return }
        switch source {
        case .client: allocations[slot].toPeers.charge(byteCount)
        case .peer: allocations[slot].toClient.charge(byteCount)
        }
        allocations[slot].userBudget.charge(byteCount)
        totalBudget.charge(byteCount)
    }
}

import BasicContainers
package import Wire

// What a TCP allocation's connections may carry. A stream loses nothing, so the host asks before it reads and reads no
// more than that: what waits in the kernel makes the sender wait.

/// Who sends: the client or the peer.
package enum StreamSource: Hashable, Sendable {
    case client, peer
}

extension TURNEngine {
    /// How many bytes, at most `wanted`, may be read now of a bound connection. 0 when its allocation's bandwidth is used
    /// up: then the host asks again a little later.
    package mutating func streamAllowance(
        _ id: PeerConnectionID, from source: StreamSource, upTo wanted: Int, at now: Instant
    ) -> Int {
        guard let slot = peerConnections[id].map({ Int($0.allocation.slot) }), slot < allocations.count else {
            return wanted
        }
        let own =
            switch source {
            case .client: allocations[slot].toPeers.allowance(upTo: wanted, limits, at: now)
            case .peer: allocations[slot].toClient.allowance(upTo: wanted, limits, at: now)
            }
        let ofUser = allocations[slot].ofUser.available(upTo: own, at: now)
        return ofAll.available(upTo: ofUser, at: now)
    }

    /// Bytes were read. A few more than was allowed, as TLS may have kept the beginning of a record, are owed.
    package mutating func streamed(_ byteCount: Int, on id: PeerConnectionID, from source: StreamSource) {
        guard let slot = peerConnections[id].map({ Int($0.allocation.slot) }), slot < allocations.count else { return }
        switch source {
        case .client: allocations[slot].toPeers.owe(byteCount)
        case .peer: allocations[slot].toClient.owe(byteCount)
        }
        allocations[slot].ofUser.owe(byteCount)
        ofAll.owe(byteCount)
    }
}

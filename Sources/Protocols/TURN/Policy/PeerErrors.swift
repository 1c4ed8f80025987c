import BasicContainers
import STUN
package import Wire

/// An ICMP error for a packet that a relay sent: its type and code, and the MTU for a packet that was too big.
package struct PeerError: Hashable, Sendable {
    package let type: UInt8
    package let code: UInt8
    package let mtu: UInt32

    package init(type: UInt8, code: UInt8, mtu: UInt32) {
        self.type = type
        self.code = code
        self.mtu = mtu
    }

    /// Whether its type is reported to clients (RFC 8656 section 11.5): over IPv4 destination unreachable and time
    /// exceeded, over IPv6 these two and packet too big.
    func isReported(_ family: IPAddress.Family) -> Bool {
        switch family {
        case .ipv4: type == 3 || type == 11
        case .ipv6: (1...3).contains(type)
        }
    }

    /// Only "fragmentation needed" and "packet too big" carry an MTU; for all others the field is zero (section 18.13).
    func errorData(_ family: IPAddress.Family) -> UInt32 {
        switch family {
        case .ipv4: type == 3 && code == 4 ? mtu : 0
        case .ipv6: type == 2 ? mtu : 0
        }
    }
}

extension TURNEngine {
    /// Reports an ICMP error for a packet to `peer` to the client, in a Data indication with ICMP and no DATA (RFC 8656
    /// sections 11.5 and 11.6). Only while the peer has a permission, and at a bounded rate: anyone on the path can
    /// forge one.
    package mutating func receiveError(
        _ error: PeerError, on relay: RelayID, from peer: TransportAddress, at now: Instant,
        into outbox: inout some RelayOutbox & ~Copyable
    ) {
        let slot = Int(relay.allocation.slot)
        guard slot < allocations.count, allocations[slot].generation == relay.allocation.generation,
            allocations[slot].isOpen, peer.address.family == relay.family, error.isReported(relay.family),
            hasPermission(slot, peer.address, at: now),
            !policy.isOwn(peer.address) || policy.allowsOwn(peer, gatewayOnly: allocations[slot].reachesGatewayOnly),
            allocations[slot].errors.take(1, AllocationLimits.errors, at: now)
        else {
            counters.peerErrorsDropped &+= 1
            return
        }
        counters.peerErrors &+= 1
        writer.begin(MessageType(.indication, .data), TransactionID(errorSerial, UInt64(errorSerial)))
        errorSerial &+= 1
        writer.append(.xorPeerAddress, xor: policy.advertised(peer))
        writer.append(icmpType: error.type, code: error.code, errorData: error.errorData(relay.family))
        send(on: allocations[slot].flow, into: &outbox)
    }
}

import BasicContainers
import STUN
import Wire

// CreatePermission: RFC 8656 section 10.

extension TURNEngine {
    /// All peers of the request get a permission or none does. Each is checked by itself, with its port where it is one
    /// of the server's own addresses: there RFC 8656 section 10.1's "the port is ignored" would let a client reach
    /// every port of this machine.
    mutating func createPermission(
        _ message: borrowing Message, _ request: Request, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard
            let slot = openSlot(
                message, request, of: flows[request.flow], knowing: Self.permissionAttributes, into: &outbox)
        else { return }
        var peers: [AuthorizedPeer] = []
        var error: ErrorCode?
        let transaction = message.transaction
        message.visitAttributes { type, value in
            guard type == .xorPeerAddress, error == nil else { return }
            guard let peer = TransportAddress(xorValue: value, transaction: transaction) else {
                error = .badRequest
                return
            }
            switch authorize(peer, slot: slot) {
            case .success(let authorized): peers.append(authorized)
            case .failure(let failure): error = failure.code
            }
        }
        if peers.isEmpty, error == nil { error = .badRequest }
        if error == nil, !admit(peers, slot: slot, at: request.now) { error = .insufficientCapacity }
        if let error {
            reject(message, error, request, into: &outbox)
            return
        }
        confirmMove(to: request.flow, slot)
        for peer in peers { permit(peer, slot: slot, at: request.now) }
        writer.begin(MessageType(.success, .createPermission), message.transaction)
        finish(request.signing, on: request.flow, into: &outbox)
    }

    /// A peer that the policy allows.
    struct AuthorizedPeer {
        let destination: TransportAddress
        let isOwn: Bool
    }

    func authorize(_ peer: TransportAddress, slot: Int) -> Result<AuthorizedPeer, RequestError> {
        guard allocations[slot].relay(peer.address.family) != nil else {
            return .failure(.rejected(.peerAddressFamilyMismatch))
        }
        switch policy.verdict(on: peer, gatewayOnly: allocations[slot].reachesGatewayOnly) {
        case .forbidden: return .failure(.rejected(.forbidden))
        case .allowed(let destination, let isOwn):
            return .success(AuthorizedPeer(destination: destination, isOwn: isOwn))
        }
    }

    /// Whether these peers may be added to those of the allocation: bounds their number and, against scans of ports and
    /// addresses, the rate of new ones. Both are answered with 508, the code of RFC 8656 sections 10.2 and 12.2 for a
    /// limit; 486 is for Allocate alone. A peer that has a permission already costs nothing.
    mutating func admit(_ peers: [AuthorizedPeer], slot: Int, at now: Instant) -> Bool {
        var added: [IPAddress] = []
        for peer in peers {
            let address = peer.destination.address
            if !added.contains(address), !allocations[slot].permissions.contains(where: { $0.peer == address }) {
                added.append(address)
            }
        }
        guard !added.isEmpty else { return true }
        guard allocations[slot].permissions.count + added.count <= Self.maximumPermissions else { return false }
        guard allocations[slot].newPeers.take(added.count, limits.newPeers, at: now) else {
            counters.limitedPeers &+= 1
            return false
        }
        return true
    }

    /// Installs or refreshes the permission, and renews it in the peer's channels.
    mutating func permit(_ peer: AuthorizedPeer, slot: Int, at now: Instant) {
        let address = peer.destination.address
        let expiry = now.adding(seconds: Permission.lifetime)
        if let index = allocations[slot].permissions.firstIndex(where: { $0.peer == address }) {
            allocations[slot].permissions[index].expiry = expiry
        } else {
            allocations[slot].permissions.append(Permission(peer: address, expiry: expiry))
        }
        for index in allocations[slot].channels.indices
        where allocations[slot].channels[index].peer.address == address {
            allocations[slot].channels[index].permissionExpiry = expiry
        }
    }
}

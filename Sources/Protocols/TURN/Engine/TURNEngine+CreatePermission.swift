import BasicContainers
import STUN
import Wire

// CreatePermission and ChannelBind: RFC 8656 sections 10 and 12.

extension TURNEngine {
    /// All peers of the request get a permission or none does. Each is judged by itself, and by its port where it is one
    /// of the server's own addresses: there RFC 8656 section 10.1's "the port is ignored" would let a client reach every
    /// port of this machine.
    mutating func createPermission(
        _ message: borrowing Message, _ request: Request, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard
            let slot = openSlot(
                message, request, of: flows[request.flow], knowing: Self.permissionAttributes, into: &outbox)
        else { return }
        var peers: [JudgedPeer] = []
        var refusal: ErrorCode?
        let transaction = message.transaction
        message.visitAttributes { type, value in
            guard type == .xorPeerAddress, refusal == nil else { return }
            guard let peer = TransportAddress(xorValue: value, transaction: transaction) else {
                refusal = .badRequest
                return
            }
            switch judge(peer, slot: slot) {
            case .success(let judged): peers.append(judged)
            case .failure(let refused): refusal = refused.error
            }
        }
        if peers.isEmpty, refusal == nil { refusal = .badRequest }
        if refusal == nil, !admit(peers, slot: slot, at: request.now) { refusal = .insufficientCapacity }
        if let refusal {
            refuse(message, refusal, request, into: &outbox)
            return
        }
        hear(request.flow, slot)
        for peer in peers { permit(peer, slot: slot, at: request.now) }
        writer.begin(MessageType(.success, .createPermission), message.transaction)
        finish(request.shape, on: request.flow, into: &outbox)
    }

    mutating func bindChannel(
        _ message: borrowing Message, _ request: Request, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard
            let slot = openSlot(
                message, request, of: flows[request.flow], knowing: Self.channelAttributes, into: &outbox)
        else { return }
        // Channels carry datagrams.
        guard allocations[slot].transport == .udp, let value = message.attribute(.channelNumber), value.byteCount == 4,
            let number = value.integer(at: 0, as: UInt16.self), Channel.numbers.contains(number),
            let address = message.xorAddress(.xorPeerAddress)
        else {
            refuse(message, .badRequest, request, into: &outbox)
            return
        }
        let peer: JudgedPeer
        switch judge(address, slot: slot) {
        case .success(let judged): peer = judged
        case .failure(let refusal):
            refuse(message, refusal.error, request, into: &outbox)
            return
        }
        if let error = bind(number, to: peer, slot: slot, at: request.now) {
            refuse(message, error, request, into: &outbox)
            return
        }
        hear(request.flow, slot)
        writer.begin(MessageType(.success, .channelBind), message.transaction)
        finish(request.shape, on: request.flow, into: &outbox)
    }

    /// Binds or refreshes; an error when the number or the peer is bound otherwise.
    private mutating func bind(
        _ number: UInt16, to peer: JudgedPeer, slot: Int, at now: Instant
    ) -> ErrorCode? {
        allocations[slot].channels.removeAll { $0.expiry <= now }
        for channel in allocations[slot].channels
        where (channel.number == number) != (channel.peer == peer.destination) {
            return .badRequest
        }
        let isNew = !allocations[slot].channels.contains { $0.number == number }
        guard !isNew || allocations[slot].channels.count < Self.maximumChannels, admit([peer], slot: slot, at: now)
        else { return .insufficientCapacity }
        let expiry = now.adding(seconds: Channel.lifetime)
        if let index = allocations[slot].channels.firstIndex(where: { $0.number == number }) {
            allocations[slot].channels[index].expiry = expiry
        } else {
            allocations[slot].channels.append(
                Channel(
                    peer: peer.destination, number: number, isOwn: peer.isOwn, expiry: expiry, permissionExpiry: now))
        }
        permit(peer, slot: slot, at: now)
        return nil
    }

    /// A peer that the policy lets pass.
    struct JudgedPeer {
        let destination: TransportAddress
        let isOwn: Bool
    }

    func judge(_ peer: TransportAddress, slot: Int) -> Result<JudgedPeer, Refusal> {
        guard allocations[slot].relay(peer.address.family) != nil else {
            return .failure(.refused(.peerAddressFamilyMismatch))
        }
        switch policy.verdict(on: peer, gatewayOnly: allocations[slot].reachesGatewayOnly) {
        case .forbidden: return .failure(.refused(.forbidden))
        case .allowed(let destination, let isOwn): return .success(JudgedPeer(destination: destination, isOwn: isOwn))
        }
    }

    /// Whether these peers may be added to those that the allocation has: it bounds how many there are, and how fast new
    /// ones come, which is what a scan of ports and addresses needs. 508 is the answer to both, the code that RFC 8656
    /// sections 10.2 and 12.2 have for a limit; 486 is Allocate's alone. A peer that the allocation knows is free.
    private mutating func admit(_ peers: [JudgedPeer], slot: Int, at now: Instant) -> Bool {
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
            tally.limitedPeers &+= 1
            return false
        }
        return true
    }

    /// Installs or refreshes the permission, and renews it in the peer's channels.
    private mutating func permit(_ peer: JudgedPeer, slot: Int, at now: Instant) {
        let address = peer.destination.address
        let expiry = now.adding(seconds: Permission.lifetime)
        if let index = allocations[slot].permissions.firstIndex(where: { $0.peer == address }) {
            allocations[slot].permissions[index].expiry = expiry
        } else {
            allocations[slot].permissions.append(Permission(peer: address, isOwn: peer.isOwn, expiry: expiry))
        }
        for index in allocations[slot].channels.indices
        where allocations[slot].channels[index].peer.address == address {
            allocations[slot].channels[index].permissionExpiry = expiry
        }
    }
}

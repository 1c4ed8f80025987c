import BasicContainers
import STUN
package import Wire

// TCP allocations: RFC 6062. The client asks for a connection to a peer (Connect), or is notified of one that a peer
// made (ConnectionAttempt), and claims it with a connection of its own (ConnectionBind). From then on the host relays
// bytes.

extension TURNEngine {
    mutating func connect(
        _ message: borrowing Message, _ request: Request, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard
            let slot = openSlot(
                message, request, of: flows[request.flow], knowing: Self.permissionAttributes, into: &outbox)
        else { return }
        guard allocations[slot].transport == .tcp else {
            reject(message, .allocationMismatch, request, into: &outbox)
            return
        }
        guard let address = message.xorAddress(.xorPeerAddress) else {
            reject(message, .badRequest, request, into: &outbox)
            return
        }
        let peer: TransportAddress
        switch authorize(address, slot: slot) {
        case .success(let authorized): peer = authorized.destination
        case .failure(let error):
            reject(message, error.code, request, into: &outbox)
            return
        }
        if let error = connectionError(to: peer, slot: slot, at: request.now) {
            reject(message, error, request, into: &outbox)
            return
        }
        let until = request.now.adding(seconds: PeerConnection.timeout)
        let id = add(peer, slot: slot, .connecting(message.transaction, request.signing, until: until))
        outbox.connectPeer(id, from: relayID(slot, peer.address.family), to: peer)
    }

    private mutating func connectionError(to peer: TransportAddress, slot: Int, at now: Instant) -> ErrorCode? {
        // A relay must not connect to itself.
        guard allocations[slot].relay(peer.address.family)?.local != peer else { return .forbidden }
        guard !allocations[slot].peerConnections.contains(where: { peerConnections[$0]?.peer == peer }) else {
            return .connectionAlreadyExists
        }
        guard allocations[slot].peerConnections.count < PeerConnection.maximum else { return .insufficientCapacity }
        // A Connect shows whether a port is open, so against port scans each one counts as a new peer.
        guard allocations[slot].newPeers.take(1, limits.newPeers, at: now) else {
            counters.limitedPeers &+= 1
            return .insufficientCapacity
        }
        return nil
    }

    private mutating func add(
        _ peer: TransportAddress, slot: Int, _ stage: PeerConnection.Stage
    ) -> PeerConnectionID {
        var id: PeerConnectionID
        repeat {
            connectionSerial &+= 1
            id = PeerConnectionID(worker: worker ?? 0, serial: connectionSerial)
        } while peerConnections[id] != nil
        let allocation = AllocationID(
            slot: UInt32(truncatingIfNeeded: slot), generation: allocations[slot].generation)
        peerConnections[id] = PeerConnection(allocation: allocation, peer: peer, stage: stage)
        allocations[slot].peerConnections.append(id)
        return id
    }

    /// The peer accepted the connection that `connectPeer` asked for.
    package mutating func peerConnected(
        _ id: PeerConnectionID, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        guard let connection = peerConnections[id], case .connecting(let transaction, let signing, _) = connection.stage
        else { return }
        peerConnections[id]?.stage = .unclaimed(until: now.adding(seconds: PeerConnection.timeout))
        writer.begin(MessageType(.success, .connect), transaction)
        writer.append(.connectionID, integer: id.rawValue)
        finish(signing, on: allocations[Int(connection.allocation.slot)].flow, into: &outbox)
    }

    /// A peer's connection was closed, by whichever side, or was never made: then the client gets 447.
    package mutating func peerClosed(_ id: PeerConnectionID, into outbox: inout some RelayOutbox & ~Copyable) {
        guard let connection = peerConnections.removeValue(forKey: id) else { return }
        let slot = Int(connection.allocation.slot)
        allocations[slot].peerConnections.removeAll { $0 == id }
        if case .connecting(let transaction, let signing, _) = connection.stage {
            let flow = allocations[slot].flow
            reject(.connect, transaction, .connectionTimeoutOrFailure, signing, on: flow, into: &outbox)
        }
    }

    /// A peer connected to a relay. The connection's id, or nil when it has no permission and must be closed.
    package mutating func peerAccepted(
        on relay: RelayID, from peer: TransportAddress, at now: Instant, into outbox: inout some RelayOutbox & ~Copyable
    ) -> PeerConnectionID? {
        let slot = Int(relay.allocation.slot)
        guard slot < allocations.count, allocations[slot].generation == relay.allocation.generation,
            allocations[slot].isOpen, allocations[slot].transport == .tcp,
            hasPermission(slot, peer.address, at: now),
            !policy.isOwn(peer.address) || policy.allowsOwn(peer, gatewayOnly: allocations[slot].reachesGatewayOnly),
            allocations[slot].peerConnections.count < PeerConnection.maximum
        else {
            counters.unpermittedFromPeer &+= 1
            return nil
        }
        let id = add(peer, slot: slot, .unclaimed(until: now.adding(seconds: PeerConnection.timeout)))
        writer.begin(MessageType(.indication, .connectionAttempt), TransactionID(errorSerial, UInt64(id.rawValue)))
        errorSerial &+= 1
        writer.append(.connectionID, integer: id.rawValue)
        writer.append(.xorPeerAddress, xor: policy.advertised(peer))
        send(on: allocations[slot].flow, into: &outbox)
        return id
    }

    /// ConnectionBind: the request comes on a connection without an allocation, which becomes the client's data
    /// connection.
    mutating func bindConnection(
        _ message: borrowing Message, _ request: Request, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        let unknown = message.unknownRequired(knowing: Self.connectionAttributes)
        guard unknown.isEmpty else {
            reject(message, .unknownAttribute, unknown: unknown, request, into: &outbox)
            return
        }
        guard request.flow.transport.isStream, flows[request.flow] == nil,
            let number = message.integer32(.connectionID),
            let connection = peerConnections[PeerConnectionID(rawValue: number)],
            case .unclaimed = connection.stage, !connection.hasTimedOut(at: request.now)
        else {
            reject(message, .badRequest, request, into: &outbox)
            return
        }
        guard isOwner(request.credential, of: Int(connection.allocation.slot)) else {
            reject(message, .wrongCredentials, request, into: &outbox)
            return
        }
        let id = PeerConnectionID(rawValue: number)
        peerConnections[id]?.stage = .bound
        writer.begin(MessageType(.success, .connectionBind), message.transaction)
        finish(request.signing, on: request.flow, into: &outbox)
        outbox.bindPeer(id, to: request.flow)
    }

    /// Closes connections that took too long to be made or claimed, and those to own relays that have ended.
    mutating func closeTimedOutConnections(at now: Instant, into outbox: inout some RelayOutbox & ~Copyable) {
        let policy = policy
        closeConnections(into: &outbox) { $0.hasTimedOut(at: now) || policy.verdict(on: $0.peer) == .forbidden }
    }

    mutating func closeConnections(
        into outbox: inout some RelayOutbox & ~Copyable, where shouldClose: (PeerConnection) -> Bool
    ) {
        guard !peerConnections.isEmpty else { return }
        for (id, connection) in peerConnections where shouldClose(connection) {
            outbox.closePeer(id)
            peerClosed(id, into: &outbox)
        }
    }

    /// Closes the connections of an allocation that ends, or of one of its relays.
    mutating func closeConnections(
        of slot: Int, _ family: IPAddress.Family? = nil, into outbox: inout some RelayOutbox & ~Copyable
    ) {
        for id in allocations[slot].peerConnections {
            guard family == nil || peerConnections[id]?.peer.address.family == family else { continue }
            peerConnections[id] = nil
            outbox.closePeer(id)
        }
        allocations[slot].peerConnections.removeAll { peerConnections[$0] == nil }
    }
}

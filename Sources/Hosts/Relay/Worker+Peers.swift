import BasicContainers
import DatagramIO
import OpenSSLCrypto
import STUN
import TURN
import Wire

// TCP allocations (RFC 6062): connections to peers, and copying bytes between them and their clients' connections.

extension Worker {
    private static let listeningAttempts = 32
    private static let acceptedAtOnce = 16
    /// How long the last bytes to a peer may take, in seconds.
    private static let drainingSeconds: UInt32 = 10
    /// How often a connection may be handed to another worker.
    private static let maxHandoffs: UInt8 = 16

    mutating func execute(_ request: PeerRequest) {
        switch request {
        case .connect(let id, let relay, let peer): connect(id, from: relay, to: peer)
        case .bind(let id, let flow): bind(id, to: flow)
        case .close(let id): closePeer(id)
        }
    }

    // MARK: Relays

    /// Opens a relay for connections: a port of its own for both UDP and TCP.
    mutating func openForConnections(_ request: RelayRequest) {
        for _ in 0..<Self.listeningAttempts {
            switch shared.open(request, at: now) {
            case .rejected(let error):
                engine.relayFailed(request.allocation, error, into: &outbox)
                return
            case .opened(let opening, let sockets):
                var acceptors = UniqueArray<StreamListener>()
                for relay in [opening.relay, opening.additional] {
                    if let relay, let acceptor = Self.listen(at: relay.local) { acceptors.append(acceptor) }
                }
                guard acceptors.count == sockets.count, install(sockets, for: request) else {
                    // Another program has the TCP port, or the system has no more descriptors.
                    shared.ledger.release(request.user)
                    continue
                }
                while let acceptor = acceptors.popLast() {
                    let id = RelayID(request.allocation, sockets[acceptors.count].family)
                    _ = queue.watch(acceptor.descriptor, as: EventTag.relayAcceptor(id))
                    relays[Self.socketIndex(Int(id.allocation.slot), id.family)].setAcceptor(acceptor)
                }
                let supply = shared.ledger.supply(of: request.user, request.scope, at: now)
                engine.relayOpened(request.allocation, opening, supply: supply, at: now, into: &outbox)
                return
            }
        }
        engine.relayFailed(request.allocation, .insufficientCapacity, into: &outbox)
    }

    /// The listener shares its port with the connections that the relay makes, but not with other programs.
    private static func listen(at address: TransportAddress) -> StreamListener? {
        do {
            _ = try StreamListener(address, .exclusive)
            return try StreamListener(address, .reusePort)
        } catch {
            return nil
        }
    }

    mutating func acceptPeers(at socketIndex: Int, _ generation: UInt32, _ event: UInt64) {
        guard socketIndex < relays.count, relays[socketIndex].isOpen,
            relays[socketIndex].id.allocation.generation & EventTag.generationMask == generation
        else { return }
        let id = relays[socketIndex].id
        for _ in 0..<Self.acceptedAtOnce {
            guard relays[socketIndex].isOpen, relays[socketIndex].id == id else { return }
            switch relays[socketIndex].acceptor.accept() {
            case .nothing:
                return
            case .shortage:
                counters.connectionsRejected &+= 1
                return
            case .connection(let socket, let peer):
                // Without a permission the connection closes here.
                guard let number = engine.peerAccepted(on: id, from: peer, at: now, into: &outbox) else { continue }
                watch(socket, number, .unclaimed)
            }
        }
        queue.rearm(of: relays[socketIndex].acceptor.descriptor, as: event)
    }

    // MARK: Peers

    private mutating func connect(_ id: PeerConnectionID, from relay: RelayID, to peer: TransportAddress) {
        let socketIndex = Self.socketIndex(Int(relay.allocation.slot), relay.family)
        guard socketIndex < relays.count, relays[socketIndex].isOpen, relays[socketIndex].id == relay,
            let local = relays[socketIndex].acceptor.address,
            let socket = StreamSocket.connecting(from: local, to: peer)
        else {
            engine.peerClosed(id, into: &outbox)
            return
        }
        watch(socket, id, .connecting)
    }

    private mutating func watch(_ socket: consuming StreamSocket, _ id: PeerConnectionID, _ stage: PeerStream.Stage) {
        let descriptor = socket.descriptor
        socket.prepare(StreamSocket.TCPOptions())
        let slot = outbox.peers.add(socket, id, stage)
        let tag = EventTag.peer(slot, generation: outbox.peers.slots[slot].generation)
        if !queue.watchStream(descriptor, as: tag) { losePeer(slot) }
    }

    mutating func servePeer(_ slot: Int, _ readiness: Readiness, _ event: UInt64) {
        switch outbox.peers.slots[slot].stage {
        case .connecting:
            guard readiness.isWritable else { return }
            if outbox.peers.slots[slot].socket.isConnected {
                outbox.peers.setStage(slot, .unclaimed)
                engine.peerConnected(outbox.peers.slots[slot].id, at: now, into: &outbox)
            } else {
                losePeer(slot)
            }
        case .unclaimed:
            // Read when it is claimed: the kernel bounds what waits.
            return
        case .draining:
            if !outbox.peers.drain(slot) || outbox.peers.slots[slot].unsent.isEmpty { losePeer(slot) }
        case .piped(let client):
            if readiness.isWritable { drainPeer(slot, client) }
            guard readiness.isReadable, outbox.peers.slots[slot].isOpen else { return }
            if !outbox.peers.slots[slot].hasEnded {
                readPeer(slot, client, event)
            } else if readiness.hasError {
                losePeer(slot)
            }
        }
    }

    private mutating func drainPeer(_ slot: Int, _ client: Int) {
        guard outbox.peers.drain(slot) else {
            losePeer(slot)
            return
        }
        guard outbox.peers.slots[slot].unsent.isEmpty, outbox.connections.slots[client].isPaused else { return }
        outbox.connections.setPaused(client, false)
        rearm(ofClient: client)
    }

    private mutating func readPeer(_ slot: Int, _ client: Int, _ event: UInt64) {
        let id = outbox.peers.slots[slot].id
        for _ in 0..<Self.rounds {
            guard !outbox.peers.slots[slot].isHeld else { return }
            guard outbox.connections.hasCapacity(client) else {
                outbox.peers.pause(slot)
                return
            }
            let allowed = allowance(ofPeer: slot)
            guard allowed > 0 else {
                holdPeer(slot)
                return
            }
            // Payloads of datagrams may wait in the buffer to be sent.
            if outbox.toPeers.count > 0 { outbox.toPeers.flush() }
            let buffer = UnsafeMutableRawBufferPointer(rebasing: wireBuffer.bytes.prefix(allowed))
            switch outbox.peers.slots[slot].socket.receive(into: buffer) {
            case .bytes(let count):
                counters.bytesFromPeers &+= UInt64(truncatingIfNeeded: count)
                counters.bytesToClients &+= UInt64(truncatingIfNeeded: count)
                engine.streamed(count, on: id, from: .peer)
                outbox.connections.pipe(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)), to: client)
            case .nothing:
                return
            case .end:
                endReadingPeer(slot, client)
                return
            case .broken:
                losePeer(slot)
                return
            }
        }
        queue.rearmStream(outbox.peers.slots[slot].socket.descriptor, as: event)
    }

    /// The peer has ended its direction. The client's goes on: each direction of a stream ends by itself.
    private mutating func endReadingPeer(_ slot: Int, _ client: Int) {
        guard outbox.connections.slots[client].hasEnded else {
            outbox.peers.setEnded(slot)
            outbox.connections.endSending(client)
            return
        }
        releasePeer(slot)
        outbox.connections.beginDraining(client, at: now)
    }

    /// The peer's connection is lost: the client's ends once everything received has been sent.
    private mutating func losePeer(_ slot: Int) {
        let client = outbox.peers.slots[slot].client
        engine.peerClosed(outbox.peers.slots[slot].id, into: &outbox)
        outbox.peers.remove(slot)
        if let client {
            outbox.connections.setStage(client, .messages)
            outbox.connections.beginDraining(client, at: now)
        }
    }

    /// Closes a peer's connection at the engine's request.
    private mutating func closePeer(_ id: PeerConnectionID) {
        guard let slot = outbox.peers.slot(of: id) else { return }
        if let client = outbox.peers.slots[slot].client {
            outbox.connections.setStage(client, .messages)
            outbox.connections.end(client, .peer)
        }
        outbox.peers.remove(slot)
    }

    /// Resumes reading from peers whose clients have caught up.
    mutating func resumePeers() {
        let resumed = outbox.takeResumedPeers()
        for slot in resumed { rearm(ofPeer: slot) }
    }

    private func rearm(ofPeer slot: Int) {
        let tag = EventTag.peer(slot, generation: outbox.peers.slots[slot].generation)
        queue.rearmStream(outbox.peers.slots[slot].socket.descriptor, as: tag)
    }

    private func rearm(ofClient slot: Int) {
        let tag = EventTag.connection(slot, generation: outbox.connections.slots[slot].generation)
        queue.rearmStream(outbox.connections.slots[slot].socket.descriptor, as: tag)
    }

    // MARK: Clients

    private mutating func bind(_ id: PeerConnectionID, to flow: Flow) {
        guard let slot = outbox.peers.slot(of: id), let client = outbox.connections.slot(of: flow) else {
            // The client is gone already.
            if let slot = outbox.peers.slot(of: id) { losePeer(slot) }
            return
        }
        outbox.peers.setStage(slot, .piped(client))
        outbox.connections.setStage(client, .piped(slot))
        // What the peer has sent meanwhile is read in a later round.
        rearm(ofPeer: slot)
    }

    /// Forwards bytes of a client to its peer.
    mutating func pipe(_ bytes: UnsafeRawBufferPointer, from client: Int, to slot: Int) {
        guard !bytes.isEmpty else { return }
        counters.bytesFromClients &+= UInt64(truncatingIfNeeded: bytes.count)
        counters.bytesToPeers &+= UInt64(truncatingIfNeeded: bytes.count)
        outbox.connections.noteAllocation(client, at: now)
        engine.streamed(bytes.count, on: outbox.peers.slots[slot].id, from: .client)
        guard outbox.peers.write(bytes, to: slot) else {
            losePeer(slot)
            return
        }
        if outbox.peers.isFull(slot) { outbox.connections.setPaused(client, true) }
    }

    /// The client's connection is gone, or both sides have ended: the peer's ends once everything received has been
    /// sent.
    mutating func releasePeer(_ slot: Int) {
        guard slot < outbox.peers.slots.count, let client = outbox.peers.slots[slot].client else { return }
        if outbox.connections.slots[client].peer == slot { outbox.connections.setStage(client, .messages) }
        engine.peerClosed(outbox.peers.slots[slot].id, into: &outbox)
        if outbox.peers.slots[slot].unsent.isEmpty {
            outbox.peers.remove(slot)
        } else {
            outbox.peers.beginDraining(slot, at: now)
        }
    }

    /// Removes peers that do not read the last bytes in time.
    mutating func sweepPeers() {
        for slot in 0..<outbox.peers.slots.count {
            guard case .draining = outbox.peers.slots[slot].stage, outbox.peers.slots[slot].isOpen,
                now.seconds(since: outbox.peers.slots[slot].drainingSince) >= Self.drainingSeconds
            else { continue }
            outbox.peers.remove(slot)
        }
    }

    // MARK: Handoff between workers

    /// The other worker that has to handle a message on a connection: the message claims a peer's connection of that
    /// worker, or carries the ticket of one of its allocations. nil when it is this worker, when the connection has
    /// been handed over too often, or when the other worker's mailbox is crowded: the message is handled here then.
    func target(of message: UnsafeRawBufferPointer, from slot: Int) -> UInt8? {
        // The type of the request, before anything is parsed.
        guard message.count >= 20, message[0] == 0,
            outbox.connections.slots[slot].handoffs < Self.maxHandoffs
        else { return nil }
        let worker: UInt8?
        switch message[1] {
        case 0x0B where !engine.hasAllocation(on: outbox.connections.slots[slot].flow):
            worker = PeerConnectionID.claimed(by: message.bytes)?.worker
        case 0x04 where outbox.connections.slots[slot].unsent.isEmpty:
            worker = engine.workerOfTicket(in: message.bytes, on: outbox.connections.slots[slot].flow, at: now)
        default:
            worker = nil
        }
        guard let worker, worker != outbox.workerGroup.own, let mailbox = outbox.workerGroup.mailbox(worker),
            !mailbox.isCrowded
        else { return nil }
        return worker
    }

    /// Hands a connection to the worker that owns what it claims.
    mutating func move(_ slot: Int, to worker: UInt8) {
        let descriptor = outbox.connections.slots[slot].socket.descriptor
        // Responses to earlier requests.
        outbox.connections.flushNow(slot)
        guard let moved = outbox.connections.detach(slot) else {
            outbox.connections.end(slot, .broken)
            return
        }
        queue.forget(descriptor)
        outbox.workerGroup.mailbox(worker)?.post(.adoptConnection(moved))
    }

    /// Continues a connection that another worker handed over.
    mutating func adopt(_ moved: MovedConnection) {
        guard let socket = moved.take() else { return }
        let descriptor = socket.descriptor
        guard let slot = outbox.connections.add(socket, moved.flow, .messages, at: now) else {
            counters.connectionsRejected &+= 1
            return
        }
        outbox.connections.setHandoffs(slot, moved.handoffs)
        if let session = moved.session {
            session.move(to: outbox.connections.tlsPipe)
            outbox.connections.secure(slot, session)
        }
        let tag = EventTag.connection(slot, generation: outbox.connections.slots[slot].generation)
        guard queue.watchStream(descriptor, as: tag) else {
            outbox.connections.end(slot, .broken)
            return
        }
        if outbox.toPeers.count > 0 { outbox.toPeers.flush() }
        let count = min(moved.unread.count, plainBuffer.bytes.count)
        plainBuffer.bytes.copyBytes(from: moved.unread.prefix(count))
        receiveMessages(UnsafeRawBufferPointer(rebasing: plainBuffer.bytes.prefix(count)), from: slot)
        // A later message may be for yet another worker.
        if let worker = outbox.connections.slots[slot].target { move(slot, to: worker) }
    }
}

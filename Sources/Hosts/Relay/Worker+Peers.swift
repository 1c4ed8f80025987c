import BasicContainers
import DatagramIO
import OpenSSLCrypto
import STUN
import TURN
import Wire

// TCP allocations (RFC 6062): connections to peers, and moving bytes between them and their clients'.

extension Worker {
    private static let listeningAttempts = 4
    private static let acceptedAtOnce = 16
    /// How long the last bytes for a peer may take, in seconds.
    private static let drainingSeconds: UInt32 = 10
    /// How often a connection may go from worker to worker.
    private static let movesOfConnection: UInt8 = 16

    mutating func fulfil(_ wish: PeerWish) {
        switch wish {
        case .connect(let id, let relay, let peer): connect(id, from: relay, to: peer)
        case .bind(let id, let flow): bind(id, to: flow)
        case .close(let id): closePeer(id)
        }
    }

    // MARK: Relays

    /// A relay for connections: a port of its own for UDP and TCP both.
    mutating func openForConnections(_ request: RelayRequest) {
        for _ in 0..<Self.listeningAttempts {
            switch shared.open(request, at: now) {
            case .refused(let error):
                engine.relayRefused(request.allocation, error, into: &outbox)
                return
            case .opened(let opening, let sockets):
                var entrances = UniqueArray<StreamListener>()
                for relay in [opening.relay, opening.additional] {
                    if let relay, let entrance = Self.listen(at: relay.local) { entrances.append(entrance) }
                }
                guard entrances.count == sockets.count, install(sockets, for: request) else {
                    // Another program has the TCP port, or the system has no more descriptors.
                    shared.ledger.release(request.user)
                    continue
                }
                while let entrance = entrances.popLast() {
                    let id = RelayID(request.allocation, sockets[entrances.count].family)
                    _ = queue.watch(entrance.descriptor, as: EventTag.relayEntrance(id))
                    relays[Self.place(Int(id.allocation.slot), id.family)].setEntrance(entrance)
                }
                let supply = shared.ledger.supply(of: request.user, request.scope, at: now)
                engine.relayOpened(request.allocation, opening, supply: supply, at: now, into: &outbox)
                return
            }
        }
        engine.relayRefused(request.allocation, .insufficientCapacity, into: &outbox)
    }

    /// The port is shared with the connections that the relay makes; others that share ports must not have it.
    private static func listen(at address: TransportAddress) -> StreamListener? {
        do {
            _ = try StreamListener(address, .exclusive)
            return try StreamListener(address, .spread)
        } catch {
            return nil
        }
    }

    mutating func acceptPeers(at place: Int, _ generation: UInt32, _ event: UInt64) {
        guard place < relays.count, relays[place].isOpen,
            relays[place].id.allocation.generation & EventTag.generationMask == generation
        else { return }
        let id = relays[place].id
        for _ in 0..<Self.acceptedAtOnce {
            guard relays[place].isOpen, relays[place].id == id else { return }
            switch relays[place].entrance.accept() {
            case .nothing:
                return
            case .shortage:
                counters.connectionsRefused &+= 1
                return
            case .connection(let socket, let peer):
                // Without permission it closes here.
                guard let number = engine.peerAccepted(on: id, from: peer, at: now, into: &outbox) else { continue }
                watch(socket, number, .unclaimed)
            }
        }
        queue.remind(of: relays[place].entrance.descriptor, as: event)
    }

    // MARK: Peers

    private mutating func connect(_ id: PeerConnectionID, from relay: RelayID, to peer: TransportAddress) {
        let place = Self.place(Int(relay.allocation.slot), relay.family)
        guard place < relays.count, relays[place].isOpen, relays[place].id == relay,
            let local = relays[place].entrance.address, let socket = StreamSocket.connecting(from: local, to: peer)
        else {
            engine.peerClosed(id, into: &outbox)
            return
        }
        watch(socket, id, .connecting)
    }

    private mutating func watch(_ socket: consuming StreamSocket, _ id: PeerConnectionID, _ stage: PeerStream.Stage) {
        let descriptor = socket.descriptor
        socket.prepare(StreamSocket.Patience())
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
            if !outbox.peers.drain(slot) || outbox.peers.slots[slot].backlog.isEmpty { losePeer(slot) }
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
        guard outbox.peers.slots[slot].backlog.isEmpty, outbox.connections.slots[client].isPaused else { return }
        outbox.connections.setPaused(client, false)
        remind(ofClient: client)
    }

    private mutating func readPeer(_ slot: Int, _ client: Int, _ event: UInt64) {
        let id = outbox.peers.slots[slot].id
        for _ in 0..<Self.rounds {
            guard !outbox.peers.slots[slot].isHeld else { return }
            guard outbox.connections.hasRoom(client) else {
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
            let room = UnsafeMutableRawBufferPointer(rebasing: wireBuffer.bytes.prefix(allowed))
            switch outbox.peers.slots[slot].socket.receive(into: room) {
            case .bytes(let count):
                counters.bytesFromPeers &+= UInt64(truncatingIfNeeded: count)
                counters.bytesToClients &+= UInt64(truncatingIfNeeded: count)
                engine.streamed(count, on: id, from: .peer)
                outbox.connections.pipe(UnsafeRawBufferPointer(rebasing: room.prefix(count)), to: client)
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
        queue.remindOfStream(outbox.peers.slots[slot].socket.descriptor, as: event)
    }

    /// The peer sends no more. A client that still does may go on: each direction of a stream ends by itself.
    private mutating func endReadingPeer(_ slot: Int, _ client: Int) {
        guard outbox.connections.slots[client].hasEnded else {
            outbox.peers.setEnded(slot)
            outbox.connections.endSending(client)
            return
        }
        releasePeer(slot)
        outbox.connections.beginDraining(client, at: now)
    }

    /// The peer's connection is gone: the client's ends when everything that came has left.
    private mutating func losePeer(_ slot: Int) {
        let client = outbox.peers.slots[slot].client
        engine.peerClosed(outbox.peers.slots[slot].id, into: &outbox)
        outbox.peers.remove(slot)
        if let client {
            outbox.connections.setStage(client, .messages)
            outbox.connections.beginDraining(client, at: now)
        }
    }

    /// The engine wants it closed.
    private mutating func closePeer(_ id: PeerConnectionID) {
        guard let slot = outbox.peers.slot(of: id) else { return }
        if let client = outbox.peers.slots[slot].client {
            outbox.connections.setStage(client, .messages)
            outbox.connections.end(client, .peer)
        }
        outbox.peers.remove(slot)
    }

    /// Reads those again whose clients have caught up.
    mutating func resumePeers() {
        let resumed = outbox.takeResumedPeers()
        for slot in resumed { remind(ofPeer: slot) }
    }

    private func remind(ofPeer slot: Int) {
        let tag = EventTag.peer(slot, generation: outbox.peers.slots[slot].generation)
        queue.remindOfStream(outbox.peers.slots[slot].socket.descriptor, as: tag)
    }

    private func remind(ofClient slot: Int) {
        let tag = EventTag.connection(slot, generation: outbox.connections.slots[slot].generation)
        queue.remindOfStream(outbox.connections.slots[slot].socket.descriptor, as: tag)
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
        // What the peer sent meanwhile is read in a round of its own.
        remind(ofPeer: slot)
    }

    /// Hands on what a client sent to its peer.
    mutating func pipe(_ bytes: UnsafeRawBufferPointer, from client: Int, to slot: Int) {
        guard !bytes.isEmpty else { return }
        counters.bytesFromClients &+= UInt64(truncatingIfNeeded: bytes.count)
        counters.bytesToPeers &+= UInt64(truncatingIfNeeded: bytes.count)
        outbox.connections.sawAllocation(client, at: now)
        engine.streamed(bytes.count, on: outbox.peers.slots[slot].id, from: .client)
        guard outbox.peers.write(bytes, to: slot) else {
            losePeer(slot)
            return
        }
        if outbox.peers.isFull(slot) { outbox.connections.setPaused(client, true) }
    }

    /// The client's connection is gone, or both sides have ended: the peer's ends when everything that came has left.
    mutating func releasePeer(_ slot: Int) {
        guard slot < outbox.peers.slots.count, let client = outbox.peers.slots[slot].client else { return }
        if outbox.connections.slots[client].peer == slot { outbox.connections.setStage(client, .messages) }
        engine.peerClosed(outbox.peers.slots[slot].id, into: &outbox)
        if outbox.peers.slots[slot].backlog.isEmpty {
            outbox.peers.remove(slot)
        } else {
            outbox.peers.beginDraining(slot, at: now)
        }
    }

    /// Peers that do not take the last bytes.
    mutating func sweepPeers() {
        for slot in 0..<outbox.peers.slots.count {
            guard case .draining = outbox.peers.slots[slot].stage, outbox.peers.slots[slot].isOpen,
                now.seconds(since: outbox.peers.slots[slot].drainingSince) >= Self.drainingSeconds
            else { continue }
            outbox.peers.remove(slot)
        }
    }

    // MARK: From worker to worker

    /// Which worker a message on a connection is for, when that is another one: it claims a peer's connection there, or
    /// brings the ticket of an allocation there. A connection goes from worker to worker a few times in its life; after
    /// that, or when the other has too much to take in, the message is one like any other.
    func target(of message: UnsafeRawBufferPointer, from slot: Int) -> UInt8? {
        // The type of the request, before anything is parsed.
        guard message.count >= 20, message[0] == 0,
            outbox.connections.slots[slot].moves < Self.movesOfConnection
        else { return nil }
        let named: UInt8?
        switch message[1] {
        case 0x0B where !engine.hasAllocation(on: outbox.connections.slots[slot].flow):
            named = PeerConnectionID.claimed(by: message.bytes)?.worker
        case 0x04 where outbox.connections.slots[slot].backlog.isEmpty:
            named = engine.workerOfTicket(in: message.bytes, on: outbox.connections.slots[slot].flow, at: now)
        default:
            named = nil
        }
        guard let named, named != outbox.neighbours.own, let mailbox = outbox.neighbours.mailbox(named),
            !mailbox.isCrowded
        else { return nil }
        return named
    }

    /// Sends a connection to the worker that holds what it claims.
    mutating func move(_ slot: Int, to worker: UInt8) {
        let descriptor = outbox.connections.slots[slot].socket.descriptor
        // Answers to earlier requests.
        outbox.connections.flushNow(slot)
        guard let moved = outbox.connections.surrender(slot) else {
            outbox.connections.end(slot, .broken)
            return
        }
        queue.forget(descriptor)
        outbox.neighbours.mailbox(worker)?.post(.take(moved))
    }

    /// Goes on with a connection that another worker began. There is nothing left to move: its number says here.
    mutating func take(_ moved: MovedConnection) {
        guard let socket = moved.take() else { return }
        let descriptor = socket.descriptor
        guard let slot = outbox.connections.add(socket, moved.flow, .messages, at: now) else {
            counters.connectionsRefused &+= 1
            return
        }
        outbox.connections.setMoves(slot, moved.moves)
        if let session = moved.session {
            session.move(to: outbox.connections.pipe)
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
        // What came after it is for yet another.
        if let worker = outbox.connections.slots[slot].target { move(slot, to: worker) }
    }
}

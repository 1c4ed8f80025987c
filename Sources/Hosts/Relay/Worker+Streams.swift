import BasicContainers
import DatagramIO
import OpenSSLCrypto
import TURN
import Wire

// TURN over TCP: accepting, reading and ending connections. What they have in common with UDP goes through the same
// engine and the same batches.

extension Worker {
    /// Bytes read at a time, and room before them for the message that they complete.
    static let readByteCount = 64 * 1024
    static let streamBufferByteCount = readByteCount + StreamFraming.maximumByteCount
    /// The largest message of a client that has no allocation yet: several times what a request needs.
    private static let strangerByteCount = 4096
    private static let acceptedAtOnce = 64
    /// How many connections are asked whether they may make room for a new one.
    private static let evictionsLooked = 16
    /// Read at a time before it is known what a client speaks, and until TLS is agreed on: who has to wait for a handshake
    /// costs no more memory than this.
    private static let openingByteCount = 512

    mutating func accept(listener index: Int, _ event: UInt64) {
        guard index < streamListeners.count, streamListeners[index].isOpen else { return }
        for _ in 0..<Self.acceptedAtOnce {
            switch streamListeners[index].listener.accept() {
            case .nothing:
                return
            case .shortage:
                counters.connectionsRefused &+= 1
                isShortOfDescriptors = true
                return
            case .connection(let socket, let remote):
                adopt(socket, from: remote, at: streamListeners[index].address)
            }
        }
        queue.remind(of: streamListeners[index].listener.descriptor, as: event)
    }

    private mutating func adopt(
        _ socket: consuming StreamSocket, from remote: TransportAddress, at local: TransportAddress
    ) {
        let descriptor = socket.descriptor
        socket.prepare(StreamSocket.Patience())
        let flow = Flow(.tcp, local: local, remote: remote)
        let isBalanced = shared.isBalancer(remote.address)
        let stage: Connection.Stage = isBalanced ? .proxyHeader : .opening
        makeRoom(for: isBalanced ? nil : remote.address)
        guard let slot = outbox.connections.add(socket, flow, stage, at: now) else {
            counters.connectionsRefused &+= 1
            return
        }
        counters.connectionsAccepted &+= 1
        let tag = EventTag.connection(slot, generation: outbox.connections.slots[slot].generation)
        if !queue.watchStream(descriptor, as: tag) { outbox.connections.end(slot, .broken) }
    }

    /// Ends the oldest connection that has no allocation, where there is no room for one more: whoever opens thousands keeps
    /// nobody out, since a client allocates as soon as it is connected.
    private mutating func makeRoom(for source: IPAddress?) {
        for _ in 0..<Self.evictionsLooked {
            guard let slot = outbox.connections.candidateForEviction(for: source) else { return }
            if engine.hasAllocation(on: outbox.connections.slots[slot].flow) || outbox.connections.slots[slot].isPiping
            {
                outbox.connections.confirm(slot)
            } else {
                outbox.connections.evict(slot)
                return
            }
        }
    }

    /// Listeners that could not accept for want of descriptors are asked again.
    mutating func acceptAgain() {
        guard isShortOfDescriptors else { return }
        isShortOfDescriptors = false
        for index in 0..<streamListeners.count where streamListeners[index].isOpen {
            queue.remind(of: streamListeners[index].listener.descriptor, as: EventTag.streamListener(index))
        }
    }

    mutating func serve(_ slot: Int, _ readiness: Readiness, _ event: UInt64) {
        if readiness.isWritable { outbox.connections.drain(slot) }
        guard readiness.isReadable else { return }
        // A client that said that it sends no more, and is gone now.
        if outbox.connections.slots[slot].hasEnded, readiness.hasError { outbox.connections.end(slot, .broken) }
        for _ in 0..<Self.rounds {
            guard outbox.connections.slots[slot].isReading, !outbox.connections.slots[slot].isPaused,
                !outbox.connections.slots[slot].isHeld
            else { return }
            if outbox.connections.slots[slot].isShakingHands, !mayShakeHands() {
                holdHandshake(slot)
                return
            }
            var allowed = allowance(ofClient: slot)
            if outbox.connections.slots[slot].isOpening { allowed = min(allowed, Self.openingByteCount) }
            guard allowed > 0 else {
                holdClient(slot)
                return
            }
            // Payloads of earlier messages are sent from the same buffer.
            if outbox.toPeers.count > 0 { outbox.toPeers.flush() }
            let target = wireBuffer.bytes
            let isSecure = outbox.connections.slots[slot].session != nil
            let held = isSecure ? 0 : Self.copyUnread(of: outbox.connections.slots[slot], to: target)
            let room = UnsafeMutableRawBufferPointer(rebasing: target.dropFirst(held).prefix(allowed))
            switch outbox.connections.slots[slot].socket.receive(into: room) {
            case .bytes(let count):
                take(UnsafeRawBufferPointer(rebasing: target.prefix(held &+ count)), from: slot)
                if let worker = outbox.connections.slots[slot].target {
                    move(slot, to: worker)
                    return
                }
                // Less than there was room for: the next byte is a new event, unless the end already came.
                if count < room.count, !readiness.isClosing { return }
            case .nothing:
                return
            case .end:
                // Without the goodbye of TLS this is no end of a stream but the loss of its client.
                if outbox.connections.slots[slot].session == nil, endStream(slot) { return }
                endReading(slot)
                return
            case .broken:
                outbox.connections.end(slot, .broken)
                return
            }
        }
        queue.remindOfStream(outbox.connections.slots[slot].socket.descriptor, as: event)
    }

    /// Puts the beginning of a message before what is read next.
    private static func copyUnread(
        of connection: borrowing Connection, to target: UnsafeMutableRawBufferPointer
    ) -> Int {
        let unread = connection.unread.bytes
        guard unread.count <= target.count &- readByteCount else { return 0 }
        target.copyMemory(from: unread)
        return unread.count
    }

    mutating func take(_ bytes: UnsafeRawBufferPointer, from slot: Int) {
        var rest = bytes
        if case .proxyHeader = outbox.connections.slots[slot].stage {
            switch ProxyHeader(rest.bytes) {
            case .incomplete:
                outbox.connections.keep(slot, rest)
                return
            case .malformed:
                outbox.connections.end(slot, .proxyHeader)
                return
            case .whole(let byteCount, let source):
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(byteCount))
                let flow = outbox.connections.slots[slot].flow
                if let source {
                    rename(slot, Flow(flow.transport, local: flow.local, remote: source))
                    guard outbox.connections.countSource(slot) else {
                        outbox.connections.end(slot, .sourceLimit)
                        return
                    }
                }
                outbox.connections.setStage(slot, .opening)
            }
        }
        if case .opening = outbox.connections.slots[slot].stage {
            switch StreamOpening(rest.bytes) {
            case .incomplete:
                outbox.connections.keep(slot, rest)
                return
            case .unknown:
                outbox.connections.end(slot, .malformed)
                return
            case .turn:
                outbox.connections.setStage(slot, .messages)
            case .tls:
                guard mayShakeHands() else {
                    outbox.connections.keep(slot, rest)
                    holdHandshake(slot)
                    return
                }
                guard beginTLS(slot) else {
                    outbox.connections.end(slot, .tls)
                    return
                }
            }
        }
        if let session = outbox.connections.slots[slot].session {
            let isHandshake = !session.isEstablished
            let start = isHandshake ? SystemClock.threadNanoseconds() : 0
            decrypt(rest, session, from: slot)
            if isHandshake { handshakeBudget.spend(SystemClock.threadNanoseconds() &- start) }
        } else {
            receiveMessages(rest, from: slot)
        }
    }

    /// False without a certificate.
    private mutating func beginTLS(_ slot: Int) -> Bool {
        guard let streamContext, let session = TLSSession(streamContext, through: outbox.connections.pipe) else {
            return false
        }
        let flow = outbox.connections.slots[slot].flow
        rename(slot, Flow(.tls, local: flow.local, remote: flow.remote))
        outbox.connections.secure(slot, session)
        outbox.connections.setStage(slot, .messages)
        return true
    }

    /// Hands received bytes to TLS and what they say to the engine.
    private mutating func decrypt(_ bytes: UnsafeRawBufferPointer, _ session: TLSSession, from slot: Int) {
        session.receive(bytes)
        var progress = TLSSession.Progress.plaintext(0)
        // Also for a paused client: what was received must be read, and is at most one buffer.
        while case .plaintext = progress, outbox.connections.slots[slot].isReading {
            if outbox.toPeers.count > 0 { outbox.toPeers.flush() }
            let target = plainBuffer.bytes
            let held = Self.copyUnread(of: outbox.connections.slots[slot], to: target)
            var filled = held
            while case .plaintext = progress, filled < target.count {
                progress = session.read(into: UnsafeMutableRawBufferPointer(rebasing: target.dropFirst(filled)))
                if case .plaintext(let count) = progress { filled &+= count }
            }
            if filled > held { receiveMessages(UnsafeRawBufferPointer(rebasing: target.prefix(filled)), from: slot) }
        }
        outbox.connections.sendHandshake(slot)
        switch progress {
        case .plaintext, .drained: return
        case .closed: if !endStream(slot) { endReading(slot) }
        case .failed: outbox.connections.end(slot, .tls)
        }
    }

    private mutating func rename(_ slot: Int, _ flow: Flow) {
        // An allocation of the connection that had this flow before.
        engine.flowClosed(flow, into: &outbox)
        if outbox.hasWishes { settle() }
        outbox.connections.setFlow(slot, flow)
    }

    /// Hands every whole message to the engine and keeps what is left.
    mutating func receiveMessages(_ bytes: UnsafeRawBufferPointer, from slot: Int) {
        let flow = outbox.connections.slots[slot].flow
        var offset = 0
        while offset < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(offset))
            if let peer = outbox.connections.slots[slot].peer {
                outbox.connections.keep(slot, UnsafeRawBufferPointer(start: nil, count: 0))
                pipe(rest, from: slot, to: peer)
                return
            }
            if outbox.connections.slots[slot].target != nil {
                outbox.connections.keep(slot, rest)
                return
            }
            switch StreamFraming.next(rest.bytes) {
            case .frame(let byteCount):
                let message = UnsafeRawBufferPointer(rebasing: rest.prefix(byteCount))
                if let worker = target(of: message, from: slot) {
                    outbox.connections.setStage(slot, .moving(worker))
                    continue
                }
                receiveMessage(message, on: flow)
                offset &+= byteCount
                guard outbox.connections.slots[slot].isReading else { return }
            case .incomplete(let wanted):
                if wanted > Self.strangerByteCount, !engine.hasAllocation(on: flow) {
                    outbox.connections.end(slot, .oversized)
                    return
                }
                if offset > 0 { outbox.connections.sawMessage(slot, at: now) }
                outbox.connections.keep(slot, rest)
                return
            case .malformed:
                outbox.connections.end(slot, .malformed)
                return
            }
        }
        outbox.connections.sawMessage(slot, at: now)
        outbox.connections.keep(slot, UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private mutating func receiveMessage(_ message: UnsafeRawBufferPointer, on flow: Flow) {
        counters.packetsFromClients &+= 1
        counters.bytesFromClients &+= UInt64(truncatingIfNeeded: message.count)
        let forward = engine.receive(message.bytes, on: flow, at: now, into: &outbox)
        if let forward { sendToPeer(forward, message) }
        if outbox.hasWishes { settle() }
    }

    /// The client of a stream sends no more, and its peer still does: each direction ends by itself. False for everything
    /// else.
    private mutating func endStream(_ slot: Int) -> Bool {
        guard let peer = outbox.connections.slots[slot].peer, !outbox.peers.slots[peer].hasEnded else { return false }
        outbox.connections.setEnded(slot)
        outbox.peers.endSending(peer)
        return true
    }

    /// The client sends no more, so its allocation ends, and its connection once the last answers have left.
    private mutating func endReading(_ slot: Int) {
        engine.flowClosed(outbox.connections.slots[slot].flow, into: &outbox)
        if outbox.hasWishes { settle() }
        if let peer = outbox.connections.slots[slot].peer { releasePeer(peer) }
        outbox.connections.beginDraining(slot, at: now)
    }

    /// Closes the connections that ended in this round, and their allocations with them.
    mutating func endConnections() {
        while let removed = outbox.connections.removeNext() {
            if let peer = removed.peer { releasePeer(peer) }
            guard let flow = removed.flow else { continue }
            engine.flowClosed(flow, into: &outbox)
            if outbox.hasWishes { settle() }
        }
    }

    /// Ends connections that bring nothing: slow, half-open and forgotten ones.
    mutating func sweepConnections() {
        for slot in 0..<outbox.connections.slots.count where outbox.connections.slots[slot].isOpen {
            guard
                now.seconds(since: outbox.connections.slots[slot].quietSince) >= limits.messageSeconds
                    || now.seconds(since: outbox.connections.slots[slot].idleSince) >= limits.idleSeconds
            else { continue }
            if engine.hasAllocation(on: outbox.connections.slots[slot].flow)
                || outbox.connections.slots[slot].isPiping
            {
                outbox.connections.sawAllocation(slot, at: now)
            } else {
                outbox.connections.end(slot, .idle)
            }
        }
    }
}

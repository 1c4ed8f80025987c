import BasicContainers
import DatagramIO
import OpenSSLCrypto
import TURN
import Wire

// TURN over TCP: accepting, reading and ending connections. Messages go through the same engine and the same batches as
// those over UDP.

extension Worker {
    /// Bytes read at a time, and space before them for the message that they complete.
    static let readByteCount = 64 * 1024
    static let streamBufferByteCount = readByteCount + StreamFraming.maximumByteCount
    /// The largest message of a client that has no allocation yet: several times what a request needs.
    private static let maxUnallocatedByteCount = 4096
    private static let acceptedAtOnce = 64
    /// How many eviction candidates are checked for a new connection.
    private static let maxEvictionAttempts = 16
    /// Bytes read at a time until a client's protocol is known and TLS is established: a client that waits for its
    /// handshake costs no more memory than this.
    private static let openingByteCount = 512

    mutating func accept(listener index: Int, _ event: UInt64) {
        guard index < streamListeners.count, streamListeners[index].isOpen else { return }
        for _ in 0..<Self.acceptedAtOnce {
            switch streamListeners[index].listener.accept() {
            case .nothing:
                return
            case .shortage:
                counters.connectionsRejected &+= 1
                isShortOfDescriptors = true
                return
            case .connection(let socket, let remote):
                adopt(socket, from: remote, at: streamListeners[index].address)
            }
        }
        queue.rearm(of: streamListeners[index].listener.descriptor, as: event)
    }

    private mutating func adopt(
        _ socket: consuming StreamSocket, from remote: TransportAddress, at local: TransportAddress
    ) {
        let descriptor = socket.descriptor
        socket.prepare(StreamSocket.TCPOptions())
        let flow = Flow(.tcp, local: local, remote: remote)
        let isBalanced = shared.isBalancer(remote.address)
        let stage: Connection.Stage = isBalanced ? .proxyHeader : .opening
        evictIfFull(for: isBalanced ? nil : remote.address)
        guard let slot = outbox.connections.add(socket, flow, stage, at: now) else {
            counters.connectionsRejected &+= 1
            return
        }
        counters.connectionsAccepted &+= 1
        let tag = EventTag.connection(slot, generation: outbox.connections.slots[slot].generation)
        if !queue.watchStream(descriptor, as: tag) { outbox.connections.end(slot, .broken) }
    }

    /// Ends the oldest connection without an allocation when the table is full. Clients allocate as soon as they are
    /// connected, so thousands of idle connections keep nobody out.
    private mutating func evictIfFull(for source: IPAddress?) {
        for _ in 0..<Self.maxEvictionAttempts {
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

    /// Retries listeners that could not accept for lack of descriptors.
    mutating func acceptAgain() {
        guard isShortOfDescriptors else { return }
        isShortOfDescriptors = false
        for index in 0..<streamListeners.count where streamListeners[index].isOpen {
            queue.rearm(of: streamListeners[index].listener.descriptor, as: EventTag.streamListener(index))
        }
    }

    mutating func serve(_ slot: Int, _ readiness: Readiness, _ event: UInt64) {
        if readiness.isWritable { outbox.connections.drain(slot) }
        guard readiness.isReadable else { return }
        // The client had ended its direction, and its connection is gone now.
        if outbox.connections.slots[slot].hasEnded, readiness.hasError { outbox.connections.end(slot, .broken) }
        for _ in 0..<Self.rounds {
            guard outbox.connections.slots[slot].isReading, !outbox.connections.slots[slot].isPaused,
                !outbox.connections.slots[slot].isHeld
            else { return }
            if outbox.connections.slots[slot].isHandshaking, !mayHandshake() {
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
            let buffer = UnsafeMutableRawBufferPointer(rebasing: target.dropFirst(held).prefix(allowed))
            switch outbox.connections.slots[slot].socket.receive(into: buffer) {
            case .bytes(let count):
                receive(UnsafeRawBufferPointer(rebasing: target.prefix(held &+ count)), from: slot)
                if let worker = outbox.connections.slots[slot].target {
                    move(slot, to: worker)
                    return
                }
                // The buffer was not filled: the next byte is a new event, unless the end was already reported.
                if count < buffer.count, !readiness.isClosing { return }
            case .nothing:
                return
            case .end:
                // Over TLS, an end without close_notify is a lost client, not the end of a stream.
                if outbox.connections.slots[slot].session == nil, endStream(slot) { return }
                endReading(slot)
                return
            case .broken:
                outbox.connections.end(slot, .broken)
                return
            }
        }
        queue.rearmStream(outbox.connections.slots[slot].socket.descriptor, as: event)
    }

    /// Copies the beginning of a message before what is read next.
    private static func copyUnread(
        of connection: borrowing Connection, to target: UnsafeMutableRawBufferPointer
    ) -> Int {
        let unread = connection.unread.bytes
        guard unread.count <= target.count &- readByteCount else { return 0 }
        target.copyMemory(from: unread)
        return unread.count
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer, from slot: Int) {
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
            switch DetectedProtocol(rest.bytes) {
            case .incomplete:
                outbox.connections.keep(slot, rest)
                return
            case .unknown:
                outbox.connections.end(slot, .malformed)
                return
            case .turn:
                outbox.connections.setStage(slot, .messages)
            case .tls:
                guard mayHandshake() else {
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
        guard let streamContext, let session = TLSSession(streamContext, through: outbox.connections.tlsPipe) else {
            return false
        }
        let flow = outbox.connections.slots[slot].flow
        rename(slot, Flow(.tls, local: flow.local, remote: flow.remote))
        outbox.connections.secure(slot, session)
        outbox.connections.setStage(slot, .messages)
        return true
    }

    /// Passes received bytes to TLS, and the plaintext to the engine.
    private mutating func decrypt(_ bytes: UnsafeRawBufferPointer, _ session: TLSSession, from slot: Int) {
        session.receive(bytes)
        var progress = TLSSession.Progress.plaintext(0)
        // Also for a paused client: what TLS holds must be read, and is at most one buffer.
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
        // Ends an allocation of the connection that had this flow before.
        engine.flowClosed(flow, into: &outbox)
        if outbox.hasPendingRequests { executeRequests() }
        outbox.connections.setFlow(slot, flow)
    }

    /// Passes every complete message to the engine and keeps the rest.
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
            case .incomplete(let needed):
                if needed > Self.maxUnallocatedByteCount, !engine.hasAllocation(on: flow) {
                    outbox.connections.end(slot, .oversized)
                    return
                }
                if offset > 0 { outbox.connections.noteMessage(slot, at: now) }
                outbox.connections.keep(slot, rest)
                return
            case .malformed:
                outbox.connections.end(slot, .malformed)
                return
            }
        }
        outbox.connections.noteMessage(slot, at: now)
        outbox.connections.keep(slot, UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private mutating func receiveMessage(_ message: UnsafeRawBufferPointer, on flow: Flow) {
        counters.packetsFromClients &+= 1
        counters.bytesFromClients &+= UInt64(truncatingIfNeeded: message.count)
        let forward = engine.receive(message.bytes, on: flow, at: now, into: &outbox)
        if let forward { sendToPeer(forward, message) }
        if outbox.hasPendingRequests { executeRequests() }
    }

    /// Ends the client's direction of a stream whose peer still sends: each direction ends by itself. False for
    /// anything else.
    private mutating func endStream(_ slot: Int) -> Bool {
        guard let peer = outbox.connections.slots[slot].peer, !outbox.peers.slots[peer].hasEnded else { return false }
        outbox.connections.setEnded(slot)
        outbox.peers.endSending(peer)
        return true
    }

    /// The client has ended its direction: its allocation ends, and its connection once the last responses have been
    /// sent.
    private mutating func endReading(_ slot: Int) {
        engine.flowClosed(outbox.connections.slots[slot].flow, into: &outbox)
        if outbox.hasPendingRequests { executeRequests() }
        if let peer = outbox.connections.slots[slot].peer { releasePeer(peer) }
        outbox.connections.beginDraining(slot, at: now)
    }

    /// Closes the connections that ended in this round, and their allocations with them.
    mutating func endConnections() {
        while let removed = outbox.connections.removeNext() {
            if let peer = removed.peer { releasePeer(peer) }
            guard let flow = removed.flow else { continue }
            engine.flowClosed(flow, into: &outbox)
            if outbox.hasPendingRequests { executeRequests() }
        }
    }

    /// Ends idle connections: slow, half-open and abandoned ones.
    mutating func sweepConnections() {
        for slot in 0..<outbox.connections.slots.count where outbox.connections.slots[slot].isOpen {
            guard
                now.seconds(since: outbox.connections.slots[slot].quietSince) >= limits.messageSeconds
                    || now.seconds(since: outbox.connections.slots[slot].idleSince) >= limits.idleSeconds
            else { continue }
            if engine.hasAllocation(on: outbox.connections.slots[slot].flow)
                || outbox.connections.slots[slot].isPiping
            {
                outbox.connections.noteAllocation(slot, at: now)
            } else {
                outbox.connections.end(slot, .idle)
            }
        }
    }
}

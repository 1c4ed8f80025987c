import BasicContainers
import DTLS
import DatagramIO
import OpenSSLCrypto
import TURN
import Wire

// TURN over DTLS: on the sockets of plain UDP, distinguished by the first byte (RFC 7983). Decrypted datagrams go
// through the same engine and the same batches.

extension Worker {
    /// How many eviction candidates are checked before a new session is rejected.
    private static let maxEvictionAttempts = 16

    /// A datagram whose first byte says that it is DTLS.
    mutating func receiveDTLS(
        _ datagram: UnsafeMutableRawBufferPointer, listener: Int, from source: TransportAddress
    ) {
        let flow = Flow(.dtls, local: outbox.listeners[listener].address, remote: source)
        if datagram.first == RecordHeader.ContentType.handshake.rawValue, receiveHello(datagram, flow, listener) {
            return
        }
        var offset = 0
        for _ in 0..<RecordHeader.maximumPerDatagram {
            guard let record = RecordHeader(UnsafeRawBufferPointer(datagram).bytes, at: offset) else { break }
            offset = record.body.upperBound
            guard let slots = outbox.sessions.slots(of: flow) else {
                outbox.sessions.noteStray()
                return
            }
            // The plaintext overwrites the record, so a record that one session could read is not passed to the other.
            if receive(record, of: datagram, for: slots.current, flow) { continue }
            if let successor = slots.successor { _ = receive(record, of: datagram, for: successor, flow) }
        }
        if offset < datagram.count { outbox.sessions.noteStray() }
    }

    /// Whether the datagram was a ClientHello of a client without a session; it holds nothing else then.
    private mutating func receiveHello(
        _ datagram: UnsafeMutableRawBufferPointer, _ flow: Flow, _ listener: Int
    ) -> Bool {
        let bytes = UnsafeRawBufferPointer(datagram).bytes
        switch outbox.sessions.helloVerifier.receive(bytes, on: flow, at: now) {
        case .nothing:
            return false
        case .refused:
            return true
        case .unverified(let hello):
            // A duplicate of the hello that started the session is late or replayed. Some clients fail when a response
            // arrives in the middle of a session.
            guard !outbox.sessions.isDuplicate(hello.random, on: flow),
                engine.allowsResponse(to: flow.remote.address, at: now),
                let response = outbox.sessions.helloVerifier.challenge(hello, of: bytes, at: now)
            else { return true }
            outbox.listeners[listener].batch.appendCopy(
                response.span.bytes, from: outbox.listeners[listener].socket.descriptor, to: flow.remote)
            return true
        case .verified(let hello):
            begin(hello, on: flow)
            return true
        }
    }

    private mutating func begin(_ hello: VerifiedHello, on flow: Flow) {
        switch outbox.sessions.admit(hello, on: flow, at: now) {
        case .duplicate, .rejected:
            return
        case .full where !evictSession():
            outbox.sessions.noteRejected()
            return
        case .full, .admitted:
            let start = SystemClock.threadNanoseconds()
            outbox.sessions.begin(hello, on: flow, at: now)
            outbox.sessions.noteWork(nanoseconds: SystemClock.threadNanoseconds() &- start)
            outbox.sendRecords(on: flow)
        }
    }

    /// Ends a session without an allocation, so that many idle clients cannot keep others out. False when none was
    /// found.
    private mutating func evictSession() -> Bool {
        for _ in 0..<Self.maxEvictionAttempts {
            guard let slot = outbox.sessions.candidateForEviction(at: now) else { return false }
            guard !engine.hasAllocation(on: outbox.sessions.slots[slot].flow) else { continue }
            end(slot, .idle)
            return true
        }
        return false
    }

    /// Passes a record to a session, and its plaintext to the engine. Whether the session could read it.
    private mutating func receive(
        _ record: RecordHeader, of datagram: UnsafeMutableRawBufferPointer, for slot: Int, _ flow: Flow
    ) -> Bool {
        let isHandshake = !outbox.sessions.slots[slot].isEstablished
        let start = isHandshake ? SystemClock.threadNanoseconds() : 0
        guard let reading = outbox.sessions.receive(record, of: datagram, to: slot, at: now) else { return false }
        if isHandshake { outbox.sessions.noteWork(nanoseconds: SystemClock.threadNanoseconds() &- start) }
        outbox.sendRecords(on: flow)
        if outbox.sessions.noteEstablished(slot, at: now) {
            engine.flowClosed(flow, into: &outbox)
            if outbox.hasPendingRequests { executeRequests() }
        }
        switch reading {
        case .data(let count):
            receivePlaintext(UnsafeRawBufferPointer(rebasing: datagram[record.whole].prefix(count)), on: flow)
            return true
        case .nothing:
            return false
        case .closed:
            end(slot, .closed)
            return true
        case .failed:
            end(slot, .failed)
            return false
        }
    }

    private mutating func receivePlaintext(_ message: UnsafeRawBufferPointer, on flow: Flow) {
        counters.packetsFromClients &+= 1
        counters.bytesFromClients &+= UInt64(truncatingIfNeeded: message.count)
        let forward = engine.receive(message.bytes, on: flow, at: now, into: &outbox)
        if let forward { sendToPeer(forward, message) }
        if outbox.hasPendingRequests { executeRequests() }
    }

    /// Ends a session, and with it the allocation of its flow if it is the flow's current session.
    private mutating func end(_ slot: Int, _ end: DTLSCloseReason) {
        let flow = outbox.sessions.slots[slot].flow
        let isCurrent = outbox.sessions.end(slot, end)
        outbox.sendRecords(on: flow)
        guard isCurrent else { return }
        engine.flowClosed(flow, into: &outbox)
        if outbox.hasPendingRequests { executeRequests() }
    }

    /// Ends the sessions of sockets that are being closed.
    mutating func endSessions(on addresses: Set<TransportAddress>) {
        for slot in 0..<outbox.sessions.slots.count
        where outbox.sessions.slots[slot].session != nil
            && addresses.contains(outbox.sessions.slots[slot].flow.local)
        {
            end(slot, .closed)
        }
    }

    /// Runs the timers: retransmissions, handshakes that take too long, sessions without allocation.
    mutating func advanceSessions() {
        for slot in outbox.sessions.dueHandshakes(at: now) {
            if outbox.sessions.retransmit(slot, at: now) {
                outbox.sendRecords(on: outbox.sessions.slots[slot].flow)
            } else {
                end(slot, .failed)
            }
        }
        for slot in outbox.sessions.sweep(at: now) {
            if engine.hasAllocation(on: outbox.sessions.slots[slot].flow) {
                outbox.sessions.noteAllocation(slot, at: now)
            } else {
                end(slot, .idle)
            }
        }
    }

    /// Ends every session with a close_notify, when the worker stops.
    mutating func endSessions() {
        for slot in 0..<outbox.sessions.slots.count where outbox.sessions.slots[slot].session != nil {
            end(slot, .closed)
        }
    }
}

extension WorkerOutbox {
    /// Sends the records that a session left in the exchange.
    mutating func sendRecords(on flow: Flow) {
        guard sessions.exchange.count > 0 else { return }
        if let index = listener(at: flow.local) {
            for record in 0..<sessions.exchange.count {
                listeners[index].batch.appendCopy(
                    sessions.exchange[record].bytes, from: listeners[index].socket.descriptor, to: flow.remote)
            }
        }
        sessions.exchange.removeAll()
    }

    /// Encrypts a datagram and sends it. False when its flow has no session.
    mutating func sendEncrypted(_ plaintext: UnsafeRawBufferPointer, on flow: Flow) -> Bool {
        guard sessions.write(plaintext, on: flow) else { return false }
        sendRecords(on: flow)
        return true
    }
}

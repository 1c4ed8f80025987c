import BasicContainers
import DTLS
import DatagramIO
import OpenSSLCrypto
import TURN
import Wire

// TURN over DTLS: on the sockets of plain UDP, told apart by the first byte (RFC 7983). What comes out of a session goes
// through the same engine and the same batches.

extension Worker {
    /// How many sessions are asked whether they may make room for a new one.
    private static let evictionsLooked = 16

    /// A datagram whose first byte says that it is DTLS.
    mutating func receiveDTLS(
        _ datagram: UnsafeMutableRawBufferPointer, listener: Int, from source: TransportAddress
    ) {
        let flow = Flow(.dtls, local: outbox.listeners[listener].address, remote: source)
        if datagram.first == RecordHeader.ContentType.handshake.rawValue, meet(datagram, flow, listener) { return }
        var offset = 0
        for _ in 0..<RecordHeader.maximumPerDatagram {
            guard let record = RecordHeader(UnsafeRawBufferPointer(datagram).bytes, at: offset) else { break }
            offset = record.body.upperBound
            guard let places = outbox.sessions.places(of: flow) else {
                outbox.sessions.noteStray()
                return
            }
            // The plaintext takes the place of its record, so what one session could read the other does not see.
            if receive(record, of: datagram, for: places.current, flow) { continue }
            if let successor = places.successor { _ = receive(record, of: datagram, for: successor, flow) }
        }
        if offset < datagram.count { outbox.sessions.noteStray() }
    }

    /// Whether the datagram was one of somebody at the front door; then there is nothing else in it.
    private mutating func meet(_ datagram: UnsafeMutableRawBufferPointer, _ flow: Flow, _ listener: Int) -> Bool {
        let bytes = UnsafeRawBufferPointer(datagram).bytes
        switch outbox.sessions.door.receive(bytes, on: flow, at: now) {
        case .nothing:
            return false
        case .refused:
            return true
        case .unproven(let hello):
            // A hello that comes again when its session is there is late, or somebody's replay: some clients stumble over an
            // answer in the middle of a session.
            guard !outbox.sessions.knows(hello.random, on: flow), engine.allowsAnswer(to: flow.remote.address, at: now),
                let answer = outbox.sessions.door.challenge(hello, of: bytes, at: now)
            else { return true }
            outbox.listeners[listener].batch.appendCopy(
                answer.span.bytes, from: outbox.listeners[listener].socket.descriptor, to: flow.remote)
            return true
        case .proven(let hello):
            begin(hello, on: flow)
            return true
        }
    }

    private mutating func begin(_ hello: ProvenHello, on flow: Flow) {
        switch outbox.sessions.admit(hello, on: flow, at: now) {
        case .known, .refused:
            return
        case .full where !makeRoom():
            outbox.sessions.noteRefused()
            return
        case .full, .welcome:
            let start = SystemClock.threadNanoseconds()
            outbox.sessions.begin(hello, on: flow, at: now)
            outbox.sessions.noteWork(nanoseconds: SystemClock.threadNanoseconds() &- start)
            outbox.sendRecords(on: flow)
        }
    }

    /// Ends a session of somebody who has no allocation, so that strangers cannot keep others out by being many.
    private mutating func makeRoom() -> Bool {
        for _ in 0..<Self.evictionsLooked {
            guard let place = outbox.sessions.candidateForEviction(at: now) else { return false }
            guard !engine.hasAllocation(on: outbox.sessions.places[place].flow) else { continue }
            end(place, .idle)
            return true
        }
        return false
    }

    /// Gives a record to a session, and what it holds to the engine. Whether it held anything.
    private mutating func receive(
        _ record: RecordHeader, of datagram: UnsafeMutableRawBufferPointer, for place: Int, _ flow: Flow
    ) -> Bool {
        let isHandshake = !outbox.sessions.places[place].isEstablished
        let start = isHandshake ? SystemClock.threadNanoseconds() : 0
        guard let reading = outbox.sessions.take(record, of: datagram, to: place, at: now) else { return false }
        if isHandshake { outbox.sessions.noteWork(nanoseconds: SystemClock.threadNanoseconds() &- start) }
        outbox.sendRecords(on: flow)
        if outbox.sessions.noteEstablished(place, at: now) {
            engine.flowClosed(flow, into: &outbox)
            if outbox.hasWishes { settle() }
        }
        switch reading {
        case .data(let count):
            receivePlaintext(UnsafeRawBufferPointer(rebasing: datagram[record.whole].prefix(count)), on: flow)
            return true
        case .nothing:
            return false
        case .closed:
            end(place, .closed)
            return true
        case .failed:
            end(place, .failed)
            return false
        }
    }

    private mutating func receivePlaintext(_ message: UnsafeRawBufferPointer, on flow: Flow) {
        counters.packetsFromClients &+= 1
        counters.bytesFromClients &+= UInt64(truncatingIfNeeded: message.count)
        let forward = engine.receive(message.bytes, on: flow, at: now, into: &outbox)
        if let forward { sendToPeer(forward, message) }
        if outbox.hasWishes { settle() }
    }

    /// Ends a session, and with it the allocation of its flow if it is the one that counts there.
    private mutating func end(_ place: Int, _ end: DTLSEnd) {
        let flow = outbox.sessions.places[place].flow
        let isCurrent = outbox.sessions.end(place, end)
        outbox.sendRecords(on: flow)
        guard isCurrent else { return }
        engine.flowClosed(flow, into: &outbox)
        if outbox.hasWishes { settle() }
    }

    /// Ends those whose clients came through ports that are closed.
    mutating func endSessions(on ports: Set<UInt16>) {
        for place in 0..<outbox.sessions.places.count
        where outbox.sessions.places[place].session != nil
            && ports.contains(outbox.sessions.places[place].flow.local.port)
        {
            end(place, .closed)
        }
    }

    /// What is due: flights to be said again, handshakes that take too long, sessions without use.
    mutating func advanceSessions() {
        for place in outbox.sessions.dueHandshakes(at: now) {
            if outbox.sessions.retransmit(place, at: now) {
                outbox.sendRecords(on: outbox.sessions.places[place].flow)
            } else {
                end(place, .failed)
            }
        }
        for place in outbox.sessions.sweep(at: now) {
            if engine.hasAllocation(on: outbox.sessions.places[place].flow) {
                outbox.sessions.noteUseful(place, at: now)
            } else {
                end(place, .idle)
            }
        }
    }

    /// Says goodbye to everybody, when the worker stops.
    mutating func endSessions() {
        for place in 0..<outbox.sessions.places.count where outbox.sessions.places[place].session != nil {
            end(place, .closed)
        }
    }
}

extension WorkerOutbox {
    /// Sends what a session left in the exchange.
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

import Gateway
import ICE
import OpenSSLCrypto
import RTP
import STUN
import SecureMedia
package import Wire

// What arrives.

extension GatewayWorker {
    package mutating func receive(_ datagram: UnsafeMutableRawBufferPointer, on flow: Flow) {
        figures.packetsReceived &+= 1
        figures.bytesReceived &+= UInt64(truncatingIfNeeded: datagram.count)
        switch datagram.first {
        case .some(0...3): receiveCheck(UnsafeRawBufferPointer(datagram), on: flow)
        case .some(20...63):
            guard let leg = flows[flow] else { return figures.dropped.unknownFlow &+= 1 }
            receiveRecords(datagram, leg, on: flow)
        case .some(128...191):
            guard let leg = flows[flow] else { return figures.dropped.unknownFlow &+= 1 }
            receiveMedia(datagram, leg)
        default: figures.dropped.unknownKind &+= 1
        }
    }

    private mutating func receiveCheck(_ datagram: UnsafeRawBufferPointer, on flow: Flow) {
        guard let message = try? Message(datagram.bytes), let number = directory.leg(for: message),
            let leg = legs[number]
        else {
            figures.dropped.check &+= 1
            return
        }
        let outcome = leg.agent.receive(message, on: flow, at: now, authentication, &writer, into: &wires)
        switch outcome {
        case .answered(let changes): heed(changes, leg)
        case .repeated: figures.checksAnswered &+= 1
        case .refused, .dropped: figures.dropped.check &+= 1
        }
    }

    private mutating func heed(_ changes: CheckOutcome.Changes, _ leg: LegTransport) {
        figures.checksAnswered &+= 1
        leg.heardAt = now
        if let ended = changes.ended { directory.remove(ended) }
        if let removed = changes.removed { release(removed) }
        if let added = changes.added {
            // An address that another leg had belongs to whoever proves a password from it now.
            if let before = flows[added], before !== leg {
                before.agent.forget(added)
                point(before)
            }
            flows[added] = leg
            if added.transport.isStream { wires.connections.confirm(added) }
        }
        if changes.selected != nil { point(leg) }
    }

    mutating func receiveHandshake(
        _ datagram: UnsafeMutableRawBufferPointer, _ leg: LegTransport, on flow: Flow
    ) {
        let refused = leg.handshake.refusedRecords &+ leg.handshake.idleRecords
        let outcome = leg.handshake.receive(datagram)
        figures.dropped.record &+= leg.handshake.refusedRecords &+ leg.handshake.idleRecords &- refused
        sendHandshake(leg, to: flow)
        switch outcome {
        case .nothing where leg.session == nil: schedule(leg)
        // What came after the handshake has brought its buffers back.
        case .nothing: leg.handshake.releaseBuffers()
        case .established(let material): connect(leg, material)
        case .closed: end(leg, .closed)
        case .failed(.wrongCertificate): end(leg, .wrongCertificate)
        case .failed: end(leg, .handshakeFailed)
        }
    }

    /// Sends what DTLS wrote, a datagram for each flight's part.
    mutating func sendHandshake(_ leg: LegTransport, to flow: Flow?) {
        if let flow {
            for index in 0..<exchange.count { wires.send(exchange[index].bytes, on: flow) }
        }
        exchange.removeAll()
    }

    private mutating func schedule(_ leg: LegTransport) {
        let wait = leg.handshake.retransmission
        leg.retransmission = wait.map { now.adding(nanoseconds: $0) } ?? .distantFuture
        shaking[leg.number] = wait == nil ? nil : leg
    }

    mutating func retransmit(_ leg: LegTransport) {
        let goesOn = leg.handshake.retransmit()
        sendHandshake(leg, to: leg.agent.selected ?? leg.agent.validFlows.last)
        if goesOn { schedule(leg) } else { end(leg, .handshakeFailed) }
    }

    /// The flow is no leg's any more, and its connection of no use.
    mutating func release(_ flow: Flow) {
        flows[flow] = nil
        if flow.transport.isStream, let connection = wires.connections[flow] { close(connection) }
    }

    private mutating func receiveMedia(_ datagram: UnsafeMutableRawBufferPointer, _ leg: LegTransport) {
        guard let session = leg.session, let id = leg.id, datagram.count >= 8 else {
            figures.dropped.secured &+= 1
            return
        }
        do {
            // RFC 5761 section 4: of the payload types only those of RTCP lie here.
            if (192...223).contains(datagram[1]) {
                let count = try session.receiver.unprotectRTCP(datagram)
                leg.heardAt = now
                let packet = UnsafeRawBufferPointer(start: datagram.baseAddress, count: count)
                engine.receiveRTCP(packet.bytes, from: id, at: now, into: &wires)
            } else {
                let count = try session.receiver.unprotectRTP(datagram)
                leg.heardAt = now
                let packet = UnsafeMutableRawBufferPointer(start: datagram.baseAddress, count: count)
                var bytes = packet.mutableBytes
                engine.receiveRTP(&bytes, from: id, at: now, into: &wires)
            }
        } catch {
            figures.dropped.secured &+= 1
        }
    }
}

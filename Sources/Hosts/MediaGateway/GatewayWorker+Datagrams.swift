import Gateway
import ICE
import OpenSSLCrypto
import RTP
import STUN
import SecureMedia
package import Wire

// Handling of received datagrams.

extension GatewayWorker {
    package mutating func receive(_ datagram: UnsafeMutableRawBufferPointer, on flow: Flow) {
        stats.packetsReceived &+= 1
        stats.bytesReceived &+= UInt64(truncatingIfNeeded: datagram.count)
        switch datagram.first {
        case .some(0...3): receiveCheck(UnsafeRawBufferPointer(datagram), on: flow)
        case .some(20...63):
            guard let leg = flows[flow] else { return stats.dropped.unknownFlow &+= 1 }
            receiveRecords(datagram, leg, on: flow)
        case .some(128...191):
            guard let leg = flows[flow] else { return stats.dropped.unknownFlow &+= 1 }
            receiveMedia(datagram, leg, on: flow)
        default: stats.dropped.unknownKind &+= 1
        }
    }

    private mutating func receiveCheck(_ datagram: UnsafeRawBufferPointer, on flow: Flow) {
        guard let message = try? Message(datagram.bytes), let number = ufrags.leg(for: message),
            let leg = legs[number]
        else {
            stats.dropped.check &+= 1
            return
        }
        let outcome = leg.agent.receive(message, on: flow, at: now, authentication, &writer, into: &sender)
        switch outcome {
        case .answered(let changes): apply(changes, leg)
        case .repeated: stats.checksAnswered &+= 1
        case .refused, .dropped: stats.dropped.check &+= 1
        }
    }

    private mutating func apply(_ changes: CheckOutcome.Changes, _ leg: LegTransport) {
        stats.checksAnswered &+= 1
        leg.lastActivity = now
        if let ended = changes.ended { ufrags.remove(ended) }
        if let removed = changes.removed { release(removed) }
        if let added = changes.added {
            // A flow of another leg now belongs to the leg whose password was proved on it.
            if let before = flows[added], before !== leg {
                before.agent.forget(added)
                updatePath(before)
            }
            flows[added] = leg
            if added.transport.isStream { sender.connections.confirm(added) }
        }
        if changes.selected != nil {
            updatePath(leg)
            if leg.handshake.isWaiting { connectHandshake(leg) }
        }
    }

    mutating func receiveHandshake(
        _ datagram: UnsafeMutableRawBufferPointer, _ leg: LegTransport, on flow: Flow
    ) {
        let rejected = leg.handshake.rejectedRecords &+ leg.handshake.idleRecords
        let outcome = leg.handshake.receive(datagram)
        stats.dropped.record &+= leg.handshake.rejectedRecords &+ leg.handshake.idleRecords &- rejected
        sendHandshake(leg, to: flow)
        switch outcome {
        case .nothing:
            switch leg.stage {
            case .connecting: schedule(leg)
            // Records after the handshake allocated its buffers again.
            case .connected: leg.handshake.releaseBuffers()
            }
        case .established(let material): connect(leg, material)
        case .closed: end(leg, .closed)
        case .failed(.wrongCertificate): end(leg, .wrongCertificate)
        case .failed: endHandshake(leg)
        }
    }

    /// Ends a leg whose handshake failed, with OpenSSL's reason or the one given.
    mutating func endHandshake(_ leg: LegTransport, _ reason: String? = nil) {
        if let reason = leg.handshake.failureReason ?? reason {
            shared.notify(.handshakeFailed(leg.key, reason), of: leg.number)
        }
        end(leg, .handshakeFailed)
    }

    /// Sends the datagrams that DTLS wrote.
    mutating func sendHandshake(_ leg: LegTransport, to flow: Flow?) {
        if let flow {
            for index in 0..<exchange.count { sender.send(exchange[index].bytes, on: flow) }
        }
        exchange.removeAll()
    }

    mutating func schedule(_ leg: LegTransport) {
        retransmissions[leg.number] = leg.handshake.retransmission.map { now.adding(nanoseconds: $0) }
    }

    mutating func retransmit(_ leg: LegTransport) {
        let continues = leg.handshake.retransmit()
        sendHandshake(leg, to: leg.agent.selected ?? leg.agent.validFlows.last)
        if continues { schedule(leg) } else { endHandshake(leg, "no response to the last flight") }
    }

    /// Removes a flow that no longer belongs to a leg, and closes its connection.
    mutating func release(_ flow: Flow) {
        flows[flow] = nil
        if flow.transport.isStream, let connection = sender.connections[flow] { close(connection) }
    }

    private mutating func receiveMedia(
        _ datagram: UnsafeMutableRawBufferPointer, _ leg: LegTransport, on flow: Flow
    ) {
        guard case .connected(let id, let session) = leg.stage, datagram.count >= 8 else {
            stats.dropped.secured &+= 1
            return
        }
        do {
            // RFC 5761 section 4: only RTCP packet types are in this range.
            if (192...223).contains(datagram[1]) {
                let count = try session.receiver.unprotectRTCP(datagram)
                noteMedia(of: leg, on: flow)
                let packet = UnsafeRawBufferPointer(start: datagram.baseAddress, count: count)
                engine.receiveRTCP(packet.bytes, from: id, at: now, into: &sender)
            } else {
                let count = try session.receiver.unprotectRTP(datagram)
                noteMedia(of: leg, on: flow)
                let packet = UnsafeMutableRawBufferPointer(start: datagram.baseAddress, count: count)
                var bytes = packet.mutableBytes
                engine.receiveRTP(&bytes, from: id, at: now, into: &sender)
            }
        } catch {
            stats.dropped.secured &+= 1
        }
    }

    /// Authenticated media is a sign of life. A client to which nothing is sent but reports needs no further one: encoders
    /// such as FFmpeg's send a single check.
    private func noteMedia(of leg: LegTransport, on flow: Flow) {
        leg.lastActivity = now
        if leg.onlySends { leg.agent.renew(flow, at: now) }
    }
}

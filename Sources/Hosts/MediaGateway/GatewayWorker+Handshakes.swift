import DatagramIO
package import Wire

// How much of the thread the handshakes of new legs may take. Everybody comes at once after a restart, and the media of
// those who are here already goes on: who has to wait is late by milliseconds, and nobody is refused.

/// A datagram of DTLS that waits for its leg's turn.
struct WaitingDatagram {
    let flow: Flow
    var bytes: [UInt8]
}

extension LegTransport {
    /// A hello with large key shares has two, and what more comes is the same again.
    static let maximumWaitingDatagrams = 4

    /// False when as many wait as may: the client says it again.
    func hold(_ datagram: UnsafeMutableRawBufferPointer, on flow: Flow) -> Bool {
        guard waiting.count < Self.maximumWaitingDatagrams else { return false }
        waiting.append(WaitingDatagram(flow: flow, bytes: Array(UnsafeRawBufferPointer(datagram))))
        return true
    }
}

extension GatewayWorker {
    /// A quarter of the thread's time, and no longer in one piece than a packet of the others may wait.
    package static let handshakeShare = WorkBudget(perSecond: 250_000_000, burst: 5_000_000)

    /// A datagram of DTLS for a leg. Before there are keys it costs signatures, and waits where they have had their share.
    mutating func receiveRecords(_ datagram: UnsafeMutableRawBufferPointer, _ leg: LegTransport, on flow: Flow) {
        guard leg.session == nil else { return receiveHandshake(datagram, leg, on: flow) }
        if handshakeQueue.isEmpty, handshakeBudget.allowsMore(at: now) {
            shake(datagram, leg, on: flow)
        } else {
            if leg.waiting.isEmpty {
                handshakeQueue.append(leg.number, of: flow.remote.address)
                figures.handshakesDelayed &+= 1
            }
            if !leg.hold(datagram, on: flow) { figures.dropped.record &+= 1 }
        }
    }

    /// Serves those that wait: one leg of one source after one of another.
    mutating func serveHandshakes() {
        while !handshakeQueue.isEmpty, handshakeBudget.allowsMore(at: now), let number = handshakeQueue.popFirst() {
            guard let leg = legs[number] else { continue }
            let waiting = leg.waiting
            leg.waiting = []
            for var datagram in waiting where legs[number] != nil {
                let flow = datagram.flow
                datagram.bytes.withUnsafeMutableBytes { shake($0, leg, on: flow) }
            }
        }
    }

    private mutating func shake(_ datagram: UnsafeMutableRawBufferPointer, _ leg: LegTransport, on flow: Flow) {
        let start = SystemClock.threadNanoseconds()
        receiveHandshake(datagram, leg, on: flow)
        handshakeBudget.spend(SystemClock.threadNanoseconds() &- start)
    }
}

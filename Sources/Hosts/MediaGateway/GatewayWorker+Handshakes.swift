import DatagramIO
import ICE
import SecureMedia
package import Wire

// Limits the share of the thread that handshakes of new legs take. After a restart everybody connects at once, while
// the media of connected legs must go on: a waiting handshake is delayed by milliseconds, and none is rejected.

/// A DTLS datagram that waits for its leg's turn.
struct WaitingDatagram {
    let flow: Flow
    var bytes: [UInt8]
}

extension ConnectingLeg {
    /// A ClientHello with large key shares has two; further ones are retransmissions.
    static let maximumWaitingDatagrams = 4

    /// False when the queue is full: the client will retransmit.
    func enqueue(_ datagram: UnsafeMutableRawBufferPointer, on flow: Flow) -> Bool {
        guard waiting.count < Self.maximumWaitingDatagrams else { return false }
        waiting.append(WaitingDatagram(flow: flow, bytes: Array(UnsafeRawBufferPointer(datagram))))
        return true
    }
}

extension GatewayWorker {
    /// A quarter of the thread's time, in bursts no longer than the packets of others may wait.
    package static let handshakeShare = WorkBudget(perSecond: 250_000_000, burst: 5_000_000)

    /// Handles a DTLS datagram for a leg. During the handshake it costs signatures, so it waits when the share is used
    /// up.
    mutating func receiveRecords(_ datagram: UnsafeMutableRawBufferPointer, _ leg: LegTransport, on flow: Flow) {
        guard case .connecting(let connecting) = leg.stage else { return receiveHandshake(datagram, leg, on: flow) }
        if handshakeQueue.isEmpty, handshakeBudget.allowsMore(at: now) {
            processHandshake(datagram, leg, on: flow)
        } else {
            if connecting.waiting.isEmpty, !connecting.mustConnect {
                handshakeQueue.append(leg.number, of: flow.remote.address)
                stats.handshakesDelayed &+= 1
            }
            if !connecting.enqueue(datagram, on: flow) { stats.dropped.record &+= 1 }
        }
    }

    /// Serves the waiting handshakes, alternating between source addresses.
    mutating func serveHandshakes() {
        while !handshakeQueue.isEmpty, handshakeBudget.allowsMore(at: now), let number = handshakeQueue.popFirst() {
            guard let leg = legs[number], case .connecting(let connecting) = leg.stage else { continue }
            if connecting.mustConnect {
                connecting.mustConnect = false
                processConnect(leg)
            }
            let waiting = connecting.waiting
            connecting.waiting = []
            for var datagram in waiting where legs[number] != nil {
                let flow = datagram.flow
                datagram.bytes.withUnsafeMutableBytes { processHandshake($0, leg, on: flow) }
            }
        }
    }

    /// Begins the handshake with a client that waits for it, on the pair that it has nominated.
    mutating func connectHandshake(_ leg: LegTransport) {
        guard case .connecting(let connecting) = leg.stage, !connecting.mustConnect, let flow = leg.agent.selected
        else { return }
        if handshakeQueue.isEmpty, handshakeBudget.allowsMore(at: now) {
            processConnect(leg)
        } else {
            if connecting.waiting.isEmpty {
                handshakeQueue.append(leg.number, of: flow.remote.address)
                stats.handshakesDelayed &+= 1
            }
            connecting.mustConnect = true
        }
    }

    private mutating func processConnect(_ leg: LegTransport) {
        let start = SystemClock.threadNanoseconds()
        let isConnecting = leg.handshake.connect()
        sendHandshake(leg, to: leg.agent.selected)
        if isConnecting { schedule(leg) } else { endHandshake(leg) }
        handshakeBudget.spend(SystemClock.threadNanoseconds() &- start)
    }

    private mutating func processHandshake(
        _ datagram: UnsafeMutableRawBufferPointer, _ leg: LegTransport, on flow: Flow
    ) {
        let start = SystemClock.threadNanoseconds()
        receiveHandshake(datagram, leg, on: flow)
        handshakeBudget.spend(SystemClock.threadNanoseconds() &- start)
    }
}

import STUN
import Wire

/// The number by which a client names one of its connections to peers: CONNECTION-ID, RFC 6062 section 6.2.1.
///
///     | worker (8) | serial (24) |
///
/// The client claims it on a new connection of its own, which may reach any worker: the number says which one holds the
/// other end. It is no secret, since only the allocation's user can claim it.
package struct PeerConnectionID: Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    init(worker: UInt8, serial: UInt32) {
        rawValue = UInt32(worker) << 24 | serial & 0xFF_FFFF
    }

    package var worker: UInt8 {
        UInt8(truncatingIfNeeded: rawValue >> 24)
    }

    /// The number that a ConnectionBind request claims, nil for every other message. For the host, which brings the request
    /// to the worker that the number names.
    package static func claimed(by bytes: RawSpan) -> PeerConnectionID? {
        guard bytes.integer(at: 0, as: UInt16.self) == MessageType(.request, .connectionBind).bits,
            let message = try? Message(bytes), let number = message.integer32(.connectionID)
        else { return nil }
        return PeerConnectionID(rawValue: number)
    }
}

/// A TCP connection between a relay and a peer, from its beginning until it is closed.
struct PeerConnection {
    enum Stage {
        /// The host connects, as this request of the client wants.
        case connecting(TransactionID, AnswerShape, until: Instant)
        /// The client was told and has until then to claim it.
        case unclaimed(until: Instant)
        case bound
    }

    /// How long a peer may take to accept, and a client to claim (RFC 6062 sections 5.2 and 5.3), in seconds.
    static let patience: UInt32 = 30
    /// For one allocation, of all stages.
    static let maximum = 64

    let allocation: AllocationID
    let peer: TransportAddress
    var stage: Stage

    func isOver(at now: Instant) -> Bool {
        switch stage {
        case .connecting(_, _, let end), .unclaimed(let end): end <= now
        case .bound: false
        }
    }
}

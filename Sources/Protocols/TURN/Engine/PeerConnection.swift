import STUN
import Wire

/// The id of a client's connection to a peer: CONNECTION-ID, RFC 6062 section 6.2.1.
///
///     | worker (8) | serial (24) |
///
/// The client claims it on a new connection of its own, which may arrive at any worker: the id names the worker that
/// has the connection to the peer. It is no secret, since only the allocation's user can claim it.
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

    /// The id that a ConnectionBind request claims, nil for every other message. For the host, which hands the
    /// connection to the worker that the id names.
    package static func claimed(by bytes: RawSpan) -> PeerConnectionID? {
        guard bytes.integer(at: 0, as: UInt16.self) == MessageType(.request, .connectionBind).bits,
            let message = try? Message(bytes), let number = message.integer32(.connectionID)
        else { return nil }
        return PeerConnectionID(rawValue: number)
    }
}

/// A TCP connection between a relay and a peer, from the attempt until it is closed.
struct PeerConnection {
    enum Stage {
        /// The host connects for this Connect request.
        case connecting(TransactionID, ResponseSigning, until: Instant)
        /// The client was notified and has until then to claim it.
        case unclaimed(until: Instant)
        case bound
    }

    /// How long a peer may take to accept, and a client to claim (RFC 6062 sections 5.2 and 5.3), in seconds.
    static let timeout: UInt32 = 30
    /// For one allocation, in all stages.
    static let maximum = 64

    let allocation: AllocationID
    let peer: TransportAddress
    var stage: Stage

    func hasTimedOut(at now: Instant) -> Bool {
        switch stage {
        case .connecting(_, _, let end), .unclaimed(let end): end <= now
        case .bound: false
        }
    }
}

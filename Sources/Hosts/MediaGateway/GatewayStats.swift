package import Gateway

/// The state and totals of the gateway, summed over its workers.
package struct GatewayStats: Hashable, Sendable {
    package var legs = 0
    package var connectedLegs = 0
    /// Checked flows of legs, TCP connections of clients, and ufrags.
    package var flows = 0
    package var connections = 0
    package var ufrags = 0
    package var calls = 0
    package var tracks = 0
    package var packetsReceived: UInt64 = 0
    package var bytesReceived: UInt64 = 0
    package var packetsSent: UInt64 = 0
    package var bytesSent: UInt64 = 0
    /// Dropped because a socket buffer was full or a client did not read.
    package var packetsLost: UInt64 = 0
    /// Not protected by SRTP, since the sequence number was used before or is too old.
    package var packetsRejected: UInt64 = 0
    /// Packets that waited until their socket was writable, and the bytes that wait now.
    package var packetsQueued: UInt64 = 0
    package var unsentBytes = 0
    package var checksAnswered: UInt64 = 0
    package var handshakes: UInt64 = 0
    /// How often a leg's handshake had to wait, because the share of the thread for handshakes was used up.
    package var handshakesDelayed: UInt64 = 0
    /// Connections beyond the limit, when no pending one could be replaced.
    package var connectionsRejected: UInt64 = 0
    package var dropped = Dropped()
    /// Ended legs by reason.
    package var ended: [LegEnd: UInt64] = [:]
    package var counters = GatewayCounters()
    /// Bytes that wait for the recorder, and packets dropped there.
    package var tapBytes = 0
    package var tapDropped: UInt64 = 0

    /// Dropped datagrams.
    package struct Dropped: Hashable, Sendable {
        /// Neither STUN nor DTLS nor RTP, or truncated.
        package var unknownKind: UInt64 = 0
        /// From an address that no leg has checked.
        package var unknownFlow: UInt64 = 0
        /// STUN without a leg, or not authenticated.
        package var check: UInt64 = 0
        /// Invalid DTLS records.
        package var record: UInt64 = 0
        /// SRTP that was forged, replayed or received before the keys.
        package var secured: UInt64 = 0

        package init() {}

        package var total: UInt64 { unknownKind &+ unknownFlow &+ check &+ record &+ secured }

        static func += (left: inout Self, right: Self) {
            left.unknownKind &+= right.unknownKind
            left.unknownFlow &+= right.unknownFlow
            left.check &+= right.check
            left.record &+= right.record
            left.secured &+= right.secured
        }
    }

    package init() {}

    static func += (left: inout Self, right: Self) {
        left.legs += right.legs
        left.connectedLegs += right.connectedLegs
        left.flows += right.flows
        left.connections += right.connections
        left.ufrags += right.ufrags
        left.calls += right.calls
        left.tracks += right.tracks
        left.packetsReceived &+= right.packetsReceived
        left.bytesReceived &+= right.bytesReceived
        left.packetsSent &+= right.packetsSent
        left.bytesSent &+= right.bytesSent
        left.packetsLost &+= right.packetsLost
        left.packetsRejected &+= right.packetsRejected
        left.packetsQueued &+= right.packetsQueued
        left.unsentBytes += right.unsentBytes
        left.checksAnswered &+= right.checksAnswered
        left.handshakes &+= right.handshakes
        left.handshakesDelayed &+= right.handshakesDelayed
        left.connectionsRejected &+= right.connectionsRejected
        left.dropped += right.dropped
        left.ended.merge(right.ended) { $0 &+ $1 }
        left.counters += right.counters
        left.tapBytes += right.tapBytes
        left.tapDropped &+= right.tapDropped
    }
}

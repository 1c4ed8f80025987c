package import Gateway

/// What the gateway does and did, summed over its workers.
package struct GatewayFigures: Hashable, Sendable {
    package var legs = 0
    package var connectedLegs = 0
    /// Addresses that legs were checked from, connections of clients, and names that checks may ask for.
    package var flows = 0
    package var connections = 0
    package var names = 0
    package var calls = 0
    package var tracks = 0
    package var packetsReceived: UInt64 = 0
    package var bytesReceived: UInt64 = 0
    package var packetsSent: UInt64 = 0
    package var bytesSent: UInt64 = 0
    /// The kernel took no more, or a client that does not read.
    package var packetsLost: UInt64 = 0
    /// What SRTP refused to protect, since its number was used before or lies too far back.
    package var packetsRefused: UInt64 = 0
    /// Packets that waited until their socket had room, and the bytes that do so now.
    package var packetsKept: UInt64 = 0
    package var unsentBytes = 0
    package var checksAnswered: UInt64 = 0
    package var handshakes: UInt64 = 0
    /// Times that a leg's handshake had to wait, since others had had their share of the thread.
    package var handshakesDelayed: UInt64 = 0
    /// Connections for which there was no room, although none of those that are open is nobody's.
    package var connectionsRefused: UInt64 = 0
    package var dropped = Dropped()
    /// Legs that ended, by why.
    package var ended: [LegEnd: UInt64] = [:]
    package var tally = GatewayTally()
    /// What waits for who records, and packets that found no room there.
    package var tapBytes = 0
    package var tapDropped: UInt64 = 0

    /// Datagrams that changed nothing.
    package struct Dropped: Hashable, Sendable {
        /// Neither STUN nor DTLS nor RTP, or cut off.
        package var unknownKind: UInt64 = 0
        /// From an address that no leg has checked.
        package var unknownFlow: UInt64 = 0
        /// STUN that no leg was asked with, or that proved nothing.
        package var check: UInt64 = 0
        /// DTLS records that an honest client would not have sent.
        package var record: UInt64 = 0
        /// SRTP that is forged, replayed or came before its keys.
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
        left.names += right.names
        left.calls += right.calls
        left.tracks += right.tracks
        left.packetsReceived &+= right.packetsReceived
        left.bytesReceived &+= right.bytesReceived
        left.packetsSent &+= right.packetsSent
        left.bytesSent &+= right.bytesSent
        left.packetsLost &+= right.packetsLost
        left.packetsRefused &+= right.packetsRefused
        left.packetsKept &+= right.packetsKept
        left.unsentBytes += right.unsentBytes
        left.checksAnswered &+= right.checksAnswered
        left.handshakes &+= right.handshakes
        left.handshakesDelayed &+= right.handshakesDelayed
        left.connectionsRefused &+= right.connectionsRefused
        left.dropped += right.dropped
        left.ended.merge(right.ended) { $0 &+ $1 }
        left.tally += right.tally
        left.tapBytes += right.tapBytes
        left.tapDropped &+= right.tapDropped
    }
}

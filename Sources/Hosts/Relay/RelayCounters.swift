import DTLS
import TURN
package import Wire

/// Running totals of a relay, of one worker or all of them.
package struct RelayCounters: Hashable, Sendable {
    package var packetsFromClients: UInt64 = 0
    package var bytesFromClients: UInt64 = 0
    package var packetsFromPeers: UInt64 = 0
    package var bytesFromPeers: UInt64 = 0
    /// Relayed payload.
    package var packetsToClients: UInt64 = 0
    package var bytesToClients: UInt64 = 0
    package var packetsToPeers: UInt64 = 0
    package var bytesToPeers: UInt64 = 0

    /// Open now: the only number here that also falls.
    package var allocationsLive: UInt64 = 0
    package var allocationsMade: UInt64 = 0
    /// Moved to a new address of their client.
    package var allocationsMoved: UInt64 = 0
    /// Datagrams for another worker's allocation that found its buffer full.
    package var droppedHandedOver: UInt64 = 0
    /// Sent to another relay: some of the refused.
    package var allocationsRedirected: UInt64 = 0
    /// For quota, capacity or family.
    package var allocationsRefused: UInt64 = 0
    package var allocationsExpired: UInt64 = 0
    package var allocationsRevoked: UInt64 = 0

    package var bindings: UInt64 = 0
    /// 400, 401, 420 and 438 to sources that had not authenticated.
    package var unauthenticatedAnswers: UInt64 = 0
    package var refusals: UInt64 = 0

    package var droppedMalformed: UInt64 = 0
    package var droppedUnexpected: UInt64 = 0
    package var droppedLoop: UInt64 = 0
    /// Unauthenticated requests over their prefix's limit.
    package var droppedLimited: UInt64 = 0
    package var droppedUnpermittedFromClient: UInt64 = 0
    package var droppedUnpermittedFromPeer: UInt64 = 0
    /// Packets beyond their allocation's bytes or packets per second.
    package var droppedBandwidth: UInt64 = 0
    package var droppedPacketRate: UInt64 = 0
    /// Packets beyond what their user's allocations, or all together, may relay.
    package var droppedUserBandwidth: UInt64 = 0
    package var droppedTotalBandwidth: UInt64 = 0
    /// Times that a stream of a TCP allocation had to wait for its allocation's bytes per second.
    package var streamsHeld: UInt64 = 0
    /// Requests for peers beyond their allocation's rate of new ones.
    package var refusedNewPeers: UInt64 = 0
    /// ICMP errors that clients were told, and those that were not.
    package var peerErrors: UInt64 = 0
    package var droppedPeerErrors: UInt64 = 0
    /// Datagrams too large for a buffer.
    package var droppedOversized: UInt64 = 0
    /// Datagrams that the kernel did not take.
    package var droppedSending: UInt64 = 0
    package var cryptographyFailures: UInt64 = 0

    /// TCP connections, open now and since the start.
    package var connectionsLive: UInt64 = 0
    package var connectionsAccepted: UInt64 = 0
    /// Too many of them, or no descriptors for more.
    package var connectionsRefused: UInt64 = 0
    /// Times that a TLS handshake had to wait, since others had had their share of the thread.
    package var handshakesDelayed: UInt64 = 0
    /// By `ConnectionEnd`.
    package var connectionsClosed = [UInt64](repeating: 0, count: ConnectionEnd.allCases.count)
    /// Relayed packets whose client does not read fast enough.
    package var droppedFullConnection: UInt64 = 0

    /// DTLS sessions and handshakes open now, and hellos that were answered with a cookie.
    package var sessionsLive: UInt64 = 0
    package var hellosAnswered: UInt64 = 0
    /// Hellos with a cookie that was never given, or is too old.
    package var cookiesRefused: UInt64 = 0
    package var handshakesCompleted: UInt64 = 0
    package var handshakesFailed: UInt64 = 0
    /// Hellos with a right cookie beyond a limit of sessions or handshakes.
    package var droppedSessionLimit: UInt64 = 0
    /// Records of nobody's session, and parts of hellos that came to nothing.
    package var droppedStrayRecords: UInt64 = 0

    /// Allocations open now by the transport of their client, as the engine last went through them.
    package var allocationsByTransport = TransportCounts()

    /// System calls that received and sent, and how many datagrams each of them moved.
    package var receiveCalls: UInt64 = 0
    package var sendCalls: UInt64 = 0
    package var receiveBatches = BatchSizes()
    package var sendBatches = BatchSizes()

    package init() {}

    package func connections(closed end: ConnectionEnd) -> UInt64 {
        end.rawValue < connectionsClosed.count ? connectionsClosed[end.rawValue] : 0
    }

    mutating func countBatch(_ count: Int) {
        receiveCalls &+= 1
        receiveBatches.count(count)
    }

    mutating func take(_ tally: TURNTally) {
        allocationsMade = tally.allocationsMade
        allocationsRefused = tally.allocationsRefused
        allocationsExpired = tally.expired
        allocationsRevoked = tally.revoked
        bindings = tally.bindings
        unauthenticatedAnswers = tally.challenges
        refusals = tally.refusals
        droppedMalformed = tally.malformed
        droppedUnexpected = tally.unexpected
        droppedLoop = tally.loops
        droppedLimited = tally.limited
        droppedUnpermittedFromClient = tally.unpermittedFromClient
        droppedUnpermittedFromPeer = tally.unpermittedFromPeer
        allocationsRedirected = tally.redirected
        allocationsMoved = tally.moved
        droppedBandwidth = tally.limitedBytes
        droppedPacketRate = tally.limitedPackets
        droppedUserBandwidth = tally.limitedUserBytes
        droppedTotalBandwidth = tally.limitedTotalBytes
        refusedNewPeers = tally.limitedPeers
        peerErrors = tally.peerErrors
        droppedPeerErrors = tally.peerErrorsDropped
        cryptographyFailures = tally.failures
    }

    mutating func take(_ sessions: borrowing DTLSTable) {
        sessionsLive = UInt64(sessions.count)
        hellosAnswered = sessions.door.tally.challenges
        cookiesRefused = sessions.door.tally.cookiesRefused
        handshakesCompleted = sessions.tally.established
        handshakesFailed = sessions.tally.failed
        droppedSessionLimit = sessions.tally.refused
        droppedStrayRecords =
            sessions.tally.strayRecords &+ sessions.door.tally.strayFragments &+ sessions.door.tally.malformed
            &+ sessions.door.tally.abandoned
    }

    mutating func take(_ connections: borrowing ConnectionTable) {
        connectionsLive = UInt64(connections.count)
        connectionsClosed = connections.closed
        droppedFullConnection = connections.dropped
        sendCalls &+= connections.sendCalls
    }

    private static let totals: [any WritableKeyPath<RelayCounters, UInt64> & Sendable] = [
        \.packetsFromClients, \.bytesFromClients, \.packetsFromPeers, \.bytesFromPeers, \.packetsToClients,
        \.bytesToClients, \.packetsToPeers, \.bytesToPeers, \.allocationsLive, \.allocationsMade, \.allocationsRefused,
        \.allocationsExpired, \.allocationsRevoked, \.bindings, \.unauthenticatedAnswers, \.refusals,
        \.droppedMalformed,
        \.droppedUnexpected, \.droppedLoop, \.droppedLimited, \.droppedUnpermittedFromClient,
        \.droppedUnpermittedFromPeer, \.droppedOversized, \.droppedSending, \.cryptographyFailures, \.receiveCalls,
        \.sendCalls, \.allocationsRedirected, \.allocationsMoved, \.droppedHandedOver, \.droppedBandwidth,
        \.droppedPacketRate, \.droppedUserBandwidth, \.droppedTotalBandwidth, \.streamsHeld, \.refusedNewPeers,
        \.peerErrors, \.droppedPeerErrors,
        \.connectionsLive, \.connectionsAccepted, \.connectionsRefused, \.handshakesDelayed, \.droppedFullConnection,
        \.sessionsLive,
        \.hellosAnswered, \.cookiesRefused, \.handshakesCompleted, \.handshakesFailed, \.droppedSessionLimit,
        \.droppedStrayRecords,
    ]

    static func += (left: inout RelayCounters, right: RelayCounters) {
        for path in totals { left[keyPath: path] &+= right[keyPath: path] }
        left.receiveBatches += right.receiveBatches
        left.sendBatches += right.sendBatches
        left.allocationsByTransport += right.allocationsByTransport
        for index in left.connectionsClosed.indices where index < right.connectionsClosed.count {
            left.connectionsClosed[index] &+= right.connectionsClosed[index]
        }
    }
}

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

    /// Open now: a gauge, not a counter.
    package var allocationsLive: UInt64 = 0
    package var allocationsMade: UInt64 = 0
    /// Moved to a new address of their client.
    package var allocationsMoved: UInt64 = 0
    /// Datagrams for another worker's allocation that found its buffer full.
    package var droppedHandedOver: UInt64 = 0
    /// Redirected to another relay; also counted as refused.
    package var allocationsRedirected: UInt64 = 0
    /// For quota, capacity or family.
    package var allocationsRejected: UInt64 = 0
    package var allocationsExpired: UInt64 = 0
    package var allocationsRevoked: UInt64 = 0

    package var bindings: UInt64 = 0
    /// 400, 401, 420 and 438 to sources that had not authenticated.
    package var unauthenticatedAnswers: UInt64 = 0
    package var rejections: UInt64 = 0

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
    /// Packets over the limit of their user's allocations, or of all allocations.
    package var droppedUserBandwidth: UInt64 = 0
    package var droppedTotalBandwidth: UInt64 = 0
    /// How often a stream of a TCP allocation had to wait for its allocation's bytes per second.
    package var streamsHeld: UInt64 = 0
    /// Requests over their allocation's rate of new peers.
    package var rejectedNewPeers: UInt64 = 0
    /// ICMP errors forwarded to clients, and those that were not.
    package var peerErrors: UInt64 = 0
    package var droppedPeerErrors: UInt64 = 0
    /// Datagrams too large for a buffer.
    package var droppedOversized: UInt64 = 0
    /// Datagrams that the kernel did not accept.
    package var droppedSending: UInt64 = 0
    package var cryptographyFailures: UInt64 = 0

    /// TCP connections, open now and since the start.
    package var connectionsLive: UInt64 = 0
    package var connectionsAccepted: UInt64 = 0
    /// Too many of them, or no descriptors for more.
    package var connectionsRejected: UInt64 = 0
    /// How often a TLS handshake had to wait because others had used up their share of the thread.
    package var handshakesDelayed: UInt64 = 0
    /// By `ConnectionCloseReason`.
    package var connectionsClosed = [UInt64](repeating: 0, count: ConnectionCloseReason.allCases.count)
    /// Relayed packets whose client does not read fast enough.
    package var droppedFullConnection: UInt64 = 0

    /// DTLS sessions and handshakes open now, and hellos answered with a HelloVerifyRequest.
    package var sessionsLive: UInt64 = 0
    package var hellosAnswered: UInt64 = 0
    /// Hellos with a cookie that is forged or too old.
    package var cookiesRejected: UInt64 = 0
    package var handshakesCompleted: UInt64 = 0
    package var handshakesFailed: UInt64 = 0
    /// Hellos with a valid cookie over a limit of sessions or handshakes.
    package var droppedSessionLimit: UInt64 = 0
    /// Records without a session, and fragments of hellos that were never completed.
    package var droppedStrayRecords: UInt64 = 0

    /// Allocations open now by the transport of their client, as of the engine's last sweep.
    package var allocationsByTransport = TransportCounts()

    /// System calls that received and sent, and how many datagrams each of them moved.
    package var receiveCalls: UInt64 = 0
    package var sendCalls: UInt64 = 0
    package var receiveBatches = BatchSizes()
    package var sendBatches = BatchSizes()

    package init() {}

    package func connections(closed end: ConnectionCloseReason) -> UInt64 {
        end.rawValue < connectionsClosed.count ? connectionsClosed[end.rawValue] : 0
    }

    mutating func countBatch(_ count: Int) {
        receiveCalls &+= 1
        receiveBatches.count(count)
    }

    mutating func update(from counters: TURNCounters) {
        allocationsMade = counters.allocationsMade
        allocationsRejected = counters.allocationsRejected
        allocationsExpired = counters.expired
        allocationsRevoked = counters.revoked
        bindings = counters.bindings
        unauthenticatedAnswers = counters.challenges
        rejections = counters.rejections
        droppedMalformed = counters.malformed
        droppedUnexpected = counters.unexpected
        droppedLoop = counters.loops
        droppedLimited = counters.limited
        droppedUnpermittedFromClient = counters.unpermittedFromClient
        droppedUnpermittedFromPeer = counters.unpermittedFromPeer
        allocationsRedirected = counters.redirected
        allocationsMoved = counters.moved
        droppedBandwidth = counters.limitedBytes
        droppedPacketRate = counters.limitedPackets
        droppedUserBandwidth = counters.limitedUserBytes
        droppedTotalBandwidth = counters.limitedTotalBytes
        rejectedNewPeers = counters.limitedPeers
        peerErrors = counters.peerErrors
        droppedPeerErrors = counters.peerErrorsDropped
        cryptographyFailures = counters.failures
    }

    mutating func update(from sessions: borrowing DTLSTable) {
        sessionsLive = UInt64(sessions.count)
        hellosAnswered = sessions.helloVerifier.counters.challenges
        cookiesRejected = sessions.helloVerifier.counters.cookiesRejected
        handshakesCompleted = sessions.counters.established
        handshakesFailed = sessions.counters.failed
        droppedSessionLimit = sessions.counters.rejected
        droppedStrayRecords =
            sessions.counters.strayRecords &+ sessions.helloVerifier.counters.strayFragments
            &+ sessions.helloVerifier.counters.malformed &+ sessions.helloVerifier.counters.abandoned
    }

    mutating func update(from connections: borrowing ConnectionTable) {
        connectionsLive = UInt64(connections.count)
        connectionsClosed = connections.closed
        droppedFullConnection = connections.dropped
        sendCalls &+= connections.sendCalls
    }

    private static let totals: [any WritableKeyPath<RelayCounters, UInt64> & Sendable] = [
        \.packetsFromClients, \.bytesFromClients, \.packetsFromPeers, \.bytesFromPeers, \.packetsToClients,
        \.bytesToClients, \.packetsToPeers, \.bytesToPeers, \.allocationsLive, \.allocationsMade, \.allocationsRejected,
        \.allocationsExpired, \.allocationsRevoked, \.bindings, \.unauthenticatedAnswers, \.rejections,
        \.droppedMalformed,
        \.droppedUnexpected, \.droppedLoop, \.droppedLimited, \.droppedUnpermittedFromClient,
        \.droppedUnpermittedFromPeer, \.droppedOversized, \.droppedSending, \.cryptographyFailures, \.receiveCalls,
        \.sendCalls, \.allocationsRedirected, \.allocationsMoved, \.droppedHandedOver, \.droppedBandwidth,
        \.droppedPacketRate, \.droppedUserBandwidth, \.droppedTotalBandwidth, \.streamsHeld, \.rejectedNewPeers,
        \.peerErrors, \.droppedPeerErrors,
        \.connectionsLive, \.connectionsAccepted, \.connectionsRejected, \.handshakesDelayed, \.droppedFullConnection,
        \.sessionsLive,
        \.hellosAnswered, \.cookiesRejected, \.handshakesCompleted, \.handshakesFailed, \.droppedSessionLimit,
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

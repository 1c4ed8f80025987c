import Wire

/// The rate limits of one allocation. 0 means no limit.
///
/// Each is a token bucket that holds a second's worth (ten seconds' worth of new peers). Packets beyond a limit are
/// dropped and TCP streams wait; a request for a peer beyond is rejected with 508.
package struct AllocationLimits: Hashable, Sendable {
    /// Payload, each way.
    package var bytesPerSecond: UInt64
    /// Packets, each way.
    package var packetsPerSecond: UInt64
    /// Peer addresses that get a permission and had none.
    package var newPeersPerSecond: UInt64

    package init(bytesPerSecond: UInt64 = 0, packetsPerSecond: UInt64 = 0, newPeersPerSecond: UInt64 = 0) {
        self.bytesPerSecond = bytesPerSecond
        self.packetsPerSecond = packetsPerSecond
        self.newPeersPerSecond = newPeersPerSecond
    }

    /// The largest datagram must fit into the bucket, or a low limit would drop all of them.
    var bytes: TokenRate { TokenRate(bytesPerSecond, burst: max(bytesPerSecond, 65_536)) }
    var packets: TokenRate { TokenRate(packetsPerSecond, burst: packetsPerSecond) }
    var newPeers: TokenRate { TokenRate(newPeersPerSecond, burst: min(newPeersPerSecond, TokenRate.maximum) &* 10) }
    /// ICMP errors reported to the client (RFC 8656 section 11.5): enough for path MTU discovery towards several peers.
    static let errors = TokenRate(10, burst: 10)
}

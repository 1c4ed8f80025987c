import Wire

/// The rate limits of one published track: packets beyond them are dropped, and reported to the publisher as lost.
package struct TrackLimits: Hashable, Sendable {
    /// Of all its encodings with their repairs, RTP headers included; 0: no limit.
    package var bitsPerSecond: UInt64
    package var packetsPerSecond: UInt64

    package init(bitsPerSecond: UInt64 = 20_000_000, packetsPerSecond: UInt64 = 3_000) {
        self.bitsPerSecond = bitsPerSecond
        self.packetsPerSecond = packetsPerSecond
    }
}

/// Enforces the limits of a track: two virtual schedules (GCRA), each of which may be a second ahead of time, since a
/// key frame arrives as a burst.
struct TrackRate {
    private static let burst: UInt64 = 1_000_000_000
    /// When the packets so far would have ended at the limit's rate, in nanoseconds.
    private var bytesUntil: UInt64 = 0
    private var packetsUntil: UInt64 = 0

    mutating func take(_ byteCount: Int, _ limits: TrackLimits, at now: Instant) -> Bool {
        let bits = UInt64(clamping: byteCount) &* 8
        let bytes = Self.end(bytesUntil, after: bits, perSecond: limits.bitsPerSecond, now)
        let packets = Self.end(packetsUntil, after: 1, perSecond: limits.packetsPerSecond, now)
        let latest = now.nanoseconds &+ Self.burst
        guard bytes <= latest, packets <= latest else { return false }
        (bytesUntil, packetsUntil) = (bytes, packets)
        return true
    }

    /// - Parameter amount: below 2^20 bits, so that multiplying by the nanoseconds of a second does not overflow.
    private static func end(_ until: UInt64, after amount: UInt64, perSecond: UInt64, _ now: Instant) -> UInt64 {
        guard perSecond > 0 else { return 0 }
        return max(until, now.nanoseconds) &+ amount &* 1_000_000_000 / perSecond
    }
}

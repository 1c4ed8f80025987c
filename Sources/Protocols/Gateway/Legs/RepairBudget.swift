import Wire

/// Limits the video retransmissions to a receiver.
///
/// A NACK of a kilobyte requests thousands of packets. And when a link becomes narrow, most packets are lost in its
/// queue: so are retransmissions, which are then requested again. So no more than half of the leg's bandwidth is spent
/// on repairs.
struct RepairBudget {
    private static let maxPerSecond: UInt64 = 1024 * 1024
    /// A key frame of a small video.
    private static let minBurst: UInt64 = 6 * 1024
    private var available: UInt64 = .max
    private var at = Instant(nanoseconds: 0)

    /// Whether so many bytes may be retransmitted now, with the leg's bandwidth `bitrate` in bits per second.
    mutating func take(_ count: Int, bitrate: UInt64, at now: Instant) -> Bool {
        let perSecond = min(bitrate / 16, Self.maxPerSecond)
        let earned = min(now.nanoseconds(since: at), 1_000_000_000) &* perSecond / 1_000_000_000
        if earned > 0 { at = now }
        let burst = max(perSecond / 4, Self.minBurst)
        available = min(min(available, burst) &+ earned, burst)
        let count = UInt64(clamping: count)
        guard available >= count else { return false }
        available &-= count
        return true
    }
}

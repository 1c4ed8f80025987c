import Wire

/// How much of its pictures a receiver may have sent again.
///
/// A NACK of a kilobyte names thousands of packets. And where a link became narrow most packets are lost in its queue:
/// what is sent again is lost there too, and is asked for again. So no more than half of what the leg can receive is
/// spent on repairs.
struct RepairBudget {
    private static let mostPerSecond: UInt64 = 1024 * 1024
    /// A key frame of a small picture.
    private static let leastBurst: UInt64 = 6 * 1024
    private var available: UInt64 = .max
    private var at = Instant(nanoseconds: 0)

    /// Whether so many bytes may be sent again now, when the leg can receive `bitrate`, in bits per second.
    mutating func take(_ count: Int, bitrate: UInt64, at now: Instant) -> Bool {
        let perSecond = min(bitrate / 16, Self.mostPerSecond)
        let earned = min(now.nanoseconds(since: at), 1_000_000_000) &* perSecond / 1_000_000_000
        if earned > 0 { at = now }
        let burst = max(perSecond / 4, Self.leastBurst)
        available = min(min(available, burst) &+ earned, burst)
        let count = UInt64(clamping: count)
        guard available >= count else { return false }
        available &-= count
        return true
    }
}

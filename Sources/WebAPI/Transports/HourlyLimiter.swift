import Accounts

/// A rate limiter with a sliding window of one hour per key.
///
/// A token bucket that holds an hour's permits allows twice as many within its first hour. Here the hour is divided
/// into slots of five minutes, and a permit is free again when its slot is completely outside the last hour: no hour
/// has more than `limit`. Time is passed as milliseconds of a monotonic clock. The number of keys is bounded; the least
/// recently used ones are evicted.
struct HourlyLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Window: Sendable {
        /// Permits taken in each slot; slot `n` lies at index `n % slotCount`.
        var taken: [Int32]
        var latestSlot: Int64
    }

    private static var slotMilliseconds: Int64 { 300_000 }
    /// The slots of an hour, and the current one.
    private static var slotCount: Int64 { 13 }

    private let limit: Int
    private var windows: RecentMap<Key, Window>

    /// - Parameters:
    ///   - limit: permits per key within an hour.
    ///   - capacity: the maximum number of keys.
    init(limit: Int, capacity: Int = 50_000) {
        self.limit = min(max(1, limit), 1_000_000_000)
        windows = RecentMap(capacity: capacity)
    }

    var count: Int { windows.count }

    /// Takes one permit of `key`. Returns nil if there was one, else the milliseconds until there is one.
    mutating func take(_ key: Key, at now: Int64) -> Int64? {
        // Clamped so that the sums below cannot overflow.
        let now = min(max(0, now), Int64.max / 2)
        var window =
            windows[key] ?? Window(taken: Array(repeating: 0, count: Int(Self.slotCount)), latestSlot: 0)
        // A clock that jumps back stays in the latest slot.
        let slot = max(now / Self.slotMilliseconds, window.latestSlot)
        for passed in 0..<min(slot - window.latestSlot, Self.slotCount) {
            window.taken[Self.index(of: slot - passed)] = 0
        }
        window.latestSlot = slot
        defer { windows[key] = window }
        guard window.taken.reduce(0, { $0 + Int($1) }) < limit else {
            return max(1, (Self.oldest(in: window) + Self.slotCount) * Self.slotMilliseconds - now)
        }
        window.taken[Self.index(of: slot)] += 1
        return nil
    }

    /// The oldest slot in which a permit was taken.
    private static func oldest(in window: Window) -> Int64 {
        let first = window.latestSlot - slotCount + 1
        return (first...window.latestSlot).first { window.taken[index(of: $0)] > 0 } ?? window.latestSlot
    }

    private static func index(of slot: Int64) -> Int {
        // The slot may be negative, before the clock's origin.
        Int(((slot % slotCount) + slotCount) % slotCount)
    }
}

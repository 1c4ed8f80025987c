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
    mutating func take(_ key: Key, at now: Int64) -> Int64? { count(key, at: now).wait }

    /// Takes one permit of `key` if there is one, and returns what is left.
    mutating func count(_ key: Key, at now: Int64) -> RateLimitState {
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
        let taken = window.taken.reduce(0) { $0 + Int($1) }
        guard taken < limit else {
            return RateLimitState(
                wait: Self.expiry(of: Self.oldest(in: window), at: now), remaining: 0,
                reset: Self.expiry(of: Self.latest(in: window), at: now))
        }
        window.taken[Self.index(of: slot)] += 1
        return RateLimitState(wait: nil, remaining: Int64(limit - taken - 1), reset: Self.expiry(of: slot, at: now))
    }

    /// The milliseconds until the permits of a slot are free again.
    private static func expiry(of slot: Int64, at now: Int64) -> Int64 {
        max(1, (slot + slotCount) * slotMilliseconds - now)
    }

    /// The oldest slot in which a permit was taken.
    private static func oldest(in window: Window) -> Int64 {
        let first = window.latestSlot - slotCount + 1
        return (first...window.latestSlot).first { window.taken[index(of: $0)] > 0 } ?? window.latestSlot
    }

    /// The latest slot in which a permit was taken.
    private static func latest(in window: Window) -> Int64 {
        let first = window.latestSlot - slotCount + 1
        return (first...window.latestSlot).last { window.taken[index(of: $0)] > 0 } ?? window.latestSlot
    }

    private static func index(of slot: Int64) -> Int {
        // The slot may be negative, before the clock's origin.
        Int(((slot % slotCount) + slotCount) % slotCount)
    }
}

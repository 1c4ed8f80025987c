/// How often each of many parties may do something: a token bucket per key.
///
/// A bucket holds up to `burst` and fills at `perMinute`. Time is handed in as milliseconds of a monotonic clock. The
/// number of buckets is bounded; one that is forgotten was idle longest, and is full again when it comes back.
package struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Bucket: Sendable {
        /// In parts of a permit, 60,000 to one: a bucket gains `perMinute` of them a millisecond, without rounding.
        var level: Int64
        var at: Int64
    }

    private static var permit: Int64 { 60_000 }

    private let perMinute: Int64
    private let burst: Int64
    private var buckets: RecentMap<Key, Bucket>

    /// - Parameters:
    ///   - perMinute: what a party may do in the long run.
    ///   - burst: what it may do at once; `perMinute` when nil.
    ///   - capacity: parties remembered at most.
    package init(perMinute: Int, burst: Int? = nil, capacity: Int = 100_000) {
        self.perMinute = Int64(min(max(1, perMinute), 1_000_000_000))
        self.burst = Int64(min(max(1, burst ?? perMinute), 1_000_000_000)) * Self.permit
        buckets = RecentMap(capacity: capacity)
    }

    package var count: Int { buckets.count }

    /// Takes one permit of `key`. Returns nil when there was one, else the milliseconds until there will be.
    package mutating func take(_ key: Key, at now: Int64) -> Int64? {
        var bucket = buckets[key] ?? Bucket(level: burst, at: now)
        // A bucket is full after burst / perMinute minutes, so a longer time need not be multiplied.
        let elapsed = min(max(0, now &- bucket.at), burst / perMinute + 1)
        bucket.level = min(burst, bucket.level + elapsed * perMinute)
        bucket.at = max(bucket.at, now)
        defer { buckets[key] = bucket }
        guard bucket.level >= Self.permit else { return (Self.permit - bucket.level + perMinute - 1) / perMinute }
        bucket.level -= Self.permit
        return nil
    }
}

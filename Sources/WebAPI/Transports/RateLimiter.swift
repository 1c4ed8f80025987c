import Accounts

/// A rate limiter with a token bucket per key.
///
/// A bucket holds up to `burst` and fills at `perMinute`. Time is passed as milliseconds of a monotonic clock. The
/// number of buckets is bounded; the least recently used ones are evicted, and are full when they come back.
///
/// The `TokenBucket` of packets does not fit: it is filled only when it is empty, so that two bursts can pass together,
/// and it counts at most ten seconds. A rejected request is told exactly when there will be a permit.
struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Bucket: Sendable {
        /// In 1/60,000 of a permit: a bucket gains `perMinute` of them per millisecond, without rounding.
        var level: Int64
        var at: Int64
    }

    private static var permit: Int64 { 60_000 }

    private let perMinute: Int64
    private let burst: Int64
    private var buckets: RecentMap<Key, Bucket>

    /// - Parameters:
    ///   - perMinute: permits per key and minute in the long run.
    ///   - burst: permits at once; `perMinute` if nil.
    ///   - capacity: the maximum number of keys.
    init(perMinute: Int, burst: Int? = nil, capacity: Int = 100_000) {
        self.perMinute = Int64(min(max(1, perMinute), 1_000_000_000))
        self.burst = Int64(min(max(1, burst ?? perMinute), 1_000_000_000)) * Self.permit
        buckets = RecentMap(capacity: capacity)
    }

    var count: Int { buckets.count }

    /// Takes one permit of `key`. Returns nil if there was one, else the milliseconds until there is one.
    mutating func take(_ key: Key, at now: Int64) -> Int64? { count(key, at: now).wait }

    /// Takes so many permits of `key` if there are as many, or none, and returns what is left. More than a burst are never
    /// there.
    mutating func count(_ key: Key, permits: Int = 1, at now: Int64) -> RateLimitState {
        let taken = Int64(permits) * Self.permit
        var bucket = buckets[key] ?? Bucket(level: burst, at: now)
        // A bucket is full after burst / perMinute minutes, so a longer time need not be multiplied.
        let elapsed = min(max(0, now &- bucket.at), burst / perMinute + 1)
        bucket.level = min(burst, bucket.level + elapsed * perMinute)
        bucket.at = max(bucket.at, now)
        defer { buckets[key] = bucket }
        guard bucket.level >= taken else {
            return state(of: bucket, wait: (taken - bucket.level + perMinute - 1) / perMinute)
        }
        bucket.level -= taken
        return state(of: bucket, wait: nil)
    }

    /// Gives a permit back that was taken for an attempt that succeeded.
    mutating func giveBack(_ key: Key) {
        guard var bucket = buckets[key] else { return }
        bucket.level = min(burst, bucket.level + Self.permit)
        buckets[key] = bucket
    }

    private func state(of bucket: Bucket, wait: Int64?) -> RateLimitState {
        RateLimitState(
            wait: wait, remaining: bucket.level / Self.permit, reset: (burst - bucket.level + perMinute - 1) / perMinute
        )
    }
}

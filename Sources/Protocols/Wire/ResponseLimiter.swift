/// Bounds how many responses the sources of one prefix get before they have authenticated.
///
/// A request's source address may be spoofed, and the responses go to that address: the limit prevents reflection
/// attacks. One bucket per hashed prefix (a /24, or a /56 for IPv6) in a table of fixed size, so a source costs no
/// memory; two prefixes that share a bucket share its tokens.
package struct ResponseLimiter: Sendable {
    private struct Bucket {
        var tokens: UInt32
        var lastRefill: UInt32
    }

    private static let bucketCount = 4096
    private var perSecond: UInt32
    private var burst: UInt32
    private let seed: UInt64
    private var buckets: [Bucket]

    /// At most `perSecond` responses per prefix in the long run and `burst` at once. 0 per second means no limit.
    package init(perSecond: UInt32, burst: UInt32, seed: UInt64) {
        self.perSecond = perSecond
        self.burst = burst
        self.seed = seed
        buckets = Array(repeating: Bucket(tokens: burst, lastRefill: 0), count: Self.bucketCount)
    }

    /// Changes the limit.
    package mutating func limit(perSecond: UInt32, burst: UInt32) {
        self.perSecond = perSecond
        self.burst = burst
        for index in buckets.indices { buckets[index].tokens = min(buckets[index].tokens, burst) }
    }

    /// Takes a token of the source's prefix, false when there is none.
    package mutating func allows(_ source: IPAddress, at now: Instant) -> Bool {
        guard perSecond > 0 else { return true }
        let prefix = source.family == .ipv4 ? source.low >> 8 : source.high >> 8
        var generator = SeededRandom(seed: seed ^ prefix &* 0x9E37_79B9_7F4A_7C15)
        let index = Int(truncatingIfNeeded: generator.next() % UInt64(Self.bucketCount))

        let milliseconds = UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000)
        let elapsed = milliseconds &- buckets[index].lastRefill
        let earned = UInt64(elapsed) * UInt64(perSecond) / 1000
        if earned > 0 {
            buckets[index].tokens = UInt32(min(UInt64(burst), UInt64(buckets[index].tokens) + earned))
            buckets[index].lastRefill = milliseconds
        }
        guard buckets[index].tokens > 0 else { return false }
        buckets[index].tokens -= 1
        return true
    }
}

/// How fast a bucket fills, and how much it holds.
package struct TokenRate: Hashable, Sendable {
    package let perSecond: UInt64
    package let burst: Int64

    /// So bounded, ten seconds of tokens times the nanoseconds of a second fit 64 bits.
    package static let maximum: UInt64 = 1_000_000_000

    /// 0 per second is a bucket that is never empty for long.
    package init(_ perSecond: UInt64, burst: UInt64) {
        self.perSecond = min(perSecond, Self.maximum)
        self.burst = perSecond == 0 ? .max / 2 : Int64(min(burst, Self.maximum &* 10))
    }
}

/// Tokens that come back with time.
///
/// Time is looked at only when the bucket is empty: a packet costs one subtraction. So what a bucket gained unnoticed
/// while it was still full enough comes on top once, and at most two bursts pass together.
package struct TokenBucket: Sendable {
    @usableFromInline var tokens: Int64
    private var filledAt: Instant

    package init(_ rate: TokenRate, at now: Instant) {
        tokens = rate.burst
        filledAt = now
    }

    /// Takes so many tokens, or none when there are fewer.
    // Every relayed packet takes from two buckets.
    @inlinable
    package mutating func take(_ count: Int, _ rate: @autoclosure () -> TokenRate, at now: Instant) -> Bool {
        let rest = tokens &- Int64(truncatingIfNeeded: count)
        if rest >= 0 {
            tokens = rest
            return true
        }
        return fillAndTake(Int64(truncatingIfNeeded: count), rate(), at: now)
    }

    /// Gives back what was taken for something that did not happen.
    package mutating func giveBack(_ count: Int) {
        tokens = tokens &+ Int64(truncatingIfNeeded: count)
    }

    /// Holds no more than a new limit allows.
    package mutating func limit(to rate: TokenRate) {
        tokens = min(tokens, rate.burst)
    }

    /// How many of so many wanted tokens there are now, 0 while more were taken than there were.
    package mutating func available(upTo wanted: Int, _ rate: TokenRate, at now: Instant) -> Int {
        if tokens < Int64(wanted) { fill(rate, at: now) }
        return max(0, min(wanted, Int(tokens)))
    }

    @usableFromInline
    mutating func fillAndTake(_ count: Int64, _ rate: TokenRate, at now: Instant) -> Bool {
        fill(rate, at: now)
        guard tokens >= count else { return false }
        tokens &-= count
        return true
    }

    private mutating func fill(_ rate: TokenRate, at now: Instant) {
        if rate.perSecond == 0 {
            tokens = rate.burst
        } else {
            // More than fills the largest bucket, ten seconds' worth of peers.
            let elapsed = min(now.nanoseconds(since: filledAt), 10_000_000_000)
            let earned = elapsed &* rate.perSecond / 1_000_000_000
            if earned > 0 {
                tokens = min(rate.burst, tokens &+ Int64(clamping: earned))
                // What is left of a token's time counts for the next.
                filledAt =
                    elapsed == 10_000_000_000
                    ? now : filledAt.adding(nanoseconds: earned &* 1_000_000_000 / rate.perSecond)
            }
        }
    }
}

/// How fast a bucket fills, and how much it holds.
package struct TokenRate: Hashable, Sendable {
    package let perSecond: UInt64
    package let burst: Int64

    /// With this bound, ten seconds of tokens times the nanoseconds of a second fit 64 bits.
    package static let maximum: UInt64 = 1_000_000_000

    /// 0 per second is a bucket that is never empty for long.
    package init(_ perSecond: UInt64, burst: UInt64) {
        self.perSecond = min(perSecond, Self.maximum)
        self.burst = perSecond == 0 ? .max / 2 : Int64(min(burst, Self.maximum &* 10))
    }
}

/// A token bucket.
///
/// It is refilled only when it is empty: a packet costs one subtraction. So tokens that it earned before are added
/// late, once, and at most two bursts pass together.
package struct TokenBucket: Sendable {
    @usableFromInline var tokens: Int64
    private var filledAt: Instant

    package init(_ rate: TokenRate, at now: Instant) {
        tokens = rate.burst
        filledAt = now
    }

    /// Takes so many tokens, or none when fewer are available.
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

    /// Returns tokens that were taken for something that did not happen.
    package mutating func giveBack(_ count: Int) {
        tokens = tokens &+ Int64(truncatingIfNeeded: count)
    }

    /// Discards tokens beyond a new limit.
    package mutating func limit(to rate: TokenRate) {
        tokens = min(tokens, rate.burst)
    }

    /// How many tokens, at most `requested`, are available now; 0 while the balance is negative.
    package mutating func available(upTo requested: Int, _ rate: TokenRate, at now: Instant) -> Int {
        if tokens < Int64(requested) { fill(rate, at: now) }
        return max(0, min(requested, Int(tokens)))
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
                // The remainder counts towards the next token.
                filledAt =
                    elapsed == 10_000_000_000
                    ? now : filledAt.adding(nanoseconds: earned &* 1_000_000_000 / rate.perSecond)
            }
        }
    }
}

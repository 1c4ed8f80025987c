import Wire

/// What one allocation may relay. 0 stands for no limit.
///
/// Each is a bucket of tokens that holds a second's worth (ten seconds' worth of new peers), so a burst passes and a
/// stream does not. Packets beyond are dropped, as a full wire would drop them, and TCP streams wait; a request for a peer
/// beyond is refused with 508.
package struct AllocationLimits: Hashable, Sendable {
    /// Payload, each way.
    package var bytesPerSecond: UInt64
    /// Packets, each way.
    package var packetsPerSecond: UInt64
    /// Addresses that get a permission and had none.
    package var newPeersPerSecond: UInt64

    package init(bytesPerSecond: UInt64 = 0, packetsPerSecond: UInt64 = 0, newPeersPerSecond: UInt64 = 0) {
        self.bytesPerSecond = bytesPerSecond
        self.packetsPerSecond = packetsPerSecond
        self.newPeersPerSecond = newPeersPerSecond
    }

    /// The largest datagram must fit into the bucket, or a low limit would let none pass.
    var bytes: TokenRate { TokenRate(bytesPerSecond, burst: max(bytesPerSecond, 65_536)) }
    var packets: TokenRate { TokenRate(packetsPerSecond, burst: packetsPerSecond) }
    var newPeers: TokenRate { TokenRate(newPeersPerSecond, burst: min(newPeersPerSecond, TokenRate.maximum) &* 10) }
    /// ICMP errors told to the client (RFC 8656 section 11.5): enough for path MTU discovery towards several peers.
    static let errors = TokenRate(10, burst: 10)
}

/// How fast a bucket fills, and how much it holds.
struct TokenRate {
    let perSecond: UInt64
    let burst: Int64

    /// So bounded, ten seconds of tokens times the nanoseconds of a second fit 64 bits.
    static let maximum: UInt64 = 1_000_000_000

    /// 0 per second is a bucket that is never empty for long.
    init(_ perSecond: UInt64, burst: UInt64) {
        self.perSecond = min(perSecond, Self.maximum)
        self.burst = perSecond == 0 ? .max / 2 : Int64(min(burst, Self.maximum &* 10))
    }
}

/// Tokens that come back with time.
///
/// Time is looked at only when the bucket is empty: a packet costs one subtraction. So what a bucket gained unnoticed
/// while it was still full enough comes on top once, and at most two bursts pass together.
struct TokenBucket {
    private var tokens: Int64
    private var filledAt: Instant

    init(_ rate: TokenRate, at now: Instant) {
        tokens = rate.burst
        filledAt = now
    }

    /// Takes so many tokens, or none when there are fewer.
    @inline(__always)
    mutating func take(_ count: Int, _ rate: @autoclosure () -> TokenRate, at now: Instant) -> Bool {
        let rest = tokens &- Int64(truncatingIfNeeded: count)
        if rest >= 0 {
            tokens = rest
            return true
        }
        return fillAndTake(Int64(truncatingIfNeeded: count), rate(), at: now)
    }

    /// Gives back what was taken for something that did not happen.
    mutating func giveBack(_ count: Int) {
        tokens = tokens &+ Int64(truncatingIfNeeded: count)
    }

    /// Holds no more than a new limit allows.
    mutating func limit(to rate: TokenRate) {
        tokens = min(tokens, rate.burst)
    }

    /// How many of so many wanted tokens there are now, 0 while more were taken than there were.
    mutating func available(upTo wanted: Int, _ rate: TokenRate, at now: Instant) -> Int {
        if tokens < Int64(wanted) { fill(rate, at: now) }
        return max(0, min(wanted, Int(tokens)))
    }

    private mutating func fillAndTake(_ count: Int64, _ rate: TokenRate, at now: Instant) -> Bool {
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

/// How much of a thread's time one kind of work may take.
///
/// A handshake costs a signature, from some 50 µs for P-256 to 2 ms for RSA of 4096 bits, and strangers decide how many
/// there are. Their work is timed, by the thread's own clock, and stops at its share, so that the media of those who are
/// here goes on. What was spent beyond the share is owed.
package struct WorkBudget: Sendable {
    /// Of a second, in nanoseconds.
    private let perSecond: Int64
    private let burst: Int64
    private var left: Int64
    private var refilledAt = Instant(nanoseconds: 0)

    /// - Parameters:
    ///   - perSecond: nanoseconds of each second, at most all of them.
    ///   - burst: as much may be saved up, and be spent in one piece; a second's share unless it is given.
    package init(perSecond: UInt64, burst: UInt64? = nil) {
        self.perSecond = Int64(min(perSecond, 1_000_000_000))
        self.burst = Int64(min(burst ?? perSecond, 1_000_000_000))
        left = self.burst
    }

    /// For tests, in which what work takes on this machine must decide nothing.
    package static let unlimited = WorkBudget(left: .max / 2)

    private init(left: Int64) {
        perSecond = 0
        burst = left
        self.left = left
    }

    package mutating func allowsMore(at now: Instant) -> Bool {
        // Ten seconds fill it many times over, and their product does not overflow.
        let elapsed = Int64(min(now.nanoseconds(since: refilledAt), 10_000_000_000))
        let earned = elapsed / 1000 &* perSecond / 1_000_000
        if earned > 0 {
            left = min(burst, left &+ earned)
            refilledAt = now
        }
        return left > 0
    }

    package mutating func spend(_ nanoseconds: UInt64) {
        // A clock that jumps is no reason to do nothing for long.
        left &-= Int64(min(nanoseconds, 1_000_000_000))
        left = max(left, -1_000_000_000)
    }
}

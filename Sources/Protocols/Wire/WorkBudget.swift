/// Limits the share of a thread's time for one kind of work.
///
/// A handshake costs a signature, from some 50 µs for P-256 to 2 ms for RSA of 4096 bits, and unauthenticated clients
/// decide how many there are. Their work is measured in CPU time of the thread, and stops at its share, so that
/// established media continues. Time spent beyond the share is deducted later.
package struct WorkBudget: Sendable {
    /// Of a second, in nanoseconds.
    private let perSecond: Int64
    private let burst: Int64
    private var left: Int64
    private var refilledAt = Instant(nanoseconds: 0)

    /// - Parameters:
    ///   - perSecond: nanoseconds of each second, at most all of them.
    ///   - burst: the most that can accumulate and be spent at once; by default a second's share.
    package init(perSecond: UInt64, burst: UInt64? = nil) {
        self.perSecond = Int64(min(perSecond, 1_000_000_000))
        self.burst = Int64(min(burst ?? perSecond, 1_000_000_000))
        left = self.burst
    }

    /// For tests, whose results must not depend on the speed of the machine.
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
        // A jump of the clock must not stop the work for long.
        left &-= Int64(min(nanoseconds, 1_000_000_000))
        left = max(left, -1_000_000_000)
    }
}

/// How much of a thread's time one kind of work may take.
///
/// A handshake costs a signature, from some 50 µs for P-256 to 2 ms for RSA of 4096 bits, and strangers decide how many
/// there are. Their work is timed and stops at its share, so that the media of those who are here goes on.
package struct WorkBudget: Sendable {
    /// Of a second, in nanoseconds; the same much may be saved up.
    private let perSecond: UInt64
    private var left: UInt64
    private var refilledAt = Instant(nanoseconds: 0)

    package init(perSecond: UInt64) {
        self.perSecond = perSecond
        left = perSecond
    }

    package mutating func allowsMore(at now: Instant) -> Bool {
        // Ten seconds fill it many times over, and their product does not overflow.
        let elapsed = min(now.nanoseconds(since: refilledAt), 10_000_000_000)
        let earned = elapsed / 1000 &* (perSecond / 1000) / 1000
        if earned > 0 {
            left = min(perSecond, left &+ earned)
            refilledAt = now
        }
        return left > 0
    }

    package mutating func spend(_ nanoseconds: UInt64) {
        left = left > nanoseconds ? left &- nanoseconds : 0
    }
}

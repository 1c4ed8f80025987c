package import Model

/// When a push is attempted again that a service did not take.
package enum PushRetries {
    /// Seconds before each further attempt; the last one repeats.
    private static let delays: [Int64] = [1, 5, 15, 60, 120, 300, 600, 900, 1_800, 3_600]
    /// Of calls that ring, in milliseconds.
    private static let ringDelays: [Int64] = [250, 500, 1_000, 2_000, 4_000]
    /// The longest `Retry-After` that is honoured, in seconds.
    private static let maxRetryAfter: Int64 = 3_600
    private static let jitter = 0.2

    /// - Parameters:
    ///   - attempts: how many have failed, with this one.
    ///   - isRing: whether a call rings meanwhile.
    ///   - end: when nobody waits for it any more.
    ///   - random: from 0 to 1, so that what failed together is not repeated together.
    /// - Returns: nil if nobody waits for it by then.
    package static func next(
        after attempts: Int, isRing: Bool, until end: Timestamp, retryAfter: Duration?, random: Double,
        at now: Timestamp
    ) -> Timestamp? {
        let delays = isRing ? ringDelays : delays.map { $0 * 1_000 }
        let random = min(max(random, 0), 1)
        let delay = Double(delays[min(max(0, attempts - 1), delays.count - 1)]) * (1 + jitter * (2 * random - 1))
        let requested = Double(min(max(retryAfter?.components.seconds ?? 0, 0), maxRetryAfter) * 1_000)
        // Not before the time that was asked for.
        let next = now.adding(milliseconds: Int64(max(delay, requested * (1 + jitter * random))))
        return next < end ? next : nil
    }
}

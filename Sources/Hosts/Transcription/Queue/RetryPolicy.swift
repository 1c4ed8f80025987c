/// The delay before a retry: a random part of a time that doubles ("full jitter"), so that requests that failed
/// together are not retried together.
package struct RetryPolicy: Hashable, Sendable {
    package var initialDelay: Duration = .milliseconds(500)
    package var maxDelay: Duration = .seconds(30)
    /// The number of attempts, the first one included.
    package var maxAttempts = 4

    package init() {}

    /// - Parameters:
    ///   - failures: the number of failed attempts, at least one.
    ///   - retryAfter: the provider's minimum delay.
    ///   - random: from 0 to 1.
    func delay(after failures: Int, retryAfter: Duration?, random: Double) -> Duration {
        let doubled = initialDelay * (1 << min(max(failures - 1, 0), 20))
        return max(min(doubled, maxDelay) * random, retryAfter ?? .zero)
    }
}

/// The clock and the randomness of a queue.
struct QueueClock: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Throws when the task was cancelled.
    var sleep: @Sendable (ContinuousClock.Instant) async throws -> Void = {
        try await Task.sleep(until: $0, clock: .continuous)
    }
    var random: @Sendable () -> Double = { .random(in: 0...1) }
}

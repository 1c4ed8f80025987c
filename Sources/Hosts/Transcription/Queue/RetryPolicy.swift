/// How long is waited before a request is made again: a random part of a time that doubles ("full jitter"), so that those
/// who failed together do not come back together.
package struct Patience: Hashable, Sendable {
    package var first: Duration = .milliseconds(500)
    package var longest: Duration = .seconds(30)
    /// How many times in all a provider is asked.
    package var attempts = 4

    package init() {}

    /// - Parameters:
    ///   - failures: how many there were, at least one.
    ///   - wanted: what the provider asked for, which is waited at least.
    ///   - chance: from 0 to 1.
    func pause(after failures: Int, wanted: Duration?, chance: Double) -> Duration {
        let doubled = first * (1 << min(max(failures - 1, 0), 20))
        return max(min(doubled, longest) * chance, wanted ?? .zero)
    }
}

/// The time and chance that a queue goes by.
struct QueueClock: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Throws when the task was cancelled.
    var sleep: @Sendable (ContinuousClock.Instant) async throws -> Void = {
        try await Task.sleep(until: $0, clock: .continuous)
    }
    var chance: @Sendable () -> Double = { .random(in: 0...1) }
}

/// Exponential backoff with jitter for reconnecting: half of each delay is fixed, half is random, so that the clients
/// of a restarted server do not all reconnect at once.
struct Backoff: Sendable {
    /// The maximum of the first delay, in milliseconds.
    static let initial: Int64 = 400
    /// The maximum delay, in milliseconds.
    static let maximum: Int64 = 30_000

    private var failures = 0
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// The delay after one more failure, in milliseconds.
    mutating func next() -> Int64 {
        let maximum = min(Self.maximum, Self.initial << Int64(min(failures, 10)))
        failures += 1
        return maximum / 2 + Int64.random(in: 0...(maximum / 2), using: &random)
    }

    /// The delay for a server's `retryAfter`: never less, and up to half as much again.
    mutating func jittered(_ milliseconds: Int64) -> Int64 {
        let minimum = min(max(0, milliseconds), 3_600_000)
        return minimum + Int64.random(in: 0...max(1, minimum / 2), using: &random)
    }

    /// Resets the number of failures.
    mutating func reset() { failures = 0 }

    /// The connection succeeded. After it breaks, the next attempt may be quick but not immediate: otherwise all
    /// clients would flood a server that accepts connections and crashes.
    mutating func succeeded() { failures = min(failures, 1) }
}

/// A seeded random number generator (SplitMix64).
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

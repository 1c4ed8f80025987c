/// How long to wait before connecting again: half of it certain, half of it chance, doubling with every failure, so
/// that the clients of a server that comes back do not all come at once.
struct Backoff: Sendable {
    /// The longest first wait, in milliseconds.
    static let first: Int64 = 400
    /// The longest wait, in milliseconds.
    static let last: Int64 = 30_000

    private var failures = 0
    private var chance: Chance

    init(seed: UInt64) { chance = Chance(seed: seed) }

    /// Milliseconds to wait after one more failure.
    mutating func next() -> Int64 {
        let longest = min(Self.last, Self.first << Int64(min(failures, 10)))
        failures += 1
        return longest / 2 + Int64.random(in: 0...(longest / 2), using: &chance)
    }

    /// Milliseconds to wait where the server said how long: never less, and up to half as much again.
    mutating func spread(_ milliseconds: Int64) -> Int64 {
        let told = min(max(0, milliseconds), 3_600_000)
        return told + Int64.random(in: 0...max(1, told / 2), using: &chance)
    }

    /// Forgets the failures.
    mutating func reset() { failures = 0 }

    /// The server answered. Whatever breaks after that is worth a quick attempt, but not one at once: a server that
    /// greets and dies would be met by everybody each time.
    mutating func succeeded() { failures = min(failures, 1) }
}

/// Random numbers that a seed repeats (SplitMix64).
struct Chance: RandomNumberGenerator, Sendable {
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

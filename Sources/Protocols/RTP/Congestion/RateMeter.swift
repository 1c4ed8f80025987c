package import Wire

/// Bits per second of a stream, over the last half seconds.
package struct RateMeter: Sendable {
    private static let window: UInt64 = 500_000_000
    /// After so long without a packet it begins again.
    private static let silence: UInt64 = 2_000_000_000

    private var bytes: UInt64 = 0
    private var start: Instant?
    private var rate: UInt64?

    package init() {}

    package mutating func add(_ byteCount: Int, at now: Instant) {
        if let start {
            let elapsed = now.nanoseconds(since: start)
            if elapsed >= Self.silence {
                rate = nil
                begin(at: now)
            } else if elapsed >= Self.window {
                let newest = Self.rate(bytes, elapsed)
                rate = rate.map { ($0 &+ newest) / 2 } ?? newest
                begin(at: now)
            }
        } else {
            start = now
        }
        bytes &+= UInt64(truncatingIfNeeded: max(byteCount, 0))
    }

    private mutating func begin(at now: Instant) {
        start = now
        bytes = 0
    }

    /// Before half a second has passed it is rather too low: a key frame at the beginning would make a stream look dear.
    package func bitsPerSecond(at now: Instant) -> UInt64 {
        guard let start else { return 0 }
        let elapsed = now.nanoseconds(since: start)
        if let rate, elapsed < Self.silence { return rate }
        return Self.rate(bytes, max(elapsed, Self.window))
    }

    private static func rate(_ bytes: UInt64, _ nanoseconds: UInt64) -> UInt64 {
        min(bytes, 1 << 30) &* 8_000_000_000 / max(nanoseconds, 1)
    }
}

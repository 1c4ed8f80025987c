package import Wire

/// A byte budget that allocations of several workers share: those of one user, or all.
package protocol ByteSupply: AnyObject, Sendable {
    /// Takes at least so many bytes, and some in advance where available. 0 when fewer are left.
    func take(_ needed: Int, at now: Instant) -> Int
}

/// Bytes that were taken from a supply in advance: a packet costs one subtraction, and no synchronization.
struct ByteSlice {
    /// An empty supply is asked again only after this time, so that an allocation over the limit costs no more than
    /// others.
    private static let pauseNanoseconds: UInt64 = 1_000_000

    private var left: Int64 = 0
    private var askAgain = Instant(nanoseconds: 0)
    /// nil when it is unlimited.
    var supply: (any ByteSupply)? {
        didSet { left = 0 }
    }

    @inline(__always)
    mutating func take(_ count: Int, at now: Instant) -> Bool {
        let rest = left &- Int64(truncatingIfNeeded: count)
        if rest >= 0 {
            left = rest
            return true
        }
        guard refill(for: count, at: now) else { return false }
        left &-= Int64(truncatingIfNeeded: count)
        return true
    }

    /// How many bytes of a stream, at most `requested`, may pass now.
    mutating func available(upTo requested: Int, at now: Instant) -> Int {
        if left <= 0 { _ = refill(for: min(requested, 1), at: now) }
        return max(0, min(requested, Int(clamping: left)))
    }

    /// Deducts bytes that have passed, even more than were available.
    mutating func charge(_ count: Int) {
        left &-= Int64(truncatingIfNeeded: count)
    }

    private mutating func refill(for count: Int, at now: Instant) -> Bool {
        guard let supply else {
            left = .max / 2
            return true
        }
        guard now >= askAgain else { return false }
        let needed = Int64(truncatingIfNeeded: count) &- left
        let taken = Int64(supply.take(Int(clamping: needed), at: now))
        guard taken >= needed else {
            askAgain = now.adding(nanoseconds: Self.pauseNanoseconds)
            return false
        }
        left &+= taken
        return true
    }
}

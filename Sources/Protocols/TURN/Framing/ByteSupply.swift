package import Wire

/// Bytes that the allocations of several workers share: those of one user, or of all.
package protocol ByteSupply: AnyObject, Sendable {
    /// Takes so many bytes, and some more to go on with where there are. 0 when there are not so many.
    func take(_ needed: Int, at now: Instant) -> Int
}

/// What was taken of a supply and is not used up: a packet costs one subtraction, and nothing that other threads see.
struct ByteSlice {
    /// An empty supply is not asked again before: whoever is over the limit must not cost more than others.
    private static let pauseNanoseconds: UInt64 = 1_000_000

    private var left: Int64 = 0
    private var askAgain = Instant(nanoseconds: 0)
    /// nil where nothing bounds what is taken.
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

    /// How many of so many wanted bytes of a stream may pass now.
    mutating func available(upTo wanted: Int, at now: Instant) -> Int {
        if left <= 0 { _ = refill(for: min(wanted, 1), at: now) }
        return max(0, min(wanted, Int(clamping: left)))
    }

    /// Takes what has passed, also more than there was.
    mutating func owe(_ count: Int) {
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

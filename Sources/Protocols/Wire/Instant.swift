/// A point on a monotonic clock, in nanoseconds from an arbitrary start.
///
/// Engines have no clock: every call gets an `Instant`, so a test runs an hour in a millisecond. Arithmetic saturates,
/// since an instant may be computed from a lifetime in a packet.
package struct Instant: Comparable, Hashable, Sendable {
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The end of time: a deadline that never comes.
    package static let distantFuture = Instant(nanoseconds: .max)

    // Every packet compares instants. Other modules would call the synthesized operators through a witness table.
    @inlinable
    package static func == (left: Instant, right: Instant) -> Bool { left.nanoseconds == right.nanoseconds }
    @inlinable
    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
    @inlinable
    package static func > (left: Instant, right: Instant) -> Bool { left.nanoseconds > right.nanoseconds }
    @inlinable
    package static func <= (left: Instant, right: Instant) -> Bool { left.nanoseconds <= right.nanoseconds }
    @inlinable
    package static func >= (left: Instant, right: Instant) -> Bool { left.nanoseconds >= right.nanoseconds }

    package func adding(seconds: UInt32) -> Instant {
        adding(nanoseconds: UInt64(seconds) &* 1_000_000_000)
    }

    package func adding(nanoseconds more: UInt64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(more)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }

    /// Nanoseconds from `earlier` to this instant, 0 when `earlier` is later.
    package func nanoseconds(since earlier: Instant) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds &- earlier.nanoseconds : 0
    }

    /// Whole seconds from `earlier` to this instant, 0 when `earlier` is later.
    package func seconds(since earlier: Instant) -> UInt32 {
        UInt32(clamping: nanoseconds(since: earlier) / 1_000_000_000)
    }
}

/// Notices that whoever keeps time did not run: the process was stopped, the machine was suspended, or had no turn for it.
///
/// Whatever came meanwhile was not read, so that nobody's silence in that time says anything about them. Whoever finds out
/// reads what waits, then extends the deadlines of silence by what this answers. Deadlines that people know of, such as
/// those of rings and tokens, are not extended.
///
///     let stall = keeper.stall(at: now)          at each look at the clock
///     keeper.plan(now + what it waits, at: now)  before it waits
package struct Timekeeper: Hashable, Sendable {
    /// Waking so much later than planned is what a busy machine does.
    package static let toleranceNanoseconds: UInt64 = 1_000_000_000

    private var looked: Instant
    private var planned: Instant

    package init(at now: Instant) {
        looked = now
        planned = now
    }

    /// It looks now, and next at `next` unless something wakes it before.
    package mutating func plan(_ next: Instant, at now: Instant) {
        looked = now
        planned = max(now, next)
    }

    /// Nanoseconds for which nobody looked, where the look comes more than a second later than planned; else 0. All of that
    /// time is answered, and not what is more than planned: a deadline that it is added to is as far away as it was at the
    /// look before.
    package mutating func stall(at now: Instant) -> UInt64 {
        guard now > planned.adding(nanoseconds: Self.toleranceNanoseconds) else { return 0 }
        let stall = now.nanoseconds(since: looked)
        plan(now, at: now)
        return stall
    }
}

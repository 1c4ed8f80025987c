/// Detects that an event loop did not run: the process was stopped, the machine was suspended, or the thread starved.
///
/// Nothing was read meanwhile, so silence in that time does not mean that a client is gone. After a stall the loop
/// reads what is pending, then extends its inactivity deadlines by the length of the stall. Deadlines that users know
/// of, such as those of rings and tokens, are not extended.
///
///     let stall = keeper.stall(at: now)        each time that the loop wakes
///     keeper.plan(now + timeout, at: now)      before it waits
package struct StallDetector: Hashable, Sendable {
    /// Waking so much later than planned is normal on a busy machine.
    package static let toleranceNanoseconds: UInt64 = 1_000_000_000

    private var looked: Instant
    private var planned: Instant

    package init(at now: Instant) {
        looked = now
        planned = now
    }

    /// The loop runs now, and next at `next` unless something wakes it before.
    package mutating func plan(_ next: Instant, at now: Instant) {
        looked = now
        planned = max(now, next)
    }

    /// Nanoseconds since the loop last ran, when it runs more than a second later than planned; else 0. This includes
    /// the planned wait: a deadline that is extended by it is as far away as it was when the loop last ran.
    package mutating func stall(at now: Instant) -> UInt64 {
        guard now > planned.adding(nanoseconds: Self.toleranceNanoseconds) else { return 0 }
        let stall = now.nanoseconds(since: looked)
        plan(now, at: now)
        return stall
    }
}

import Calls
import Model
import Wire

/// The timers of calls: their deadlines, and the leases of their participants. A value without a clock of its own: the
/// current time is passed in.
///
/// The owner ticks at least once a second. A late tick means that the server was stalled and could not receive
/// anything, so leases and setup deadlines are extended by the length of the stall. Ring deadlines are not: people wait
/// in real time.
struct CallTimes: Sendable {
    /// A moment on the two clocks.
    struct Moment: Sendable {
        /// Stops while the machine is suspended, like the clocks of the gateway and of sessions, since nothing can
        /// arrive then. Used for leases.
        var awake: Instant
        /// Runs on while the machine is suspended, as time does for people. Used for deadlines.
        var continuous: ContinuousClock.Instant
    }

    /// The interval between ticks.
    static let tickInterval = Duration.seconds(1)
    private static let tickNanoseconds: UInt64 = 1_000_000_000

    private var deadlines = DeadlineQueue<CallDeadline.Key>()
    /// The deadline of each key, as its row has it.
    private var rows: [CallDeadline.Key: CallDeadline] = [:]
    private var leases: CallLeases
    private let start: ContinuousClock.Instant
    private var leaseKeeper: StallDetector
    private var deadlineKeeper: StallDetector

    /// - Parameter leaseSeconds: how long a lease lasts without renewal.
    init(leaseSeconds: Int64, at now: Moment) {
        leases = CallLeases(duration: leaseSeconds &* 1_000_000_000)
        start = now.continuous
        leaseKeeper = StallDetector(at: now.awake)
        deadlineKeeper = StallDetector(at: Instant(nanoseconds: 0))
        planTick(at: now)
    }

    var deadlineCount: Int { deadlines.count }
    var leaseCount: Int { leases.count }

    // MARK: Deadlines

    /// Returns whether it is now the earliest deadline.
    mutating func schedule(_ deadline: CallDeadline, in remaining: Duration, at now: Moment) -> Bool {
        catchUp(at: now)
        let due = now.continuous + max(.zero, remaining)
        let next = deadlines.next()
        deadlines.set(deadline.key, due: due)
        rows[deadline.key] = deadline
        return next.map { due < $0 } ?? true
    }

    mutating func unschedule(_ key: CallDeadline.Key) {
        deadlines.remove(key)
        rows[key] = nil
    }

    /// Removes and returns the deadlines that are due.
    mutating func takeDue(at now: Moment) -> [CallDeadline] {
        catchUp(at: now)
        return deadlines.take(at: now.continuous).compactMap { rows.removeValue(forKey: $0) }
    }

    /// When the next deadline is due.
    mutating func nextDeadline() -> ContinuousClock.Instant? { deadlines.next() }

    // MARK: Leases

    mutating func startLease(_ holder: CallLeases.Holder, at now: Moment) {
        catchUp(at: now)
        leases.start(holder, at: Self.nanoseconds(now))
    }

    mutating func renewLease(_ call: CallID, _ user: UserID, at now: Moment) {
        catchUp(at: now)
        leases.renew(call, user, at: Self.nanoseconds(now))
    }

    /// Returns false if the endpoint has no lease.
    mutating func renewLeases(of endpoint: EndpointID, at now: Moment) -> Bool {
        catchUp(at: now)
        leases.renew(endpoint, at: Self.nanoseconds(now))
        return leases.holds(endpoint)
    }

    /// The calls that the endpoint has a lease in.
    func calls(of endpoint: EndpointID) -> [CallID] { leases.calls(of: endpoint) }

    mutating func endLease(_ call: CallID, _ user: UserID) { leases.end(call, user) }

    /// Called each second: removes and returns the leases that have lapsed.
    mutating func tick(at now: Moment) -> [CallLeases.Holder] {
        catchUp(at: now)
        planTick(at: now)
        return leases.lapsed(at: Self.nanoseconds(now))
    }

    private mutating func planTick(at now: Moment) {
        leaseKeeper.plan(now.awake.adding(nanoseconds: Self.tickNanoseconds), at: now.awake)
        let continuous = continuous(now)
        deadlineKeeper.plan(continuous.adding(nanoseconds: Self.tickNanoseconds), at: continuous)
    }

    /// Accounts for a stall before anything else: what arrived during it is about to be read.
    private mutating func catchUp(at now: Moment) {
        let stall = leaseKeeper.stall(at: now.awake)
        if stall > 0 { leases.extend(by: Int64(clamping: stall), at: Self.nanoseconds(now)) }
        let wait = deadlineKeeper.stall(at: continuous(now))
        guard wait > 0 else { return }
        deadlines.postpone(by: .nanoseconds(Int64(clamping: wait))) { key in
            if case .setup = key.kind { true } else { false }
        }
    }

    private func continuous(_ now: Moment) -> Instant {
        let (seconds, attoseconds) = start.duration(to: now.continuous).components
        return Instant(nanoseconds: UInt64(clamping: seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000))
    }

    private static func nanoseconds(_ now: Moment) -> Int64 { Int64(clamping: now.awake.nanoseconds) }
}

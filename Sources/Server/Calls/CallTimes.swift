import Calls
import Model
import Wire

/// What has to happen to calls because time passes: their deadlines, and the leases of who takes part. A value that is
/// told the time.
///
/// Whoever keeps the time looks at least each second. A look that comes late finds that the server did not run; nobody
/// could be heard then, so that leases and the deadlines by which somebody's media has to flow are extended by that time.
/// Rings are not: people wait in their own time.
struct CallTimes: Sendable {
    /// A moment on the two clocks.
    struct Moment: Sendable {
        /// Stands still while the machine is suspended, like the clocks of the gateway and of sessions: nothing can come then.
        /// Leases are kept by it.
        var awake: Instant
        /// Runs on meanwhile, like the clocks of people. Deadlines are kept by it.
        var continuous: ContinuousClock.Instant
    }

    /// How long the look after a look may take.
    static let look = Duration.seconds(1)
    private static let lookNanoseconds: UInt64 = 1_000_000_000

    private var deadlines = DeadlineQueue<CallDeadline.Key>()
    /// The deadline of each key, as its row has it.
    private var rows: [CallDeadline.Key: CallDeadline] = [:]
    private var leases: CallLeases
    private let start: ContinuousClock.Instant
    private var leaseKeeper: Timekeeper
    private var deadlineKeeper: Timekeeper

    /// - Parameter leaseSeconds: how long a lease lasts that nobody renews.
    init(leaseSeconds: Int64, at now: Moment) {
        leases = CallLeases(duration: leaseSeconds &* 1_000_000_000)
        start = now.continuous
        leaseKeeper = Timekeeper(at: now.awake)
        deadlineKeeper = Timekeeper(at: Instant(nanoseconds: 0))
        planLook(at: now)
    }

    var deadlineCount: Int { deadlines.count }
    var leaseCount: Int { leases.count }

    // MARK: Deadlines

    /// Whether it is now the first of all.
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

    /// Takes out what is due.
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

    /// False when the endpoint has no lease.
    mutating func renewLeases(of endpoint: EndpointID, at now: Moment) -> Bool {
        catchUp(at: now)
        leases.renew(endpoint, at: Self.nanoseconds(now))
        return leases.holds(endpoint)
    }

    /// The calls that the endpoint has a lease in.
    func calls(of endpoint: EndpointID) -> [CallID] { leases.calls(of: endpoint) }

    mutating func endLease(_ call: CallID, _ user: UserID) { leases.end(call, user) }

    /// The look of each second: takes out the leases that have lapsed.
    mutating func look(at now: Moment) -> [CallLeases.Holder] {
        catchUp(at: now)
        planLook(at: now)
        return leases.lapsed(at: Self.nanoseconds(now))
    }

    private mutating func planLook(at now: Moment) {
        leaseKeeper.plan(now.awake.adding(nanoseconds: Self.lookNanoseconds), at: now.awake)
        let continuous = continuous(now)
        deadlineKeeper.plan(continuous.adding(nanoseconds: Self.lookNanoseconds), at: continuous)
    }

    /// Before anything else is done with the time: what waited while the server did not run is about to be read.
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

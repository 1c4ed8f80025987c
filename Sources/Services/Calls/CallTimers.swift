import Calls
import DatagramIO
import Model
import Storage
import Synchronization

/// The timers of calls, shared by what sets them (the effects of commands, and media of legs) and by the clock that
/// fires them.
package final class CallTimers: Sendable {
    private struct State {
        var times: CallTimes
        var live: Set<CallID> = []
        /// Calls with captions.
        var captioned: Set<CallID> = []
    }

    private let state: Mutex<State>
    private let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameter leaseSeconds: how long a lease lasts without renewal.
    package init(leaseSeconds: Int64) {
        state = Mutex(State(times: CallTimes(leaseSeconds: leaseSeconds, at: .now)))
    }

    /// How many deadlines and leases are watched.
    package var load: (deadlines: Int, leases: Int) {
        state.withLock { ($0.times.deadlineCount, $0.times.leaseCount) }
    }

    /// How many calls are ringing or active.
    package var liveCalls: Int { state.withLock { $0.live.count } }

    // MARK: Calls

    func ended(_ call: CallID) { _ = state.withLock { $0.live.remove(call) } }

    func setCaptioned(_ call: CallID, _ isCaptioned: Bool) {
        state.withLock { state in
            if isCaptioned { state.captioned.insert(call) } else { state.captioned.remove(call) }
        }
    }

    /// The calls with captions that the endpoint has a lease in.
    func captionedCalls(of endpoint: EndpointID) -> [CallID] {
        state.withLock { state in state.times.calls(of: endpoint).filter { state.captioned.contains($0) } }
    }

    // MARK: Deadlines

    /// Wakes the clock when the earliest deadline has changed.
    var wakes: AsyncStream<Void> { wake.stream }

    func wakeClock() { wake.continuation.yield() }

    func schedule(_ deadline: CallDeadline) {
        let remaining = Duration.milliseconds(deadline.at.milliseconds(since: Timestamp.systemClock()))
        if state.withLock({ $0.times.schedule(deadline, in: remaining, at: .now) }) { wakeClock() }
    }

    func unschedule(_ key: CallDeadline.Key) { state.withLock { $0.times.unschedule(key) } }

    /// Removes and returns the deadlines that are due.
    func takeDue() -> [CallDeadline] { state.withLock { $0.times.takeDue(at: .now) } }

    func nextDeadline() -> ContinuousClock.Instant? { state.withLock { $0.times.nextDeadline() } }

    // MARK: Leases

    func startLease(_ holder: CallLeases.Holder) {
        state.withLock { state in
            state.live.insert(holder.call)
            state.times.startLease(holder, at: .now)
        }
    }

    func renewLease(_ call: CallID, _ user: UserID) { state.withLock { $0.times.renewLease(call, user, at: .now) } }

    /// Renews the endpoint's leases. Returns false if it has none: then it is in no call, and no transaction is needed.
    @discardableResult
    func renewLeases(of endpoint: EndpointID) -> Bool {
        state.withLock { $0.times.renewLeases(of: endpoint, at: .now) }
    }

    func endLease(_ call: CallID, _ user: UserID) { state.withLock { $0.times.endLease(call, user) } }

    /// Called each second: removes and returns the leases that have lapsed.
    func tick() -> [CallLeases.Holder] { state.withLock { $0.times.tick(at: .now) } }
}

extension CallTimes.Moment {
    static var now: Self { Self(awake: SystemClock.now(), continuous: .now) }
}

package import Model
import Synchronization
package import Wire

/// A clock that goes on when a test says so, and then wakes whoever sleeps on it.
///
/// `Time` is what the code under test takes: `Timestamp` for wall time, `Instant` for the engines, the standard
/// library's instants where tasks sleep.
package final class ManualClock<Time: Comparable & Sendable>: Sendable {
    private struct Sleeper: Sendable {
        let deadline: Time
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now: Time
        var sleepers: [UInt64: Sleeper] = [:]
        var cancelled: Set<UInt64> = []
        var lastID: UInt64 = 0
    }

    private let state: Mutex<State>

    package init(_ start: Time) { state = Mutex(State(now: start)) }

    package var now: Time { state.withLock { $0.now } }
    /// The deadlines of all sleepers, the earliest first.
    package var deadlines: [Time] { state.withLock { state in state.sleepers.values.map { $0.deadline }.sorted() } }

    package func sleep(until deadline: Time) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if state.now >= deadline { return .success(()) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Continuations are resumed outside the lock: what they resume may look at the clock at once.
    private func move(_ change: (Time) -> Time) {
        let woken = state.withLock { state in
            state.now = change(state.now)
            let now = state.now
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map { $0.continuation }
        }
        for continuation in woken { continuation.resume() }
    }
}

extension ManualClock where Time == Timestamp {
    package convenience init() { self.init(Timestamp(milliseconds: 1_800_000_000_000)) }
    package func advance(seconds: Int64) { move { $0.adding(seconds: seconds) } }
    package func advance(milliseconds: Int64) { move { $0.adding(milliseconds: milliseconds) } }
}

extension ManualClock where Time == Instant {
    package func advance(milliseconds: UInt64) { move { $0.adding(nanoseconds: milliseconds * 1_000_000) } }
}

extension ManualClock where Time == ContinuousClock.Instant {
    package convenience init() { self.init(.now) }
    package func advance(by duration: Duration) { move { $0 + duration } }
}

import Dispatch
import Model
import Synchronization

/// Runs CPU-intensive work with limited concurrency, so that calls are not disturbed, and with a short queue. Work is
/// rejected with a retry time if the queue is full.
package final class ConcurrencyLimiter: Sendable {
    private struct State {
        var running = 0
        var waiting: [CheckedContinuation<Void, any Error>] = []
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "bounded-work", qos: .utility, attributes: .concurrent)
    private let maxConcurrent: Int
    private let maxWaiting: Int
    private let busyWith: String

    /// - Parameter busyWith: what it runs, for those who are rejected.
    package init(maxConcurrent: Int, maxWaiting: Int, busyWith: String = "files") {
        self.maxConcurrent = max(1, maxConcurrent)
        self.maxWaiting = max(0, maxWaiting)
        self.busyWith = busyWith
    }

    /// How much work is queued.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    package func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await enter()
        defer { leave() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }

    /// For work that runs elsewhere, such as on a connection of the database.
    package func withSlot<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        try await enter()
        defer { leave() }
        return try await work()
    }

    private enum Admission {
        case run
        case wait
        case reject
    }

    private func enter() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let admission = state.withLock { state -> Admission in
                if state.running < maxConcurrent {
                    state.running += 1
                    return .run
                }
                guard state.waiting.count < maxWaiting else { return .reject }
                state.waiting.append(continuation)
                return .wait
            }
            switch admission {
            case .run: continuation.resume()
            case .wait: break
            case .reject:
                continuation.resume(
                    throwing: Problem(.unavailable, "The server is busy with other \(busyWith).", retryAfter: 2000))
            }
        }
    }

    /// Resumes the next waiter, or frees the slot.
    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
        next?.resume()
    }
}

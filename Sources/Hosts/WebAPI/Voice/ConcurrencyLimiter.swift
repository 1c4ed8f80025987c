import Dispatch
import Model
import Synchronization

/// Runs work that takes the processor for long: so much at a time that calls go on undisturbed, with a short queue before
/// it. Who finds the queue full is told to come back.
package final class BoundedWork: Sendable {
    private struct State {
        var running = 0
        var waiting: [CheckedContinuation<Void, any Error>] = []
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "bounded-work", qos: .utility, attributes: .concurrent)
    private let atATime: Int
    private let mostWaiting: Int

    package init(atATime: Int, mostWaiting: Int) {
        self.atATime = max(1, atATime)
        self.mostWaiting = max(0, mostWaiting)
    }

    /// How much waits for its turn.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    package func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await enter()
        defer { leave() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }

    private enum Turn {
        case now
        case later
        case never
    }

    private func enter() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let turn = state.withLock { state -> Turn in
                if state.running < atATime {
                    state.running += 1
                    return .now
                }
                guard state.waiting.count < mostWaiting else { return .never }
                state.waiting.append(continuation)
                return .later
            }
            switch turn {
            case .now: continuation.resume()
            case .later: break
            case .never:
                continuation.resume(
                    throwing: Problem(.unavailable, "The server is busy with others' files.", retryAfter: 2000))
            }
        }
    }

    /// Hands the turn on, if somebody waits for it.
    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
        next?.resume()
    }
}

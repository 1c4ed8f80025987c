internal import Synchronization

/// Lets so many long reads run at a time, in the order in which they came: a database has few connections that read, and
/// what everybody waits for, such as the rows of a new message, needs one too.
final class LongReads: Sendable {
    private struct State {
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let maxRunning: Int
    private let state = Mutex(State())

    init(maxRunning: Int) { self.maxRunning = max(1, maxRunning) }

    func run<Value>(_ read: () async throws -> Value) async throws -> Value {
        await enter()
        defer { leave() }
        return try await read()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let mayRun = state.withLock { state in
                guard state.running >= maxRunning else {
                    state.running += 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if mayRun { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
        next?.resume()
    }
}

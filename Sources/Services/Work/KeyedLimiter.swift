import Synchronization

/// Runs work, so much at a time in all and for each key. Who waits is served in order, but for those whose key has as much
/// as it may have; and who is cancelled waits no more.
final class KeyedLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Waiter {
        var number: Int
        var key: Key
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var running: [Key: Int] = [:]
        var runningCount = 0
        var waiting: [Waiter] = []
        var nextNumber = 0
    }

    private let maxRunning: Int
    private let maxOfKey: Int
    private let state = Mutex(State())

    init(maxRunning: Int, maxOfKey: Int) {
        self.maxRunning = max(1, maxRunning)
        self.maxOfKey = max(1, maxOfKey)
    }

    /// - Throws: `CancellationError`, and what the work throws.
    func run<Value>(_ key: Key, _ work: () async throws -> Value) async throws -> Value {
        guard await enter(key) else { throw CancellationError() }
        defer { leave(key) }
        return try await work()
    }

    /// How many wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func mayRun(_ key: Key, _ state: State) -> Bool {
        state.runningCount < maxRunning && state.running[key] ?? 0 < maxOfKey
    }

    private func enter(_ key: Key) async -> Bool {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayRun = state.withLock { state in
                    if self.mayRun(key, state) {
                        begin(key, &state)
                        return true
                    }
                    state.waiting.append(Waiter(number: number, key: key, continuation: continuation))
                    return false
                }
                if mayRun {
                    continuation.resume(returning: true)
                } else if Task.isCancelled {
                    // It was, before it waited.
                    cancel(number)
                }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func cancel(_ number: Int) {
        let waiter = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
    }

    private func begin(_ key: Key, _ state: inout State) {
        state.running[key, default: 0] += 1
        state.runningCount += 1
    }

    private func leave(_ key: Key) {
        let next = state.withLock { state -> [Waiter] in
            let left = (state.running[key] ?? 1) - 1
            state.running[key] = left > 0 ? left : nil
            state.runningCount -= 1
            guard let index = state.waiting.firstIndex(where: { mayRun($0.key, state) }) else { return [] }
            let waiter = state.waiting.remove(at: index)
            begin(waiter.key, &state)
            return [waiter]
        }
        for waiter in next { waiter.continuation.resume(returning: true) }
    }
}

import Synchronization

/// Sends values to all listeners until it is finished, for good; each has its own bounded buffer that keeps the newest
/// values.
final class Broadcast<Value: Sendable>: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
        var last = 0
        var isFinished = false
        var onNoListeners: (@Sendable () -> Void)?
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Whether there are no listeners.
    var hasNoListeners: Bool { state.withLock { $0.listeners.isEmpty } }

    /// Calls `action` whenever the last listener has left.
    func onNoListeners(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onNoListeners = action }
    }

    /// The values of `first`, then all that are sent. Without the latter if it is finished.
    func subscribe(first: [Value] = []) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(limit))
        for value in first { continuation.yield(value) }
        let number: Int? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.last += 1
            state.listeners[state.last] = continuation
            return state.last
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.leave(number) }
        return stream
    }

    func send(_ value: Value) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(value) }
    }

    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            state.isFinished = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    private func leave(_ number: Int) {
        let action = state.withLock { state in
            state.listeners.removeValue(forKey: number) != nil && state.listeners.isEmpty ? state.onNoListeners : nil
        }
        action?()
    }
}

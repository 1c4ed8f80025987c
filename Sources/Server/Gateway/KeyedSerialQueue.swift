import Synchronization

/// Runs work of the same key one after the other, in the order in which it came; work of different keys runs side by
/// side. A key that nobody works on costs nothing.
final class KeyedSerialQueue<Key: Hashable & Sendable>: Sendable {
    /// Who waits for each key that is being worked on, the first at the front.
    private let waiting = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

    /// Work must not run other work of its own key: it would wait for itself.
    func run<Value>(_ key: Key, _ work: () async throws -> Value) async rethrows -> Value {
        await enter(key)
        defer { leave(key) }
        return try await work()
    }

    /// Whether somebody works on the key.
    func isBusy(_ key: Key) -> Bool { waiting.withLock { $0[key] != nil } }

    /// How many wait for the key, beside who works on it.
    func waitingCount(of key: Key) -> Int { waiting.withLock { $0[key]?.count ?? 0 } }

    private func enter(_ key: Key) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                let isFree = waiting[key] == nil
                if isFree { waiting[key] = [] } else { waiting[key]?.append(continuation) }
                return isFree
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ key: Key) {
        let next: CheckedContinuation<Void, Never>? = waiting.withLock { waiting in
            guard waiting[key]?.isEmpty == false else {
                waiting[key] = nil
                return nil
            }
            return waiting[key]?.removeFirst()
        }
        next?.resume()
    }
}

import Synchronization

/// Runs work for the same key serially, in order, and work for different keys concurrently. An idle key costs nothing.
final class KeyedSerialQueue<Key: Hashable & Sendable>: Sendable {
    /// The waiters for each busy key, the first in front.
    private let waiting = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

    /// Work must not run other work for its own key, which would deadlock.
    func run<Value>(_ key: Key, _ work: () async throws -> Value) async rethrows -> Value {
        await enter(key)
        defer { leave(key) }
        return try await work()
    }

    /// Whether work runs for the key.
    func isBusy(_ key: Key) -> Bool { waiting.withLock { $0[key] != nil } }

    /// How many wait for the key, without the one that runs.
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

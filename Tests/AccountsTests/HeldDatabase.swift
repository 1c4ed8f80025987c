import Accounts
import Model
import Storage
import Synchronization

/// A database whose readers can be held between their reading and its use.
final class HeldDatabase: AccountDatabase {
    private struct State {
        var isHolding = false
        var readers: [CheckedContinuation<Void, Never>] = []
        var watcher: CheckedContinuation<Void, Never>?
    }

    private let store: Store
    private let state = Mutex(State())

    init(_ store: Store) { self.store = store }

    func hold() { state.withLock { $0.isHolding = true } }

    /// Returns once a reader is held.
    func waitUntilHeld() async {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.readers.isEmpty { state.watcher = continuation }
                return !state.readers.isEmpty
            }
            if isHeld { continuation.resume() }
        }
    }

    func release() {
        let readers = state.withLock { state in
            state.isHolding = false
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.resume() }
    }

    func readAccounts<T: Sendable>(_ job: @escaping @Sendable (any AccountStore) throws -> T) async throws -> T {
        let value = try await store.readAccounts(job)
        await withCheckedContinuation { continuation in
            let (isHeld, watcher) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
                guard state.isHolding else { return (false, nil) }
                state.readers.append(continuation)
                defer { state.watcher = nil }
                return (true, state.watcher)
            }
            watcher?.resume()
            if !isHeld { continuation.resume() }
        }
        return value
    }

    func writeAccounts<T: Sendable>(
        _ job: @escaping @Sendable (any AccountStore) throws -> T
    ) async throws -> (value: T, positions: [StreamName: Position]) {
        try await store.writeAccounts(job)
    }
}

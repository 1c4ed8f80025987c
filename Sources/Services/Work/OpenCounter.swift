import Synchronization

/// Counts what is open, within bounds for all and for each key.
final class OpenCounter<Key: Hashable & Sendable>: Sendable {
    /// Which bound is reached.
    enum Refusal: Hashable, Sendable {
        case ofKey, all
    }

    private struct State {
        var all = 0
        var ofKeys: [Key: Int] = [:]
    }

    let maxOpen: Int
    let maxOfKey: Int
    private let state = Mutex(State())

    init(maxOpen: Int = .max, maxOfKey: Int) {
        self.maxOpen = maxOpen
        self.maxOfKey = maxOfKey
    }

    /// How many of a key are open.
    func count(of key: Key) -> Int { state.withLock { $0.ofKeys[key] ?? 0 } }

    /// Opens so many together, or none. Each is left once.
    ///
    /// - Returns: why none is open; nil if all are.
    func enter(_ key: Key, count: Int = 1) -> Refusal? {
        state.withLock { state in
            let own = state.ofKeys[key] ?? 0
            guard count <= maxOfKey - own else { return .ofKey }
            guard count <= maxOpen - state.all else { return .all }
            state.all += count
            state.ofKeys[key] = own + count
            return nil
        }
    }

    func leave(_ key: Key, count: Int = 1) {
        state.withLock { state in
            let left = (state.ofKeys[key] ?? 0) - count
            state.all -= count
            state.ofKeys[key] = left > 0 ? left : nil
        }
    }
}

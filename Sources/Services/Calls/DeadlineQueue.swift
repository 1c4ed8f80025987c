import HeapModule

/// A priority queue of deadlines by key; a key has at most one deadline.
///
/// Most deadlines are cancelled long before they are due, so cancelling only forgets the key: its entry in the heap is
/// dropped when it comes up. Once stale entries outnumber the live ones, the heap is rebuilt.
struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Entry: Comparable, Sendable {
        let due: Instant
        let number: UInt64
        let key: Key

        static func < (left: Self, right: Self) -> Bool { (left.due, left.number) < (right.due, right.number) }
        static func == (left: Self, right: Self) -> Bool { left.number == right.number }
    }

    private var heap = Heap<Entry>()
    private var live: [Key: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    var count: Int { live.count }

    /// The earliest deadline.
    mutating func next() -> Instant? {
        dropStale()
        return heap.min?.due
    }

    mutating func set(_ key: Key, due: Instant) {
        lastNumber &+= 1
        live[key] = lastNumber
        heap.insert(Entry(due: due, number: lastNumber, key: key))
        if heap.count > 64, heap.count > 2 * live.count {
            heap = Heap(heap.unordered.filter { live[$0.key] == $0.number })
        }
    }

    mutating func remove(_ key: Key) { live[key] = nil }

    /// Postpones the deadlines of the keys that match.
    mutating func postpone(by duration: Duration, where matches: (Key) -> Bool) {
        let matching = heap.unordered.filter { live[$0.key] == $0.number && matches($0.key) }
        for entry in matching { set(entry.key, due: entry.due + duration) }
    }

    /// Removes and returns every key that is due at `now`, the earliest first.
    mutating func take(at now: Instant) -> [Key] {
        var due: [Key] = []
        while let entry = heap.min, entry.due <= now {
            heap.removeMin()
            guard live[entry.key] == entry.number else { continue }
            live[entry.key] = nil
            due.append(entry.key)
        }
        return due
    }

    private mutating func dropStale() {
        while let entry = heap.min, live[entry.key] != entry.number { heap.removeMin() }
    }
}

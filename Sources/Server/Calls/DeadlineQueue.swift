import HeapModule

/// Moments at which something has to be looked at, by key; a key has one moment at most.
///
/// Most deadlines are called off long before they are due, so that calling off only forgets the key: its entry in the
/// heap is dropped when it comes up. Once dead entries outnumber the live ones the heap is built anew.
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

    /// The earliest moment at which something is due.
    mutating func next() -> Instant? {
        dropDead()
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

    /// Moves the moments of the keys that `isMeant` picks.
    mutating func postpone(by duration: Duration, where isMeant: (Key) -> Bool) {
        let meant = heap.unordered.filter { live[$0.key] == $0.number && isMeant($0.key) }
        for entry in meant { set(entry.key, due: entry.due + duration) }
    }

    /// Takes out every key that is due at `now`, the earliest first.
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

    private mutating func dropDead() {
        while let entry = heap.min, live[entry.key] != entry.number { heap.removeMin() }
    }
}

/// A binary heap of the messages to look at, the newest first.
struct SearchHeap {
    struct Entry {
        /// Nothing that the walk has left is newer.
        var bound: SearchPosition
        /// The index of the walk.
        var walk: Int
    }

    private(set) var entries: [Entry] = []

    var top: Entry? { entries.first }

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var index = entries.count - 1
        while index > 0, entries[(index - 1) / 2].bound < entries[index].bound {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func popTop() -> Entry? {
        guard let top = entries.first, let last = entries.popLast() else { return nil }
        guard !entries.isEmpty else { return top }
        entries[0] = last
        var index = 0
        while true {
            var newest = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < entries.count && entries[newest].bound < entries[child].bound { newest = child }
            guard newest != index else { return top }
            entries.swapAt(index, newest)
            index = newest
        }
    }
}

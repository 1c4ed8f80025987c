/// Where each of many keys is in an array of them: four bytes a slot, since the keys themselves are in the array. Linear probing;
/// at most three quarters of the slots are taken.
struct PositionTable: Sendable {
    private static let empty: Int32 = -1

    /// A power of two of them, or none.
    private var slots: [Int32] = []
    private var count = 0

    var byteCount: Int { 4 * slots.capacity }

    func position(of key: Int64, in keys: [Int64]) -> Int? {
        slot(of: key, in: keys).map { Int(slots[$0]) }
    }

    /// The last of the keys is new.
    mutating func addLast(of keys: [Int64]) {
        if 4 * (count + 1) > 3 * slots.count { grow(to: max(16, 2 * slots.count), keys.dropLast()) }
        insert(keys.count - 1, keys[keys.count - 1])
        count += 1
    }

    /// Makes room for so many in all.
    mutating func reserve(_ capacity: Int, of keys: [Int64]) {
        guard capacity > 0 else { return }
        var size = max(16, slots.count)
        while 4 * capacity > 3 * size { size *= 2 }
        if size > slots.count { grow(to: size, keys[...]) }
    }

    /// Of a key that is still in the array, as are all others.
    ///
    /// - Returns: where it was.
    mutating func remove(_ key: Int64, from keys: [Int64]) -> Int? {
        guard var gap = slot(of: key, in: keys) else { return nil }
        let position = Int(slots[gap])
        // What follows moves up, unless it would be before where it is looked for.
        var next = after(gap)
        while slots[next] != Self.empty {
            let home = home(of: keys[Int(slots[next])])
            let isBetween = gap <= next ? gap < home && home <= next : gap < home || home <= next
            if !isBetween {
                slots[gap] = slots[next]
                gap = next
            }
            next = after(next)
        }
        slots[gap] = Self.empty
        count -= 1
        return position
    }

    /// A key that is there will be elsewhere. The array still has it where it was.
    mutating func move(_ key: Int64, to position: Int, in keys: [Int64]) {
        if let slot = slot(of: key, in: keys) { slots[slot] = Int32(position) }
    }

    private func slot(of key: Int64, in keys: [Int64]) -> Int? {
        guard !slots.isEmpty else { return nil }
        var slot = home(of: key)
        while slots[slot] != Self.empty {
            if keys[Int(slots[slot])] == key { return slot }
            slot = after(slot)
        }
        return nil
    }

    private func after(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    /// Fibonacci hashing: keys that follow each other are far apart.
    private func home(of key: Int64) -> Int {
        let hash = UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: hash >> 32) & (slots.count - 1)
    }

    private mutating func insert(_ position: Int, _ key: Int64) {
        var slot = home(of: key)
        while slots[slot] != Self.empty { slot = after(slot) }
        slots[slot] = Int32(position)
    }

    private mutating func grow(to size: Int, _ keys: ArraySlice<Int64>) {
        slots = Array(repeating: Self.empty, count: size)
        for position in keys.indices { insert(position, keys[position]) }
    }
}

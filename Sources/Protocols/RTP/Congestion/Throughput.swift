/// Bits per second that the receiver got over the last half second of its own clock. Times are in milliseconds.
struct Throughput: Sendable {
    private static let slot = 25.0
    private static let slotCount = 20
    private static let minSlotCount = 6

    private var bytes = [Double](repeating: 0, count: Self.slotCount)
    private var current: Int?
    private var first = 0

    mutating func receive(byteCount: Int, at arrival: Double) {
        guard arrival >= 0, arrival < 1e15 else { return }
        let slot = Int(arrival / Self.slot)
        if let last = current {
            // Late packets count in their own slot, if it is still there.
            guard slot > last - Self.slotCount else { return }
            if slot > last {
                for index in max(last + 1, slot - Self.slotCount + 1)...slot { bytes[index % Self.slotCount] = 0 }
                if slot - last >= Self.slotCount { first = slot }
                current = slot
            }
        } else {
            current = slot
            first = slot
        }
        bytes[slot % Self.slotCount] += Double(byteCount)
    }

    /// Nil in the first 150 ms.
    var bitsPerSecond: Double? { bitsPerSecond(over: Self.slotCount - 1) }
    /// The same over the last 150 ms alone, for a link that was full all that time.
    var latestBitsPerSecond: Double? { bitsPerSecond(over: Self.minSlotCount) }

    private func bitsPerSecond(over slotCount: Int) -> Double? {
        guard let current else { return nil }
        // The newest slot is not full yet.
        let slots = min(current - first, slotCount)
        guard slots >= Self.minSlotCount else { return nil }
        var sum = 0.0
        for index in current - slots..<current { sum += bytes[index % Self.slotCount] }
        return sum * 8 * 1000 / (Double(slots) * Self.slot)
    }
}

package import Wire

/// How many bits a second a stream had over the last two seconds, which evens out a key frame now and then.
package struct BitrateMeter: Hashable, Sendable {
    private static let slotNanoseconds: UInt64 = 125_000_000
    private static let slotCount: UInt64 = 16
    /// A stream that has just begun is not judged by its first packets alone.
    private static let leastSlots: UInt64 = 4

    private var bytes = [UInt32](repeating: 0, count: Int(Self.slotCount))
    private var current: UInt64 = 0
    private var first: UInt64 = 0
    private var isEmpty = true

    package init() {}

    package mutating func count(_ byteCount: Int, at now: Instant) {
        move(to: now.nanoseconds / Self.slotNanoseconds)
        let index = Int(truncatingIfNeeded: current % Self.slotCount)
        bytes[index] = bytes[index] &+ UInt32(clamping: byteCount)
    }

    private mutating func move(to slot: UInt64) {
        guard !isEmpty, slot < current &+ Self.slotCount else {
            guard isEmpty || slot > current else { return }
            for index in bytes.indices { bytes[index] = 0 }
            (first, current, isEmpty) = (slot, slot, false)
            return
        }
        while current < slot {
            current &+= 1
            bytes[Int(truncatingIfNeeded: current % Self.slotCount)] = 0
        }
    }

    package func bitsPerSecond(at now: Instant) -> UInt64 {
        let slot = now.nanoseconds / Self.slotNanoseconds
        guard !isEmpty, slot < current &+ Self.slotCount else { return 0 }
        // The slots that lie behind the newest are of the time before these two seconds.
        let passed = slot > current ? slot &- current : 0
        var sum: UInt64 = 0
        for back in 0..<(Self.slotCount &- passed) where back <= current {
            sum &+= UInt64(bytes[Int(truncatingIfNeeded: (current &- back) % Self.slotCount)])
        }
        let age = slot >= first ? slot &- first &+ 1 : 1
        let slots = min(max(age, Self.leastSlots), Self.slotCount)
        return sum &* 8_000_000_000 / (slots &* Self.slotNanoseconds)
    }
}

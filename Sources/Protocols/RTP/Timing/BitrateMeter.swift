package import Wire

/// The bitrate of a stream over the last two seconds, long enough to smooth occasional key frames.
package struct BitrateMeter: Hashable, Sendable {
    private static let slotNanoseconds: UInt64 = 125_000_000
    private static let slotCount: UInt64 = 16
    /// The least time to average over, so that the first packets alone do not make the rate of a new stream.
    private static let minSlotCount: UInt64 = 4

    private var bytes = [UInt32](repeating: 0, count: Int(Self.slotCount))
    private var sum: UInt64 = 0
    private var current: UInt64 = 0
    private var first: UInt64 = 0
    private var isEmpty = true

    package init() {}

    package mutating func count(_ byteCount: Int, at now: Instant) {
        move(to: now.nanoseconds / Self.slotNanoseconds)
        let more = UInt32(clamping: byteCount)
        bytes[index(of: current)] &+= more
        sum &+= UInt64(more)
    }

    private func index(of slot: UInt64) -> Int { Int(truncatingIfNeeded: slot % Self.slotCount) }

    private mutating func move(to slot: UInt64) {
        guard !isEmpty, slot < current &+ Self.slotCount else {
            guard isEmpty || slot > current else { return }
            for index in bytes.indices { bytes[index] = 0 }
            (first, current, sum, isEmpty) = (slot, slot, 0, false)
            return
        }
        while current < slot {
            current &+= 1
            sum &-= UInt64(bytes[index(of: current)])
            bytes[index(of: current)] = 0
        }
    }

    package func bitsPerSecond(at now: Instant) -> UInt64 {
        let slot = now.nanoseconds / Self.slotNanoseconds
        guard !isEmpty, slot < current &+ Self.slotCount else { return 0 }
        var sum = sum
        // Leave out what became older than two seconds since the last packet.
        var passed = current
        while passed < slot {
            passed &+= 1
            sum &-= UInt64(bytes[index(of: passed)])
        }
        let age = slot >= first ? slot &- first &+ 1 : 1
        let slots = min(max(age, Self.minSlotCount), Self.slotCount)
        return sum &* 8_000_000_000 / (slots &* Self.slotNanoseconds)
    }
}

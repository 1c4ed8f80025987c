package import Wire

/// Puts the packets of an audio source in order and reports losses.
///
/// Packets in order leave at once, since nobody listens live: only behind a missing packet do later ones wait for a
/// while. A source may restart with other sequence numbers.
package struct JitterBuffer: Sendable {
    package enum Output: Hashable, Sendable {
        case packet(AudioPacket)
        /// This many packets before the next one are missing and given up.
        case lost(Int)
    }

    /// Packets that arrived after they were given up.
    package private(set) var lateCount = 0
    /// Duplicates.
    package private(set) var repeatedCount = 0

    /// A sequence number this far away means that the source restarted.
    private static let maxJump: Int64 = 3_000
    /// More consecutive late packets than this mean that the source restarted.
    private static let maxConsecutiveLate = 50

    private let maxWait: UInt64
    private let capacity: Int
    /// In order.
    private var waiting: [(number: Int64, packet: AudioPacket)] = []
    private var unwrapper = SequenceUnwrapper()
    private var expected: Int64?
    private var consecutiveLate = 0

    /// - Parameters:
    ///   - maxWait: how long to wait for a missing packet, in nanoseconds.
    ///   - capacity: how many packets may wait.
    package init(maxWait: UInt64 = 200_000_000, capacity: Int = 100) {
        self.maxWait = maxWait
        self.capacity = max(capacity, 1)
    }

    package mutating func insert(_ packet: AudioPacket) {
        var number = unwrapper.peek(packet.sequence)
        if let expected, number < expected || number > expected &+ Self.maxJump {
            let isLate = number < expected && number >= expected &- Self.maxJump
            consecutiveLate &+= 1
            if isLate, consecutiveLate <= Self.maxConsecutiveLate {
                lateCount &+= 1
                return
            }
            number = begin(again: packet)
        }
        consecutiveLate = 0
        _ = unwrapper.unwrap(packet.sequence)
        if expected == nil { expected = number }
        let index = waiting.lastIndex { $0.number <= number }
        if let index, waiting[index].number == number {
            repeatedCount &+= 1
            return
        }
        waiting.insert((number, packet), at: index.map { $0 &+ 1 } ?? 0)
    }

    /// The source restarted: its numbers continue behind those still expected, without a gap.
    private mutating func begin(again packet: AudioPacket) -> Int64 {
        let end = (waiting.last?.number ?? (expected ?? 0) &- 1) &+ 1
        // The same low sixteen bits, so that later packets follow.
        let number = end &+ Int64(packet.sequence &- UInt16(truncatingIfNeeded: end))
        for index in waiting.indices { waiting[index].number = number &- Int64(waiting.count &- index) }
        expected = waiting.first?.number ?? number
        unwrapper = SequenceUnwrapper(at: number)
        return number
    }

    /// The next output, if it is known.
    package mutating func next(at now: Instant) -> Output? {
        guard let first = waiting.first, let expected else { return nil }
        if first.number > expected {
            guard waiting.count >= capacity || now.nanoseconds(since: oldest) >= maxWait else { return nil }
            self.expected = first.number
            return .lost(Int(first.number &- expected))
        }
        waiting.removeFirst()
        self.expected = first.number &+ 1
        return .packet(first.packet)
    }

    /// The next waiting packet, without waiting for missing ones, at the end of the stream.
    package mutating func drain() -> Output? {
        next(at: .distantFuture)
    }

    /// When `next` may return more without another packet.
    package var deadline: Instant? {
        waiting.isEmpty ? nil : oldest.adding(nanoseconds: maxWait)
    }

    private var oldest: Instant { waiting.lazy.map(\.packet.arrival).min() ?? .distantFuture }
}

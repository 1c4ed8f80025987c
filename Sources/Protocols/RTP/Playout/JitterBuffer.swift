package import Wire

/// Puts the packets of a voice in order, and says which are lost.
///
/// What is in order leaves at once, since nobody listens: only behind a missing packet the later ones wait for a while.
/// Sources that begin again with other numbers are followed.
package struct JitterBuffer: Sendable {
    package enum Output: Hashable, Sendable {
        case packet(SoundPacket)
        /// So many are missing before the next packet, and are not waited for any more.
        case lost(Int)
    }

    /// Packets that came when they were not waited for any more.
    package private(set) var lateCount = 0
    /// Packets that were there already.
    package private(set) var repeatedCount = 0

    /// Numbers so far away are those of a source that began again.
    private static let farthest: Int64 = 3_000
    /// So many that are too late, one after the other, are not late.
    private static let mostLate = 50

    private let patience: UInt64
    private let capacity: Int
    /// In order.
    private var waiting: [(number: Int64, packet: SoundPacket)] = []
    private var unwrapper = SequenceUnwrapper()
    private var expected: Int64?
    private var lateInRow = 0

    /// - Parameters:
    ///   - patience: how long a missing packet is waited for, in nanoseconds.
    ///   - capacity: how many packets wait at most.
    package init(patience: UInt64 = 200_000_000, capacity: Int = 100) {
        self.patience = patience
        self.capacity = max(capacity, 1)
    }

    package mutating func insert(_ packet: SoundPacket) {
        var number = unwrapper.peek(packet.sequence)
        if let expected, number < expected || number > expected &+ Self.farthest {
            let isLate = number < expected && number >= expected &- Self.farthest
            lateInRow &+= 1
            if isLate, lateInRow <= Self.mostLate {
                lateCount &+= 1
                return
            }
            number = begin(again: packet)
        }
        lateInRow = 0
        _ = unwrapper.unwrap(packet.sequence)
        if expected == nil { expected = number }
        let place = waiting.lastIndex { $0.number <= number }
        if let place, waiting[place].number == number {
            repeatedCount &+= 1
            return
        }
        waiting.insert((number, packet), at: place.map { $0 &+ 1 } ?? 0)
    }

    /// The source began again: its numbers follow those that are still waited for, and nothing is missing between.
    private mutating func begin(again packet: SoundPacket) -> Int64 {
        let end = (waiting.last?.number ?? (expected ?? 0) &- 1) &+ 1
        // The same sixteen bits, so that later ones follow.
        let number = end &+ Int64(packet.sequence &- UInt16(truncatingIfNeeded: end))
        for index in waiting.indices { waiting[index].number = number &- Int64(waiting.count &- index) }
        expected = waiting.first?.number ?? number
        unwrapper = SequenceUnwrapper(at: number)
        return number
    }

    /// What is next, if it is known.
    package mutating func next(at now: Instant) -> Output? {
        guard let first = waiting.first, let expected else { return nil }
        if first.number > expected {
            guard waiting.count >= capacity || now.nanoseconds(since: oldest) >= patience else { return nil }
            self.expected = first.number
            return .lost(Int(first.number &- expected))
        }
        waiting.removeFirst()
        self.expected = first.number &+ 1
        return .packet(first.packet)
    }

    /// What waits, in order, when nothing more comes.
    package mutating func drain() -> Output? {
        next(at: .distantFuture)
    }

    /// When `next` may say more though nothing came.
    package var deadline: Instant? {
        waiting.isEmpty ? nil : oldest.adding(nanoseconds: patience)
    }

    private var oldest: Instant { waiting.lazy.map(\.packet.arrival).min() ?? .distantFuture }
}

package import Wire

/// Tracks the missing packets of a publisher's stream, and when to request them (RFC 4585 section 6.2.1).
///
/// A gap may be mere reordering, so the first request waits a little; it is repeated after a round trip, since by then
/// the packet should have come, and given up when the packet would be too late. `collect` returns what to request now.
package struct NACKGenerator: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// Newer than all before it, perhaps with a gap.
        case inOrder
        /// It was missing.
        case recovered
        /// A duplicate, or older than every missing packet.
        case old
        /// So many are missing that a key frame helps more; all were given up.
        case overwhelmed
    }

    private struct Missing {
        let sequence: Int64
        let since: Instant
        var next: Instant
        var requested: Instant?
        var tries = 0
    }

    /// Assumed until one is measured.
    package static let assumedRoundTripNanoseconds: UInt64 = 100_000_000
    private static let missingLimit = 256
    private static let retryLimit = 10
    private static let reorderingDelay: UInt64 = 10_000_000
    private static let minRetryInterval: UInt64 = 20_000_000
    private static let maxAge: UInt64 = 1_000_000_000

    /// To the publisher and back; set by the host.
    package var roundTripNanoseconds = Self.assumedRoundTripNanoseconds
    /// From the first request for a packet to its repair, for the latest repair.
    private var measured: UInt64?
    /// Packets that were given up.
    package private(set) var abandonedCount: UInt64 = 0
    private var unwrapper = SequenceUnwrapper()
    private var highest: Int64?
    private var missing: [Missing] = []

    package init() {}

    package var missingCount: Int { missing.count }

    /// - Parameter isRepair: a retransmission (RFC 4588), not merely a late packet.
    package mutating func receive(_ sequence: UInt16, isRepair: Bool = false, at now: Instant) -> Verdict {
        let sequence = unwrapper.unwrap(sequence)
        guard let highest else {
            self.highest = sequence
            return .inOrder
        }
        guard sequence > highest else { return recover(sequence, isRepair, at: now) ? .recovered : .old }
        self.highest = sequence
        let gap = sequence &- highest &- 1
        guard gap > 0 else { return .inOrder }
        guard gap &+ Int64(missing.count) <= Int64(Self.missingLimit) else {
            abandonedCount &+= UInt64(truncatingIfNeeded: gap) &+ UInt64(missing.count)
            missing.removeAll(keepingCapacity: true)
            return .overwhelmed
        }
        for lost in highest &+ 1..<sequence {
            missing.append(Missing(sequence: lost, since: now, next: now.adding(nanoseconds: Self.reorderingDelay)))
        }
        return .inOrder
    }

    private mutating func recover(_ sequence: Int64, _ isRepair: Bool, at now: Instant) -> Bool {
        guard let index = missing.firstIndex(where: { $0.sequence >= sequence }), missing[index].sequence == sequence
        else { return false }
        // After a repeated request it is unknown which one caused the repair: this is an upper bound (the ambiguity of
        // RFC 6298 section 3; yet an estimate that is too short has to grow).
        if isRepair, let requested = missing[index].requested {
            let elapsed = now.nanoseconds(since: requested)
            measured = missing[index].tries == 1 ? elapsed : min(elapsed, roundTripNanoseconds &* 2)
        }
        missing.remove(at: index)
        return true
    }

    /// The round trip measured since the last call; nil when there was none.
    package mutating func takeRoundTrip() -> UInt64? {
        defer { measured = nil }
        return measured
    }

    /// When to call `collect` next.
    package var deadline: Instant? {
        missing.lazy.map(\.next).min()
    }

    /// Fills `lost` with the sequence numbers to request now, in ascending order, and gives up those that are too old.
    package mutating func collect(at now: Instant, into lost: inout [UInt16]) {
        lost.removeAll(keepingCapacity: true)
        let count = missing.count
        missing.removeAll {
            $0.next <= now && ($0.tries >= Self.retryLimit || now.nanoseconds(since: $0.since) >= Self.maxAge)
        }
        abandonedCount &+= UInt64(count - missing.count)
        // A little more than a round trip, for jitter; twice as much from the fourth request on.
        let retryInterval = max(Self.minRetryInterval, min(roundTripNanoseconds, Self.maxAge) &* 5 / 4)
        for index in missing.indices where missing[index].next <= now {
            lost.append(UInt16(truncatingIfNeeded: missing[index].sequence))
            missing[index].tries &+= 1
            missing[index].requested = missing[index].requested ?? now
            missing[index].next = now.adding(nanoseconds: missing[index].tries > 3 ? retryInterval &* 2 : retryInterval)
        }
    }

    /// The stream restarted.
    package mutating func reset() {
        missing.removeAll(keepingCapacity: true)
        unwrapper = SequenceUnwrapper()
        highest = nil
    }
}

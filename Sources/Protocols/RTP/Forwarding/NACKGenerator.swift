package import Wire

/// Which packets of a publisher's stream are missing, and when to ask for them (RFC 4585 section 6.2.1).
///
/// A gap may be mere disorder, so the first question waits a little; it is put again after a round trip, since by then
/// the answer would have come, and given up when it is too late to be of use. `collect` says what to ask for now.
package struct NACKGenerator: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// The next one, or one with gaps before it.
        case inOrder
        /// One that was missing.
        case recovered
        /// Known already, or older than anything awaited.
        case old
        /// So many are missing that a key frame helps more; nothing is awaited any more.
        case overwhelmed
    }

    private struct Missing {
        let sequence: Int64
        let since: Instant
        var next: Instant
        var asked: Instant?
        var tries = 0
    }

    /// Where nothing is known.
    package static let assumedRoundTripNanoseconds: UInt64 = 100_000_000
    private static let missingLimit = 256
    private static let triesLimit = 10
    private static let patience: UInt64 = 10_000_000
    private static let shortestRepeat: UInt64 = 20_000_000
    private static let longestWait: UInt64 = 1_000_000_000

    /// To the publisher and back; the host sets it when it learns it.
    package var roundTripNanoseconds = Self.assumedRoundTripNanoseconds
    /// From the first question for a packet to its repair, for the latest one that came.
    private var measured: UInt64?
    /// Packets that were given up.
    package private(set) var abandonedCount: UInt64 = 0
    private var unwrapper = SequenceUnwrapper()
    private var highest: Int64?
    private var missing: [Missing] = []

    package init() {}

    package var missingCount: Int { missing.count }

    /// - Parameter isRepair: it came because it was asked for (RFC 4588), and not merely late.
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
            missing.append(Missing(sequence: lost, since: now, next: now.adding(nanoseconds: Self.patience)))
        }
        return .inOrder
    }

    private mutating func recover(_ sequence: Int64, _ isRepair: Bool, at now: Instant) -> Bool {
        guard let index = missing.firstIndex(where: { $0.sequence >= sequence }), missing[index].sequence == sequence
        else { return false }
        // Of what was asked for twice nobody knows which question was answered: it took as long at most (the ambiguity of
        // RFC 6298 section 3, but a guess that is too short must grow).
        if isRepair, let asked = missing[index].asked {
            let elapsed = now.nanoseconds(since: asked)
            measured = missing[index].tries == 1 ? elapsed : min(elapsed, roundTripNanoseconds &* 2)
        }
        missing.remove(at: index)
        return true
    }

    /// The round trip that was measured since the last time; nil when none was.
    package mutating func takeRoundTrip() -> UInt64? {
        defer { measured = nil }
        return measured
    }

    /// When `collect` has something to do next.
    package var deadline: Instant? {
        missing.lazy.map(\.next).min()
    }

    /// Fills `lost` with the numbers to ask for now, in ascending order, and gives up what is too old.
    package mutating func collect(at now: Instant, into lost: inout [UInt16]) {
        lost.removeAll(keepingCapacity: true)
        let count = missing.count
        missing.removeAll {
            $0.next <= now && ($0.tries >= Self.triesLimit || now.nanoseconds(since: $0.since) >= Self.longestWait)
        }
        abandonedCount &+= UInt64(count - missing.count)
        // A little more than a round trip, for the jitter; twice as much from the fourth time on.
        let repeated = max(Self.shortestRepeat, min(roundTripNanoseconds, Self.longestWait) &* 5 / 4)
        for index in missing.indices where missing[index].next <= now {
            lost.append(UInt16(truncatingIfNeeded: missing[index].sequence))
            missing[index].tries &+= 1
            missing[index].asked = missing[index].asked ?? now
            missing[index].next = now.adding(nanoseconds: missing[index].tries > 3 ? repeated &* 2 : repeated)
        }
    }

    /// The stream began again.
    package mutating func reset() {
        missing.removeAll(keepingCapacity: true)
        unwrapper = SequenceUnwrapper()
        highest = nil
    }
}

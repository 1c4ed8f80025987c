package import Wire

/// The receiver report of one stream: sequence numbers as in RFC 3550 appendix A.1, loss as in A.3, jitter as in A.8.
package struct ReceiveStatistics: Sendable {
    package enum Verdict: Hashable, Sendable {
        case accepted
        /// The source restarted at another sequence number; the counters were reset.
        case restarted
        /// Far from the expected number: ignored until the next one in sequence follows.
        case rejected
    }

    private static let maximumGap: UInt16 = 3000
    /// A packet up to this late is still within the replay window, so it is counted and is no restart.
    private static let maximumLateness = UInt16(truncatingIfNeeded: ReplayWindow.packetCount)

    package let clockRate: UInt32
    package private(set) var packetCount: UInt64 = 0
    package private(set) var byteCount: UInt64 = 0
    private var isStarted = false
    private var baseSequence: UInt32 = 0
    private var cycles: UInt32 = 0
    private var maximumSequence: UInt16 = 0
    /// The sequence number that would show that the source restarted.
    private var awaited: UInt16?
    private var received: UInt32 = 0
    private var priorExpected: UInt32 = 0
    private var priorReceived: UInt32 = 0
    private var lastTransit: UInt32?
    /// Sixteen times the jitter.
    private var scaledJitter: UInt32 = 0
    private var lastReport: (compactTime: UInt32, arrival: Instant)?

    package init(clockRate: UInt32) {
        self.clockRate = max(clockRate, 1)
    }

    package var highestSequence: UInt32 { cycles &+ UInt32(maximumSequence) }
    /// In units of the timestamp.
    package var jitter: UInt32 { scaledJitter >> 4 }
    private var expected: UInt32 { isStarted ? highestSequence &- baseSequence &+ 1 : 0 }
    package var lost: Int32 { Int32(truncatingIfNeeded: Int64(expected) &- Int64(received)) }

    package mutating func receive(_ header: RTPHeader, byteCount: Int, at now: Instant) -> Verdict {
        let verdict = count(header.sequence)
        guard verdict != .rejected else { return verdict }
        if verdict == .restarted { lastTransit = nil }
        received &+= 1
        packetCount &+= 1
        self.byteCount &+= UInt64(truncatingIfNeeded: max(byteCount, 0))
        let transit = MediaClock.ticks(at: now, rate: clockRate) &- header.timestamp
        if let lastTransit {
            let difference = Int32(bitPattern: transit &- lastTransit).magnitude
            // A jump of the timestamps says nothing about the network.
            if difference < clockRate &* 5 {
                scaledJitter = scaledJitter &+ difference &- (scaledJitter &+ 8) >> 4
            }
        }
        lastTransit = transit
        return verdict
    }

    private mutating func count(_ sequence: UInt16) -> Verdict {
        guard isStarted else {
            restart(at: sequence)
            return .accepted
        }
        let ahead = sequence &- maximumSequence
        if ahead < Self.maximumGap {
            if sequence < maximumSequence { cycles &+= 0x1_0000 }
            maximumSequence = sequence
        } else if ahead <= 0 &- Self.maximumLateness {
            guard awaited == sequence else {
                awaited = sequence &+ 1
                return .rejected
            }
            restart(at: sequence)
            return .restarted
        }
        awaited = nil
        return .accepted
    }

    private mutating func restart(at sequence: UInt16) {
        isStarted = true
        baseSequence = UInt32(sequence)
        maximumSequence = sequence
        cycles = 0
        received = 0
        priorReceived = 0
        priorExpected = 0
        awaited = nil
    }

    package mutating func receive(_ report: SenderReport, at now: Instant) {
        lastReport = (report.compactTime, now)
    }

    /// The next report; its fraction lost covers the time since the previous one.
    package mutating func report(of ssrc: UInt32, at now: Instant) -> ReportBlock {
        let expectedSince = expected &- priorExpected
        let receivedSince = received &- priorReceived
        priorExpected = expected
        priorReceived = received
        let lostSince = Int64(expectedSince) &- Int64(receivedSince)
        let fraction = expectedSince == 0 || lostSince <= 0 ? 0 : min(lostSince << 8 / Int64(expectedSince), 255)
        let delay = lastReport.map { report in
            UInt32(truncatingIfNeeded: min(now.nanoseconds(since: report.arrival), 1 << 45) << 16 / 1_000_000_000)
        }
        return ReportBlock(
            ssrc: ssrc, fractionLost: UInt8(truncatingIfNeeded: fraction), cumulativeLost: lost,
            highestSequence: highestSequence, jitter: jitter, lastSenderReport: lastReport?.compactTime ?? 0,
            delaySinceSenderReport: delay ?? 0)
    }
}

import Wire

/// A burst above the present rate, to learn whether the link carries more: media first, then padding, best of all as
/// retransmissions of what was sent already (RFC 4588), which help a receiver that lost it.
package struct Probe: Hashable, Sendable {
    /// Never 0. Given to `BandwidthEstimate.sent` with each packet of the burst.
    package let id: UInt8
    /// At which the burst is to be sent, in bits per second.
    package let rate: UInt64
    /// After so many the burst ends.
    package let byteCount: Int
}

/// When to probe, how fast, and what came of it.
///
/// There are probes as long as the estimate is below one and a half times what is wanted: the first two at three and at
/// six times the first estimate, then each at twice the estimate, but none above twice what is wanted; the next at once
/// when the last one went well, else after a pause.
struct Probing: Sendable {
    private struct Burst {
        let probe: Probe
        let begun: Double
        /// That was known before it.
        let rate: Double
        var sent: (first: Double, last: Double, bytes: Double, lastBytes: Double, count: Int)?
        var arrived: (first: Double, last: Double, bytes: Double, firstBytes: Double, count: Int)?
    }

    private static let shortestPause = 2_000.0
    private static let longestPause = 4_000.0
    /// How much more than was known has to be proven, so that the next burst follows soon, and how soon: after the queue
    /// of a slow link took that of the last one.
    private static let progress = 1.25
    private static let pauseAfterProgress = 500.0
    private static let packetCount = 5
    /// How much more than is wanted is tried, and with how much more nothing is tried: an estimate with room to spare
    /// stands through a moment in which a busy receiver reads late, which looks like a link that became narrow.
    private static let excess = 2.0
    private static let enough = 1.5

    private var burst: Burst?
    private var nextID: UInt8 = 1
    private var notBefore = 0.0
    private var pause = Self.shortestPause
    /// Rates of the first bursts.
    private var beginnings: [Double]

    init(initial: Double) {
        beginnings = [initial * 3, initial * 6]
    }

    /// A burst to send now.
    mutating func begin(rate: Double, wanted: Double, maximum: Double, isFree: Bool, at now: Double) -> Probe? {
        if let burst, now - burst.begun > 1_000 {
            // Never measured: too little of it was sent or came through.
            self.burst = nil
            fail(at: now)
        }
        guard burst == nil, now >= notBefore else { return nil }
        guard isFree, wanted * Self.enough > rate else { return nil }
        var aim = rate * 2
        if let beginning = beginnings.first {
            beginnings.removeFirst()
            aim = max(aim, beginning)
        }
        aim = min(aim, wanted * Self.excess, maximum)
        guard aim > rate * 1.1 else { return nil }
        // 15 ms at least, and five packets.
        let bytes = max(Double(Self.packetCount) * 1_000, aim * 0.015 / 8)
        let probe = Probe(id: nextID, rate: bitCount(aim), byteCount: Int(min(bytes, 1_000_000)))
        nextID = nextID == .max ? 1 : nextID + 1
        burst = Burst(probe: probe, begun: now, rate: rate)
        return probe
    }

    mutating func sent(_ id: UInt8, byteCount: Int, at now: Double) {
        guard id != 0, var burst, burst.probe.id == id else { return }
        let bytes = Double(byteCount)
        if let sent = burst.sent {
            burst.sent = (sent.first, now, sent.bytes + bytes, bytes, sent.count + 1)
        } else {
            burst.sent = (now, now, bytes, bytes, 1)
        }
        self.burst = burst
    }

    /// The rate that a packet of a burst proved, once enough of the burst is known.
    mutating func received(_ id: UInt8, byteCount: Int, arrival: Double, at now: Double) -> Double? {
        guard id != 0, var burst, burst.probe.id == id else { return nil }
        let bytes = Double(byteCount)
        if let arrived = burst.arrived {
            burst.arrived = (
                min(arrived.first, arrival), max(arrived.last, arrival), arrived.bytes + bytes, arrived.firstBytes,
                arrived.count + 1
            )
        } else {
            burst.arrived = (arrival, arrival, bytes, bytes, 1)
        }
        self.burst = burst
        guard let sent = burst.sent, let arrived = burst.arrived, arrived.count >= 4,
            arrived.bytes >= 0.8 * Double(burst.probe.byteCount)
        else { return nil }
        let sentTime = sent.last - sent.first
        let arrivedTime = arrived.last - arrived.first
        self.burst = nil
        guard sentTime > 0, arrivedTime > 0, sentTime < 1_000, arrivedTime < 1_000 else {
            fail(at: now)
            return nil
        }
        // Between the first and the last packet: the bytes of one of the two do not count.
        let sendRate = (sent.bytes - sent.lastBytes) * 8_000 / sentTime
        let arrivalRate = (arrived.bytes - arrived.firstBytes) * 8_000 / arrivedTime
        guard arrivalRate < 2 * sendRate else {
            fail(at: now)
            return nil
        }
        if arrivalRate >= 0.9 * sendRate {
            pause = Self.shortestPause
            notBefore = now + 200
            return min(sendRate, arrivalRate)
        }
        beginnings.removeAll()
        let proven = 0.95 * arrivalRate
        if proven >= burst.rate * Self.progress {
            // Less than was tried, but more than was known: a receiver that reads a little late makes that of a free link.
            notBefore = now + Self.pauseAfterProgress
        } else {
            // The queue began to grow: the link was full.
            fail(at: now)
        }
        return proven
    }

    private mutating func fail(at now: Double) {
        notBefore = now + pause
        pause = min(pause * 1.5, Self.longestPause)
    }

    /// Over-use: the link just said that it is full.
    mutating func back(at now: Double) {
        beginnings.removeAll()
        notBefore = max(notBefore, now + Self.shortestPause)
    }
}

/// A rate as a whole number, for any number that came out of a division.
func bitCount(_ rate: Double) -> UInt64 {
    rate.isFinite && rate > 0 ? UInt64(min(rate, 1e12)) : 0
}

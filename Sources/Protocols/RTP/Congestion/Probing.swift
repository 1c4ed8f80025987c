import Wire

/// A burst above the current rate, to measure whether the link carries more: media first, then padding, preferably
/// retransmissions of what was sent already (RFC 4588), which help a receiver that lost it.
package struct Probe: Hashable, Sendable {
    /// Never 0. Passed to `BandwidthEstimate.sent` with each packet of the burst.
    package let id: UInt8
    /// The rate at which to send the burst, in bits per second.
    package let rate: UInt64
    /// How many bytes the burst has.
    package let byteCount: Int
}

/// When to probe, at which rate, and with what result.
///
/// Probes are sent as long as the estimate is below one and a half times the requested bitrate: the first two at three
/// and at six times the initial estimate, then each at twice the estimate, but never above twice the requested bitrate;
/// the next at once if the last one succeeded, otherwise after a pause.
struct Probing: Sendable {
    private struct Burst {
        let probe: Probe
        let start: Double
        /// The estimate before it.
        let rate: Double
        var sent: (first: Double, last: Double, bytes: Double, lastBytes: Double, count: Int)?
        var arrived: (first: Double, last: Double, bytes: Double, firstBytes: Double, count: Int)?
    }

    private static let minPause = 2_000.0
    private static let maxPause = 4_000.0
    /// How far above the estimate a result must be for the next burst to follow soon, and how soon: once the queue of a
    /// slow link has drained the last one.
    private static let minGain = 1.25
    private static let pauseAfterGain = 500.0
    private static let packetCount = 5
    /// How far above the requested bitrate probes go, and how far above it the estimate must be for probing to stop: an
    /// estimate with headroom survives a busy receiver that reads late, which looks like a link that became narrow.
    private static let maxOvershoot = 2.0
    private static let headroom = 1.5

    private var burst: Burst?
    private var nextID: UInt8 = 1
    private var notBefore = 0.0
    private var pause = Self.minPause
    /// The rates of the first probes.
    private var initialRates: [Double]

    init(initial: Double) {
        initialRates = [initial * 3, initial * 6]
    }

    /// The probe to send now, if any.
    mutating func begin(
        rate: Double, requestedBitrate: Double, maximum: Double, isUncongested: Bool, at now: Double
    ) -> Probe? {
        if let burst, now - burst.start > 1_000 {
            // No result: too little of it was sent or received.
            self.burst = nil
            fail(at: now)
        }
        guard burst == nil, now >= notBefore else { return nil }
        guard isUncongested, requestedBitrate * Self.headroom > rate else { return nil }
        var aim = rate * 2
        if let initialRate = initialRates.first {
            initialRates.removeFirst()
            aim = max(aim, initialRate)
        }
        aim = min(aim, requestedBitrate * Self.maxOvershoot, maximum)
        guard aim > rate * 1.1 else { return nil }
        // At least 15 ms and five packets.
        let bytes = max(Double(Self.packetCount) * 1_000, aim * 0.015 / 8)
        let probe = Probe(id: nextID, rate: bitCount(aim), byteCount: Int(min(bytes, 1_000_000)))
        nextID = nextID == .max ? 1 : nextID + 1
        burst = Burst(probe: probe, start: now, rate: rate)
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

    /// The rate that the probe measured, once enough of it was received.
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
            pause = Self.minPause
            notBefore = now + 200
            return min(sendRate, arrivalRate)
        }
        initialRates.removeAll()
        let proven = 0.95 * arrivalRate
        if proven >= burst.rate * Self.minGain {
            // Below the probe's rate, but above the estimate: also a free link looks so to a receiver that reads late.
            notBefore = now + Self.pauseAfterGain
        } else {
            // The queue began to grow: the link was full.
            fail(at: now)
        }
        return proven
    }

    private mutating func fail(at now: Double) {
        notBefore = now + pause
        pause = min(pause * 1.5, Self.maxPause)
    }

    /// Over-use was detected: the link is full.
    mutating func backOff(at now: Double) {
        initialRates.removeAll()
        notBefore = max(notBefore, now + Self.minPause)
    }
}

extension Instant {
    /// The unit of the estimators.
    var milliseconds: Double { Double(nanoseconds) / 1_000_000 }
}

/// A rate as a whole number; 0 if it is not finite.
func bitCount(_ rate: Double) -> UInt64 {
    rate.isFinite && rate > 0 ? UInt64(min(rate, 1e12)) : 0
}

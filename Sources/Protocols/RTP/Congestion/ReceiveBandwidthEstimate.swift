package import Wire

/// The receive-side bandwidth estimate of a publisher: Google's congestion control (draft-ietf-rmcat-gcc-02) from the
/// send times in the packets (abs-send-time), and from their loss, because not every sender reacts to loss. For a
/// client that gets no transport-wide feedback; the result is sent to it as REMB (draft-alvestrand-rmcat-remb-03).
///
/// The host passes in every packet with a send time and the loss of every report, calls `takeReport` every 50 to 100
/// ms, and sends what it returns.
package struct ReceiveBandwidthEstimate: Sendable {
    private static let initial = 600_000.0
    private static let minimum = 50_000.0
    private static let maximum = 30_000_000.0
    private static let reportInterval = 1_000.0
    /// A rate below this share of the last report is reported at once.
    private static let urgentDrop = 0.97
    private static let ticksPerMillisecond = 262.144

    private var trend = DelayTrend()
    private var throughput = Throughput()
    private var control = RateControl(initial: Self.initial, minimum: Self.minimum, maximum: Self.maximum)
    private var sendTicks: Int64?
    private var firstArrival: Double?
    private var loss = LossControl()
    private var hasNewPackets = false
    /// Until the queue grows for the first time, all that is known is that the link carries what arrives.
    private var hasBeenOverused = false
    private var reported: (rate: Double, time: Double)?

    package init() {}

    /// Bits per second that the publisher may send, RTP headers included.
    package var bitrate: UInt64 { bitCount(rate) }
    private var rate: Double { max(min(control.rate, loss.limit), Self.minimum) }

    /// One packet arrived.
    ///
    /// - Parameter sendTime: of 24 bits, seconds modulo 64 in units of 2^-18 s.
    package mutating func receive(sendTime: UInt32, byteCount: Int, at now: Instant) {
        let arrival = now.milliseconds
        firstArrival = firstArrival ?? arrival
        hasNewPackets = true
        throughput.receive(byteCount: byteCount, at: arrival)
        trend.receive(sent: unwrapped(sendTime), arrival: arrival)
    }

    /// The share lost since the last report, in 1/256.
    package mutating func receive(fractionLost: UInt8, at now: Instant) {
        // The thresholds of the draft always apply here: a queue that is full from the start does not grow.
        loss.noteOverUse(at: now.milliseconds)
        loss.receive(
            lost: Int(fractionLost), total: 256, rate: control.rate, received: throughput.bitsPerSecond,
            minimum: Self.minimum, at: now.milliseconds)
    }

    /// The bitrate when a report is due: every second, and at once when it fell.
    package mutating func takeReport(roundTrip: UInt64, at now: Instant) -> UInt64? {
        let time = now.milliseconds
        // Nothing can be estimated without packets.
        guard hasNewPackets, let firstArrival else { return nil }
        hasNewPackets = false
        let usage = trend.usage
        if usage == .over { hasBeenOverused = true }
        control.update(
            usage, throughput: throughput.bitsPerSecond, roundTrip: Double(roundTrip) / 1_000_000, at: time)
        if !hasBeenOverused, loss.limit.isInfinite, let received = throughput.bitsPerSecond, received > control.rate {
            control.set(received)
        }
        // A sender has its own initial rate; one second shows how the link takes it.
        guard hasBeenOverused || loss.limit.isFinite || time - firstArrival >= Self.reportInterval else { return nil }
        if let reported, rate > reported.rate * Self.urgentDrop, time - reported.time < Self.reportInterval {
            return nil
        }
        reported = (rate, time)
        return bitrate
    }

    /// The sender's clock in milliseconds.
    private mutating func unwrapped(_ sendTime: UInt32) -> Double {
        let ticks = Int64(sendTime & 0xFF_FFFF)
        // Starts high, so that a step back does not make it negative.
        let last = sendTicks ?? (1 << 40) &+ ticks
        let difference = Int32(truncatingIfNeeded: (ticks &- last) << 8) >> 8
        let value = last &+ Int64(difference)
        sendTicks = max(last, value)
        return Double(value) / Self.ticksPerMillisecond
    }
}

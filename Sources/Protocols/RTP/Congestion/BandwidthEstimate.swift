package import Wire

/// The send-side bandwidth estimate of a leg: Google's congestion control as published (draft-ietf-rmcat-gcc-02), with
/// the trend line of later implementations in place of the Kalman filter, and with probing.
///
/// The host gives every packet of the leg a transport-wide sequence number and reports it (`sent`), passes in the
/// feedback, sets `requestedBitrate`, calls `advance` every 25 to 100 ms, and sends what `Pacer` releases. When a peer
/// sends no transport-wide feedback, its REMB and its receiver reports set the rate.
package struct BandwidthEstimate: Sendable {
    package struct Limits: Hashable, Sendable {
        package var initial: UInt64
        package var minimum: UInt64
        package var maximum: UInt64

        package init(initial: UInt64 = 600_000, minimum: UInt64 = 50_000, maximum: UInt64 = 30_000_000) {
            self.minimum = max(minimum, 1_000)
            self.maximum = max(maximum, self.minimum)
            self.initial = min(max(initial, self.minimum), self.maximum)
        }
    }

    /// Bits per second that would be sent if the link carried them: the sum of the requested layers. Probes aim at up
    /// to twice as much.
    package var requestedBitrate: UInt64 = 0
    /// Smoothed, in nanoseconds. The receiver delays its feedback, so this is an overestimate.
    package private(set) var roundTripNanoseconds: UInt64 = 100_000_000
    package private(set) var hasTransportFeedback = false

    private let limits: Limits
    private var packets = SentPackets()
    private var trend = DelayTrend()
    private var throughput = Throughput()
    private var control: RateControl
    private var loss = LossControl()
    private var drop = CapacityDrop()
    private var probing: Probing
    private var receiverLimit: Double?
    private var arrivalTicks: Int64?
    private var lastFeedback: Double?
    private var lastSent: Double?
    private var lastSilence: Double?

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
        probing = Probing(initial: Double(limits.initial))
        control = RateControl(
            initial: Double(limits.initial), minimum: Double(limits.minimum), maximum: Double(limits.maximum))
    }

    /// Bits per second that may be sent, RTP headers included.
    package var bitrate: UInt64 {
        var rate = min(control.rate, loss.limit)
        if !hasTransportFeedback, let receiverLimit { rate = min(loss.limit, receiverLimit) }
        return min(max(bitCount(rate), limits.minimum), limits.maximum)
    }

    /// The share of packets lost in the last window, 0 to 1.
    package var lossRatio: Double { loss.lossRatio }
    /// Bits per second that the receiver got recently.
    package var receivedBitrate: UInt64? { throughput.bitsPerSecond.map(bitCount) }
    /// The link's queue was full, or grew, within the last seconds.
    package func isCongested(at now: Instant) -> Bool { loss.isCongested(at: now.milliseconds) }

    /// A packet was sent. `probe` is the id of the probe that it belongs to, or 0.
    package mutating func sent(_ sequence: UInt16, byteCount: Int, probe: UInt8 = 0, at now: Instant) {
        let time = now.milliseconds
        packets.add(sequence, byteCount: byteCount, probe: probe, at: now)
        probing.sent(probe, byteCount: byteCount, at: time)
        lastSent = time
    }

    package mutating func receive(_ feedback: borrowing TransportFeedback, at now: Instant) {
        let time = now.milliseconds
        var lostCount = 0
        var settledCount = 0
        var newestSent: Instant?
        var proven: Double?
        feedback.visit { sequence, ticks in
            guard let packet = packets.settle(sequence, isReceived: ticks != nil, at: now) else { return }
            if !packet.wasLost { settledCount += 1 }
            guard let ticks else {
                lostCount += 1
                return
            }
            if packet.wasLost { lostCount -= 1 }
            let arrival = unwrapped(ticks)
            newestSent = max(newestSent ?? packet.sent, packet.sent)
            throughput.receive(byteCount: packet.byteCount, at: arrival)
            trend.receive(sent: packet.sent.milliseconds, arrival: arrival)
            drop.receive(sent: packet.sent.milliseconds, arrival: arrival)
            let rate = probing.received(packet.probe, byteCount: packet.byteCount, arrival: arrival, at: time)
            proven = rate ?? proven
        }
        guard settledCount > 0 || newestSent != nil else { return }
        hasTransportFeedback = true
        lastFeedback = time
        lastSilence = nil
        if let newestSent {
            let sample = min(now.nanoseconds(since: newestSent), 10_000_000_000)
            roundTripNanoseconds = (roundTripNanoseconds &* 7 &+ sample) / 8
        }
        decide(proven, lost: lostCount, settled: settledCount, at: time)
    }

    private mutating func decide(_ proven: Double?, lost: Int, settled: Int, at time: Double) {
        let usage = trend.usage
        if usage == .over {
            loss.noteOverUse(at: time)
            probing.backOff(at: time)
        }
        if let proven, usage != .over {
            // A full link proves a rate too, but the receiver may have been late to read the burst: so the rate falls
            // only a little.
            if proven > control.rate || proven < control.rate * 0.85 { control.set(max(proven, control.rate * 0.85)) }
            if loss.lossRatio < 0.02 { loss.raise(to: proven) }
        }
        if drop.receive(lost: lost, total: settled, at: time) {
            loss.noteOverUse(at: time)
            probing.backOff(at: time)
            control.decrease(to: throughput.latestBitsPerSecond, at: time)
        }
        control.update(
            usage, throughput: throughput.bitsPerSecond, roundTrip: Double(roundTripNanoseconds) / 1_000_000, at: time)
        loss.receive(
            lost: lost, total: settled, rate: control.rate, received: throughput.bitsPerSecond,
            minimum: Double(limits.minimum), at: time)
    }

    /// The receiver's own estimate; used only while there is no transport-wide feedback.
    package mutating func receive(estimatedMaximumBitrate bitrate: UInt64) {
        receiverLimit = Double(bitrate)
    }

    /// Loss and round trip from a receiver report, for a leg without transport-wide feedback.
    package mutating func receive(_ block: ReportBlock, roundTrip: UInt64?, at now: Instant) {
        guard !hasTransportFeedback else { return }
        if let roundTrip { roundTripNanoseconds = (roundTripNanoseconds &* 7 &+ min(roundTrip, 10_000_000_000)) / 8 }
        loss.receive(
            fraction: Double(block.fractionLost) / 256, rate: Double(bitrate), minimum: Double(limits.minimum),
            at: now.milliseconds)
        // Without REMB either, the rate grows as long as little is lost.
        if receiverLimit == nil, block.fractionLost < 5 { control.grow(at: now.milliseconds) }
    }

    /// Returns a probe to send, if one is due. Without any feedback the rate falls, because the link may be gone.
    package mutating func advance(to now: Instant) -> Probe? {
        let time = now.milliseconds
        if let lastFeedback, let lastSent, lastSent > lastFeedback, time - lastFeedback > 1_000,
            time - (lastSilence ?? 0) >= 500
        {
            lastSilence = time
            control.set(control.rate * 0.8)
        }
        // Before the first feedback it is unknown whether the peer sends any or only REMB.
        guard hasTransportFeedback else { return nil }
        return probing.begin(
            rate: Double(bitrate), requestedBitrate: Double(min(requestedBitrate, limits.maximum)),
            maximum: Double(limits.maximum),
            isUncongested: trend.usage == .normal && loss.lossRatio < 0.1, at: time)
    }

    /// The receiver's clock in milliseconds; its feedback has only 32 bits of 250 µs.
    private mutating func unwrapped(_ ticks: Int64) -> Double {
        let last = arrivalTicks ?? (1 << 40) &+ ticks
        let value = last &+ Int64(Int32(truncatingIfNeeded: ticks &- last))
        arrivalTicks = max(arrivalTicks ?? value, value)
        return Double(value) / 4
    }
}

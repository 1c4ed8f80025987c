package import Wire

/// Spreads packets over time, so that a key frame for fifty receivers does not leave as one burst: a token bucket that
/// fills at the rate and that each packet draws from.
///
/// Audio does not wait, but its bytes are drawn from the bucket too. Video may leave faster than the estimate, because
/// frames differ in size and a queue here adds delay as well; a probe sets the rate exactly.
package struct Pacer: Sendable {
    package enum Step: Hashable, Sendable {
        /// Send the next packet now; it belongs to this probe, or to none when 0.
        case send(probe: UInt8)
        /// The queue is empty, but a probe needs bytes: send up to this many bytes of padding.
        case pad(Int, probe: UInt8)
        /// Send nothing before this time.
        case wait(until: Instant)
        /// Nothing to do until there is a packet.
        case idle
    }

    /// How much faster than the estimate the queue may be drained; the second while the link's own queue is not empty.
    private static let pacingFactor = 2.5
    private static let congestedPacingFactor = 1.25
    /// What may be sent at once after a pause, in seconds at the pacing rate: a delta frame, but not a key frame.
    private static let burstSeconds = 0.04
    private static let minBurst = 1_500.0
    /// The same when packets waited and the host called late: the link was free in the meantime.
    private static let maxCatchUp = 0.1
    private static let maxProbeCatchUp = 0.02

    private var rate: Double
    private var pacingFactor = Self.pacingFactor
    private var budget = Self.minBurst
    private var lastFill: Instant?
    private var probe: (probe: Probe, left: Int)?
    /// A packet waited at the last call of `next`.
    private var isBlocked = false

    package init(bitrate: UInt64) {
        rate = Double(max(bitrate, 1_000))
    }

    /// In congestion, even a key frame leaves little faster than the link takes it: part of a burst would be lost.
    package mutating func set(bitrate: UInt64, isCongested: Bool) {
        rate = Double(max(bitrate, 1_000))
        pacingFactor = isCongested ? Self.congestedPacingFactor : Self.pacingFactor
    }

    /// Begins a probe and cancels the current one.
    package mutating func begin(_ probe: Probe, at now: Instant) {
        fill(at: now)
        budget = 0
        self.probe = (probe, probe.byteCount)
    }

    /// For a host that has nothing to pad with.
    package mutating func cancelProbe() {
        probe = nil
    }

    private var bytesPerSecond: Double {
        (probe.map { Double($0.probe.rate) } ?? rate * pacingFactor) / 8
    }

    /// What to do now. After `send` and `pad`, report what was sent (`sent`) and call this again.
    package mutating func next(hasPackets: Bool, at now: Instant) -> Step {
        fill(at: now)
        guard hasPackets || probe != nil else {
            isBlocked = false
            return .idle
        }
        guard budget >= 0 else {
            isBlocked = true
            let seconds = min(max(-budget / max(bytesPerSecond, 1), 0.000_1), 10)
            return .wait(until: now.adding(nanoseconds: UInt64(seconds * 1e9)))
        }
        if hasPackets { return .send(probe: probe?.probe.id ?? 0) }
        guard let probe else { return .idle }
        return .pad(min(max(probe.left, 100), 1_000), probe: probe.probe.id)
    }

    /// Bytes that were sent, including those that were not paced (audio, RTCP).
    package mutating func sent(byteCount: Int, probe id: UInt8 = 0, at now: Instant) {
        fill(at: now)
        budget -= Double(byteCount)
        guard id != 0, let probe, probe.probe.id == id else { return }
        let left = probe.left &- byteCount
        self.probe = left > 0 ? (probe.probe, left) : nil
    }

    private mutating func fill(at now: Instant) {
        let elapsed = lastFill.map { Double(now.nanoseconds(since: $0)) / 1e9 } ?? 0
        lastFill = max(now, lastFill ?? now)
        let seconds = probe == nil ? Self.maxCatchUp : Self.maxProbeCatchUp
        let usual = probe == nil ? max(bytesPerSecond * Self.burstSeconds, Self.minBurst) : 0
        let most = isBlocked ? max(bytesPerSecond * seconds, usual) : usual
        budget = min(budget + bytesPerSecond * min(elapsed, 10), most)
    }
}

package import Wire

/// Lets packets go at a rate, so that a key frame for fifty receivers does not leave as one burst: a bucket of bytes that
/// fills at the rate and leaks with each packet.
///
/// Audio does not wait, but takes its bytes from the bucket. Media may go faster than the estimate, because frames differ
/// in size and a queue here is delay as well; a probe sets the rate exactly.
package struct Pacer: Sendable {
    package enum Step: Hashable, Sendable {
        /// Send the next packet now; it belongs to this burst, or to none when 0.
        case send(probe: UInt8)
        /// Nothing waits, but a burst needs bytes: send padding of up to this many.
        case pad(Int, probe: UInt8)
        /// Nothing before then.
        case wait(until: Instant)
        /// Nothing to do until there is a packet.
        case idle
    }

    /// How much faster than the estimate a queue may be emptied; and when that of the link is hardly empty itself.
    private static let haste = 2.5
    private static let hasteInCongestion = 1.25
    /// What may be sent at once after a pause, in seconds of the pace: a usual frame, but not a key frame.
    private static let allowance = 0.04
    private static let leastAllowance = 1_500.0
    /// The same when packets waited, and the host looked later than it was told to: the way was free in the meantime.
    private static let lateness = 0.1
    private static let latenessOfProbe = 0.02

    private var rate: Double
    private var haste = Self.haste
    private var budget = Self.leastAllowance
    private var lastFill: Instant?
    private var probe: (probe: Probe, left: Int)?
    /// Something waited when it was looked at last.
    private var isHeldUp = false

    package init(bitrate: UInt64) {
        rate = Double(max(bitrate, 1_000))
    }

    /// In congestion, even a key frame leaves little faster than the link takes it: a burst would be lost in part.
    package mutating func set(bitrate: UInt64, isCongested: Bool) {
        rate = Double(max(bitrate, 1_000))
        haste = isCongested ? Self.hasteInCongestion : Self.haste
    }

    /// Begins a burst; one that is under way is given up.
    package mutating func begin(_ probe: Probe, at now: Instant) {
        fill(at: now)
        budget = 0
        self.probe = (probe, probe.byteCount)
    }

    /// There is nothing to pad with.
    package mutating func giveUpProbe() {
        probe = nil
    }

    private var bytesPerSecond: Double {
        (probe.map { Double($0.probe.rate) } ?? rate * haste) / 8
    }

    /// What to do now, when packets wait or not. After `send` and `pad` tell what was sent, and ask again.
    package mutating func next(hasPackets: Bool, at now: Instant) -> Step {
        fill(at: now)
        guard hasPackets || probe != nil else {
            isHeldUp = false
            return .idle
        }
        guard budget >= 0 else {
            isHeldUp = true
            let seconds = min(max(-budget / max(bytesPerSecond, 1), 0.000_1), 10)
            return .wait(until: now.adding(nanoseconds: UInt64(seconds * 1e9)))
        }
        if hasPackets { return .send(probe: probe?.probe.id ?? 0) }
        guard let probe else { return .idle }
        return .pad(min(max(probe.left, 100), 1_000), probe: probe.probe.id)
    }

    /// Bytes that went out, also those that did not ask (audio, RTCP).
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
        let seconds = probe == nil ? Self.lateness : Self.latenessOfProbe
        let usual = probe == nil ? max(bytesPerSecond * Self.allowance, Self.leastAllowance) : 0
        let most = isHeldUp ? max(bytesPerSecond * seconds, usual) : usual
        budget = min(budget + bytesPerSecond * min(elapsed, 10), most)
    }
}

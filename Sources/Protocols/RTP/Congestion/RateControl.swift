/// The delay-based rate: additive increase, multiplicative decrease (draft-ietf-rmcat-gcc-02 section 5.5).
///
/// Over-use cuts the rate below what the receiver got, so that the queue drains; a draining queue holds it. Otherwise it
/// grows by 8 % a second while the capacity is unknown, and by about a packet for each response time near the rate at
/// which over-use was seen last. It never grows beyond one and a half times what the receiver got, because what was not
/// sent was not tried. Times in milliseconds, rates in bits per second.
struct RateControl: Sendable {
    private enum State {
        case hold
        case increase
    }

    private static let cut = 0.85
    private static let leastMeasured = 0.7
    let minimum: Double
    let maximum: Double
    private(set) var rate: Double
    private var state = State.increase
    private var lastUpdate: Double?
    private var lastCut: Double?
    /// Of the rate at which over-use was seen, in kilobits per second.
    private var capacity: (mean: Double, variance: Double)?

    init(initial: Double, minimum: Double, maximum: Double) {
        self.minimum = minimum
        self.maximum = maximum
        rate = initial
    }

    mutating func update(_ usage: DelayTrend.Usage, throughput: Double?, roundTrip: Double, at now: Double) {
        defer { lastUpdate = now }
        switch usage {
        case .over:
            decrease(throughput, roundTrip, at: now)
        case .under:
            state = .hold
        case .normal:
            guard state == .increase else {
                // Grow only from the next update on.
                state = .increase
                return
            }
            increase(throughput, roundTrip, elapsed: min(max(now - (lastUpdate ?? now), 0), 1000))
        }
    }

    private mutating func decrease(_ throughput: Double?, _ roundTrip: Double, at now: Double) {
        state = .hold
        // One cut for each response: its effect is not seen before.
        if let lastCut, now - lastCut < min(max(roundTrip, 10), 200) + 100, (throughput ?? rate) > rate / 2 { return }
        lastCut = now
        // Little may have arrived because little was sent. When it was for want of a way, the next cuts follow soon.
        let measured = max(throughput ?? rate, rate * Self.leastMeasured)
        if let throughput { learn(throughput) }
        rate = max(minimum, min(rate, measured * Self.cut))
    }

    /// What the receiver got lately is all that the link carries.
    mutating func fall(to throughput: Double?, at now: Double) {
        guard let throughput, throughput < rate else { return }
        state = .hold
        lastCut = now
        learn(throughput)
        rate = max(minimum, min(rate, throughput * Self.cut))
    }

    private mutating func increase(_ throughput: Double?, _ roundTrip: Double, elapsed: Double) {
        if let throughput, let known = capacity, throughput / 1000 > known.mean + 3 * deviation(known) {
            capacity = nil
        }
        let step: Double
        if let known = capacity, rate / 1000 > known.mean - 3 * deviation(known) {
            let response = roundTrip + 100
            step = max(4_000, 9_600 * 1000 / response) * elapsed / 1000
        } else {
            // 8 % a second, for as little time as passes between feedbacks.
            step = max(1_000, rate * 0.08) * elapsed / 1000
        }
        let limit = throughput.map { 1.5 * $0 + 10_000 } ?? .infinity
        if rate < limit { rate = min(rate + step, limit, maximum) }
    }

    private mutating func learn(_ throughput: Double) {
        let sample = throughput / 1000
        guard let known = capacity, abs(sample - known.mean) <= 3 * deviation(known) else {
            capacity = (sample, 0.4)
            return
        }
        let mean = 0.95 * known.mean + 0.05 * sample
        let error = known.mean - sample
        let variance = 0.95 * known.variance + 0.05 * error * error / max(known.mean, 1)
        capacity = (mean, min(max(variance, 0.4), 2.5))
    }

    private func deviation(_ known: (mean: Double, variance: Double)) -> Double {
        (known.variance * known.mean).squareRoot()
    }

    /// Nothing but the loss is known, and that is small: 8 % a second.
    mutating func grow(at now: Double) {
        let elapsed = min(max(now - (lastUpdate ?? now), 0), 1000)
        lastUpdate = now
        rate = min(rate + rate * 0.08 * elapsed / 1000, maximum)
    }

    /// A probe, or another measurement, showed that the link carries this much.
    mutating func set(_ proven: Double) {
        rate = min(max(proven, minimum), maximum)
    }
}

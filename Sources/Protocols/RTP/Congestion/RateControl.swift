/// The delay-based rate: additive increase, multiplicative decrease (draft-ietf-rmcat-gcc-02 section 5.5).
///
/// Over-use lowers the rate below what the receiver got, so that the queue drains; while it drains, the rate is held.
/// Otherwise it grows by 8 % a second while the capacity is unknown, and by about a packet per response time near the
/// rate at which over-use was last detected. It never grows beyond one and a half times what the receiver got, because
/// higher rates have not been tested. Times in milliseconds, rates in bits per second.
struct RateControl: Sendable {
    private enum State {
        case hold
        case increase
    }

    private static let backoffFactor = 0.85
    private static let minMeasuredShare = 0.7
    let minimum: Double
    let maximum: Double
    private(set) var rate: Double
    private var state = State.increase
    private var lastUpdate: Double?
    private var lastDecrease: Double?
    /// The rate at which over-use was detected, in kilobits per second.
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
        // One decrease per response time: its effect does not show earlier.
        if let lastDecrease, now - lastDecrease < min(max(roundTrip, 10), 200) + 100, (throughput ?? rate) > rate / 2 {
            return
        }
        lastDecrease = now
        // Little may have arrived because little was sent. If the link was the reason, the next decreases follow soon.
        let measured = max(throughput ?? rate, rate * Self.minMeasuredShare)
        if let throughput { updateCapacity(throughput) }
        rate = max(minimum, min(rate, measured * Self.backoffFactor))
    }

    /// The link carries no more than the receiver got recently.
    mutating func decrease(to throughput: Double?, at now: Double) {
        guard let throughput, throughput < rate else { return }
        state = .hold
        lastDecrease = now
        updateCapacity(throughput)
        rate = max(minimum, min(rate, throughput * Self.backoffFactor))
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

    private mutating func updateCapacity(_ throughput: Double) {
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

    /// Grows by 8 % a second, when only the loss is known and it is small.
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

/// The loss-based limit (draft-ietf-rmcat-gcc-02 section 6): lowered when much is lost, raised when little is.
///
/// The draft decreases above 10 % and increases below 2 %. These thresholds apply here if the delay showed over-use in
/// the last seconds. A radio link that loses 10 % without any queue would starve under them, though retransmissions
/// repair it: without over-use the thresholds are twice and five times as high.
struct LossControl: Sendable {
    private static let window = 500.0
    private static let congestionPeriod = 3_000.0
    /// The share of the received rate that the link carries for certain, however much was lost.
    private static let proven = 0.85

    /// Bits per second; infinite when loss sets no limit.
    private(set) var limit = Double.infinity
    /// In the last whole window, 0 to 1.
    private(set) var lossRatio = 0.0
    private var lost = 0
    private var total = 0
    private var windowStart: Double?
    private var lastOverUse: Double?

    mutating func noteOverUse(at now: Double) {
        lastOverUse = now
    }

    /// A queue grew recently.
    func isCongested(at now: Double) -> Bool { lastOverUse.map { now - $0 < Self.congestionPeriod } ?? false }

    /// The outcome of more packets. `received` is the rate that the receiver got recently, in bits per second.
    mutating func receive(
        lost newlyLost: Int, total newlySettled: Int, rate: Double, received: Double?, minimum: Double, at now: Double
    ) {
        lost += newlyLost
        total += newlySettled
        guard let start = windowStart else {
            windowStart = now
            return
        }
        guard now - start >= Self.window, total >= 20 else { return }
        lossRatio = min(max(Double(lost) / Double(total), 0), 1)
        let isCongested = isCongested(at: now)
        if lossRatio > (isCongested ? 0.1 : 0.2) {
            let present = min(rate, limit)
            let carried = min((received ?? 0) * Self.proven, present)
            limit = max(minimum, carried, present * (1 - 0.5 * lossRatio))
        } else if lossRatio < (isCongested ? 0.02 : 0.1), limit.isFinite {
            limit *= 1 + 0.08 * min(now - start, 2_000) / 1000
            if limit > 4 * rate { limit = .infinity }
        }
        lost = 0
        total = 0
        windowStart = now
    }

    /// The fraction of a receiver report, when there is no transport-wide feedback.
    mutating func receive(fraction: Double, rate: Double, minimum: Double, at now: Double) {
        receive(
            lost: Int(min(max(fraction, 0), 1) * 256), total: 256, rate: rate, received: nil, minimum: minimum, at: now)
    }

    mutating func raise(to proven: Double) {
        limit = max(limit, proven)
    }
}

/// Detects that the link suddenly carries only a fraction of what is sent.
///
/// Then packets arrive late, and either many are lost, because the queue of the bottleneck is full, or they arrive at
/// half the rate at which they were sent. This shows long before the slope of the delay does, since few groups of
/// packets get through. Loss alone is no sign, since radio links lose packets without any queue; neither is delay,
/// since a busy receiver reads late, but then all at once. All times are in milliseconds.
struct CapacityDrop: Sendable {
    private static let window = 100.0
    private static let minCount = 10
    private static let loss = 0.4
    private static let delayWithLoss = 50.0
    private static let minArrivals = 5
    private static let minSpan = 50.0
    private static let stretch = 2.0
    private static let delay = 100.0
    /// Long enough for the queue to have been empty once, too short for clocks to drift apart.
    private static let baselinePeriod = 5_000.0

    private struct Arrivals {
        var count = 0
        var delays = 0.0
        var sent = (first: Double.infinity, last: -Double.infinity)
        var arrived = (first: Double.infinity, last: -Double.infinity)

        /// How much longer they took to arrive than to be sent.
        var stretch: Double {
            let span = arrived.last - arrived.first
            return span < CapacityDrop.minSpan ? 0 : span / max(sent.last - sent.first, 1)
        }
    }

    private var lost = 0
    private var total = 0
    private var arrivals = Arrivals()
    private var windowStart: Double?
    private var shortest = RecentMinimum<Double>(period: Self.baselinePeriod)

    /// A packet arrived. The two clocks need have nothing in common.
    mutating func receive(sent: Double, arrival: Double) {
        let delay = arrival - sent
        shortest.add(delay, at: sent)
        arrivals.count += 1
        arrivals.delays += delay
        arrivals.sent = (min(arrivals.sent.first, sent), max(arrivals.sent.last, sent))
        arrivals.arrived = (min(arrivals.arrived.first, arrival), max(arrivals.arrived.last, arrival))
    }

    /// The outcome of more packets. Returns true when they show that the link carries much less.
    mutating func receive(lost newlyLost: Int, total newlySettled: Int, at now: Double) -> Bool {
        lost += newlyLost
        total += newlySettled
        let start = windowStart ?? now
        windowStart = start
        guard now - start >= Self.window else { return false }
        let isLossy = total >= Self.minCount && Double(lost) > Self.loss * Double(total) && arrivals.count > 0
        guard isLossy || arrivals.count >= Self.minArrivals else { return false }
        let late = arrivals.delays / Double(arrivals.count) - (shortest.value ?? 0)
        let stretch = arrivals.stretch
        windowStart = now
        (lost, total) = (0, 0)
        arrivals = Arrivals()
        return isLossy ? late > Self.delayWithLoss : late > Self.delay && stretch > Self.stretch
    }
}

/// Whether the link suddenly carries a fraction of what is sent.
///
/// What arrives is late then, and either much is lost, because the queue of the bottleneck is full, or it comes at half
/// the pace at which it was sent. That is known long before the slope of the delay is, since few groups of packets come
/// through. Loss alone is no sign, since radio loses without any queue; neither is delay, since a busy receiver reads
/// late, but then all at once. All times are in milliseconds.
struct CapacityDrop: Sendable {
    private static let window = 100.0
    private static let leastCount = 10
    private static let loss = 0.4
    private static let delayWithLoss = 50.0
    private static let leastArrivals = 5
    private static let shortestSpan = 50.0
    private static let stretch = 2.0
    private static let delay = 100.0
    /// Long enough for a queue to have been empty, too short for clocks to go apart.
    private static let memory = 5_000.0

    private struct Arrivals {
        var count = 0
        var delays = 0.0
        var sent = (first: Double.infinity, last: -Double.infinity)
        var arrived = (first: Double.infinity, last: -Double.infinity)

        /// How much longer they took to arrive than to be sent.
        var stretch: Double {
            let span = arrived.last - arrived.first
            return span < CapacityDrop.shortestSpan ? 0 : span / max(sent.last - sent.first, 1)
        }
    }

    private var lost = 0
    private var total = 0
    private var arrivals = Arrivals()
    private var windowStart: Double?
    private var shortest = RecentMinimum<Double>(period: Self.memory)

    /// A packet arrived. The two clocks need have nothing in common.
    mutating func receive(sent: Double, arrival: Double) {
        let delay = arrival - sent
        shortest.add(delay, at: sent)
        arrivals.count += 1
        arrivals.delays += delay
        arrivals.sent = (min(arrivals.sent.first, sent), max(arrivals.sent.last, sent))
        arrivals.arrived = (min(arrivals.arrived.first, arrival), max(arrivals.arrived.last, arrival))
    }

    /// What is known of so many packets more. True when they say that the link carries much less.
    mutating func receive(lost newlyLost: Int, total newlySettled: Int, at now: Double) -> Bool {
        lost += newlyLost
        total += newlySettled
        let start = windowStart ?? now
        windowStart = start
        guard now - start >= Self.window else { return false }
        let isLossy = total >= Self.leastCount && Double(lost) > Self.loss * Double(total) && arrivals.count > 0
        guard isLossy || arrivals.count >= Self.leastArrivals else { return false }
        let late = arrivals.delays / Double(arrivals.count) - (shortest.value ?? 0)
        let stretch = arrivals.stretch
        windowStart = now
        (lost, total) = (0, 0)
        arrivals = Arrivals()
        return isLossy ? late > Self.delayWithLoss : late > Self.delay && stretch > Self.stretch
    }
}

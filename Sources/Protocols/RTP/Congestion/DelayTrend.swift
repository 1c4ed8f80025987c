/// Detects whether the queue of the bottleneck grows, from the times between groups of packets at the sender and at the
/// receiver (draft-ietf-rmcat-gcc-02 section 5; Carlucci et al., "Analysis and Design of the Google Congestion Control
/// for WebRTC").
///
/// Packets sent within 5 ms are one group, since a burst says nothing about the queue. For each pair of groups the
/// delay variation is accumulated and smoothed; the slope of a line through the latest 20 sums is how fast the queue
/// grows. It is compared with a threshold that follows it slowly: otherwise a flow that fills queues by itself would
/// starve this one, and noise would be taken for a queue. All times are in milliseconds.
struct DelayTrend: Sendable {
    enum Usage: Hashable, Sendable {
        case normal
        case over
        case under
    }

    private struct Group {
        var firstSent: Double
        var lastSent: Double
        var firstArrival: Double
        var lastArrival: Double
    }

    private static let burst = 5.0
    private static let windowSize = 20
    private static let smoothing = 0.9
    private static let gain = 4.0
    private static let overUseTime = 10.0

    private(set) var usage = Usage.normal
    private var group: Group?
    private var previous: Group?
    private var firstArrival: Double?
    private var accumulated = 0.0
    private var smoothed = 0.0
    private var window: [(arrival: Double, delay: Double)] = []
    private var deltaCount = 0
    private var trend = 0.0
    private var threshold = 12.5
    private var lastUpdate: Double?
    private var timeOver: Double?
    private var overCount = 0

    init() {
        window.reserveCapacity(Self.windowSize + 1)
    }

    /// One packet that arrived, in the order of sending.
    mutating func receive(sent: Double, arrival: Double) {
        guard var current = group else {
            group = Group(firstSent: sent, lastSent: sent, firstArrival: arrival, lastArrival: arrival)
            return
        }
        guard sent >= current.firstSent else { return }
        if belongs(sent, arrival, to: current) {
            current.lastSent = max(current.lastSent, sent)
            current.lastArrival = max(current.lastArrival, arrival)
            group = current
            return
        }
        if let previous {
            let sentDelta = current.lastSent - previous.lastSent
            let arrivalDelta = current.lastArrival - previous.lastArrival
            if arrivalDelta < 0 || arrivalDelta - sentDelta > 3_000 {
                // Another clock or another path: start over.
                reset()
            } else {
                update(sentDelta: sentDelta, arrivalDelta: arrivalDelta, arrival: current.lastArrival)
            }
        }
        previous = current
        group = Group(firstSent: sent, lastSent: sent, firstArrival: arrival, lastArrival: arrival)
    }

    /// Sent together, or held up and then delivered together.
    private func belongs(_ sent: Double, _ arrival: Double, to group: Group) -> Bool {
        if sent - group.firstSent <= Self.burst { return true }
        let arrivalDelta = arrival - group.lastArrival
        let sentDelta = sent - group.lastSent
        return arrivalDelta >= 0 && arrivalDelta <= Self.burst && arrivalDelta < sentDelta
            && arrival - group.firstArrival < 100
    }

    private mutating func reset() {
        window.removeAll(keepingCapacity: true)
        accumulated = 0
        smoothed = 0
        deltaCount = 0
        trend = 0
        usage = .normal
        timeOver = nil
        firstArrival = nil
    }

    private mutating func update(sentDelta: Double, arrivalDelta: Double, arrival: Double) {
        let start = firstArrival ?? arrival
        firstArrival = start
        deltaCount = min(deltaCount + 1, 1000)
        accumulated += arrivalDelta - sentDelta
        smoothed = Self.smoothing * smoothed + (1 - Self.smoothing) * accumulated
        window.append((arrival - start, smoothed))
        if window.count > Self.windowSize { window.removeFirst() }
        let old = trend
        if window.count == Self.windowSize, let slope { trend = slope }
        detect(sentDelta: sentDelta, old: old, at: arrival)
    }

    /// The slope of the least-squares line.
    private var slope: Double? {
        let count = Double(window.count)
        var meanArrival = 0.0
        var meanDelay = 0.0
        for point in window {
            meanArrival += point.arrival
            meanDelay += point.delay
        }
        meanArrival /= count
        meanDelay /= count
        var above = 0.0
        var below = 0.0
        for point in window {
            above += (point.arrival - meanArrival) * (point.delay - meanDelay)
            below += (point.arrival - meanArrival) * (point.arrival - meanArrival)
        }
        return below > 0 ? above / below : nil
    }

    private mutating func detect(sentDelta: Double, old: Double, at now: Double) {
        let scaled = Double(min(deltaCount, 60)) * trend * Self.gain
        if scaled > threshold {
            // The first group over the threshold counts half, since it is unknown when within it the over-use began.
            timeOver = timeOver.map { $0 + sentDelta } ?? sentDelta / 2
            overCount += 1
            if let time = timeOver, time > Self.overUseTime, overCount > 1, trend >= old {
                usage = .over
                timeOver = 0
                overCount = 0
            }
        } else {
            timeOver = nil
            overCount = 0
            usage = scaled < -threshold ? .under : .normal
        }
        adapt(to: abs(scaled), at: now)
    }

    /// Adapts the threshold: up fast, down slowly, and not at all for a spike.
    private mutating func adapt(to value: Double, at now: Double) {
        defer { lastUpdate = now }
        guard value <= threshold + 15, let lastUpdate else { return }
        let speed = value < threshold ? 0.039 : 0.0087
        threshold += speed * (value - threshold) * min(max(now - lastUpdate, 0), 100)
        threshold = min(max(threshold, 6), 600)
    }
}

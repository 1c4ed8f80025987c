package import Wire

/// What is on its way, in the order of arrival.
package struct ArrivalQueue<Element> {
    private var waiting: [(arrival: Instant, element: Element)] = []

    package init() {}

    package mutating func insert(_ element: Element, arrival: Instant) {
        // Almost everything comes last, and what comes at the same time stays in the order of sending.
        var index = waiting.endIndex
        while index > 0, waiting[index - 1].arrival > arrival { index -= 1 }
        waiting.insert((arrival, element), at: index)
    }

    /// Removes and returns what has arrived by then.
    package mutating func take(until now: Instant) -> [(arrival: Instant, element: Element)] {
        let count = waiting.firstIndex { $0.arrival > now } ?? waiting.count
        guard count > 0 else { return [] }
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }
}

/// A link with a rate, a queue before it that drops what does not fit, a delay, and jitter that reorders: virtual time,
/// chance from the caller's generator.
package struct BottleneckLink<Packet> {
    package enum QueueLimit: Sendable {
        case bytes(Double)
        case nanoseconds(UInt64)
    }

    /// Bits per second.
    package var rate: Double
    package var queueLimit: QueueLimit
    package var delayNanoseconds: UInt64
    /// The most by which a packet is later than the others.
    package var jitterNanoseconds: UInt64 = 0
    private var freeAt = Instant(nanoseconds: 0)
    private var inFlight = ArrivalQueue<Packet>()

    package init(rate: Double, queueLimit: QueueLimit, delayNanoseconds: UInt64) {
        self.rate = rate
        self.queueLimit = queueLimit
        self.delayNanoseconds = delayNanoseconds
    }

    /// Returns false for a packet that the queue drops.
    @discardableResult
    package mutating func send(
        _ packet: Packet, byteCount: Int, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Bool {
        let begin = max(freeAt, now)
        guard hasSpace(begin.nanoseconds(since: now)) else { return false }
        freeAt = begin.adding(nanoseconds: UInt64(Double(byteCount) * 8e9 / rate))
        let late = jitterNanoseconds > 0 ? UInt64.random(in: 0...jitterNanoseconds, using: &random) : 0
        inFlight.insert(packet, arrival: freeAt.adding(nanoseconds: delayNanoseconds + late))
        return true
    }

    private func hasSpace(_ waitNanoseconds: UInt64) -> Bool {
        switch queueLimit {
        case .bytes(let limit): Double(waitNanoseconds) * rate / 8e9 <= limit
        case .nanoseconds(let limit): waitNanoseconds < limit
        }
    }

    /// Removes and returns what has arrived by then, in the order of arrival.
    package mutating func take(until now: Instant) -> [(arrival: Instant, element: Packet)] {
        inFlight.take(until: now)
    }
}

/// The minimum of the last one or two periods, in two numbers.
struct RecentMinimum<Value: Comparable & Sendable & AdditiveArithmetic>: Sendable {
    private let period: Value
    private var periodStart: Value?
    private var current: Value?
    private var previous: Value?

    init(period: Value) {
        self.period = period
    }

    /// Nil before the first.
    var value: Value? {
        guard let current else { return nil }
        return previous.map { min($0, current) } ?? current
    }

    mutating func add(_ value: Value, at time: Value) {
        guard let start = periodStart, let current else {
            periodStart = time
            self.current = value
            return
        }
        if time - start > period {
            previous = current
            self.current = value
            periodStart = time
        } else {
            self.current = min(current, value)
        }
    }
}

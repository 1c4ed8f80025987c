import CoreMetrics
import Synchronization

/// A counter, which only increases.
final class PrometheusCounter: CounterHandler, PrometheusMetric {
    private let value = Atomic<Int64>(0)

    var type: String { "counter" }

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }

    func write(name: String, labels: String, to text: inout String) {
        text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value.load(ordering: .relaxed))\n"
    }
}

/// A gauge, which goes up and down.
final class PrometheusGauge: MeterHandler, RecorderHandler, FloatingPointCounterHandler, PrometheusMetric {
    let type: String
    private let value = Mutex(0.0)

    init(type: String) { self.type = type }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func reset() { set(0.0) }

    func write(name: String, labels: String, to text: inout String) {
        text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value.withLock { $0 })\n"
    }
}

/// A copy of a histogram that is kept elsewhere.
final class PrometheusHistogramCopy: PrometheusMetric {
    private struct State {
        var bounds: [Double] = []
        var counts: [UInt64] = []
        var sum = 0.0
    }

    private let state = Mutex(State())

    var type: String { "histogram" }

    /// - Parameter counts: one more than `bounds`, for values above the last bound.
    func set(bounds: [Double], counts: [UInt64], sum: Double) {
        state.withLock { $0 = State(bounds: bounds, counts: counts, sum: sum) }
    }

    func write(name: String, labels: String, to text: inout String) {
        let state = state.withLock { $0 }
        writeHistogram(
            name, labels, zip(state.bounds, state.counts), sum: state.sum, count: state.counts.reduce(0, &+), to: &text)
    }
}

/// A histogram whose buckets are powers of two of milliseconds for durations, and powers of four for sizes.
final class PrometheusHistogram: TimerHandler, RecorderHandler, PrometheusMetric {
    private struct State {
        var buckets: [UInt64]
        var sum = 0.0
        var count: UInt64 = 0
    }

    private let bounds: [Double]
    private let scale: Double
    private let state: Mutex<State>

    init(isDuration: Bool) {
        // 0.25 ms to 65 s, or 1 to 4 194 304.
        bounds = isDuration ? (0..<19).map { 0.000_25 * Double(1 << $0) } : (0..<12).map { Double(1 << (2 * $0)) }
        scale = isDuration ? 1e-9 : 1
        state = Mutex(State(buckets: Array(repeating: 0, count: bounds.count)))
    }

    var type: String { "histogram" }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration)) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let scaled = value * scale
        let bucket = bounds.firstIndex { scaled <= $0 }
        state.withLock { state in
            if let bucket { state.buckets[bucket] += 1 }
            state.sum += scaled
            state.count += 1
        }
    }

    func write(name: String, labels: String, to text: inout String) {
        let state = state.withLock { $0 }
        writeHistogram(name, labels, zip(bounds, state.buckets), sum: state.sum, count: state.count, to: &text)
    }
}

/// Writes a histogram. In Prometheus, each bucket includes those before it.
private func writeHistogram(
    _ name: String, _ labels: String, _ buckets: some Sequence<(Double, UInt64)>, sum: Double, count: UInt64,
    to text: inout String
) {
    let prefix = labels.isEmpty ? "" : labels + ","
    var total: UInt64 = 0
    for (bound, count) in buckets {
        total += count
        text += "\(name)_bucket{\(prefix)le=\"\(bound)\"} \(total)\n"
    }
    let suffix = labels.isEmpty ? "" : "{\(labels)}"
    text += "\(name)_bucket{\(prefix)le=\"+Inf\"} \(count)\n"
    text += "\(name)_sum\(suffix) \(sum)\n\(name)_count\(suffix) \(count)\n"
}

import CoreMetrics
import Synchronization

/// The backend of swift-metrics, which Prometheus reads.
///
/// Labels must be bounded: a kind or a reason, never a user or an address. Counters are atomic, so that counting never
/// waits; the lock only guards the creation of metrics.
final class PrometheusRegistry: MetricsFactory {
    private let metrics = Mutex<[Key: any PrometheusMetric]>([:])

    struct Key: Hashable {
        let name: String
        let labels: String
    }

    init() {}

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        metric(label, dimensions) { PrometheusCounter() }
    }

    func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        metric(label, dimensions) { PrometheusGauge(type: "counter") }
    }

    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        if aggregate { return metric(label, dimensions) { PrometheusHistogram(isDuration: false) } }
        // Totals that are kept elsewhere are set like gauges, but are counters in Prometheus.
        return metric(label, dimensions) { PrometheusGauge(type: label.hasSuffix("_total") ? "counter" : "gauge") }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        metric(label, dimensions) { PrometheusGauge(type: "gauge") }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        metric(label, dimensions) { PrometheusHistogram(isDuration: true) }
    }

    /// Sets a histogram that is kept elsewhere.
    func setHistogram(_ label: String, bounds: [Double], counts: [UInt64], sum: Double) {
        let histogram: PrometheusHistogramCopy = metric(label, []) { PrometheusHistogramCopy() }
        histogram.set(bounds: bounds, counts: counts, sum: sum)
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    /// The metrics in Prometheus' text format 0.0.4.
    var text: String {
        let byName = Dictionary(grouping: metrics.withLock { $0.map { ($0.key, $0.value) } }, by: \.0.name)
        var text = ""
        for (name, entries) in byName.sorted(by: { $0.key < $1.key }) {
            guard let type = entries.first?.1.type else { continue }
            text += "# TYPE \(name) \(type)\n"
            for (key, metric) in entries.sorted(by: { $0.0.labels < $1.0.labels }) {
                metric.write(name: name, labels: key.labels, to: &text)
            }
        }
        return text
    }

    private func metric<Metric: PrometheusMetric>(
        _ label: String, _ dimensions: [(String, String)], _ make: () -> Metric
    ) -> Metric {
        let key = Key(name: Self.name(label), labels: Self.labels(dimensions))
        return metrics.withLock { metrics in
            // If the name has another type already, return a metric that is not registered instead of trapping.
            if let known = metrics[key] { return known as? Metric ?? make() }
            let made = make()
            metrics[key] = made
            return made
        }
    }

    private static func name(_ label: String) -> String {
        "switchboard_" + String(label.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    private static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.map { name, value in
            let escaped = value.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : $0 == "\n" ? "\\n" : String($0) }
            return "\(name)=\"\(String(escaped))\""
        }.joined(separator: ",")
    }
}

/// A metric that can write itself as lines of Prometheus' text.
protocol PrometheusMetric: AnyObject, Sendable {
    var type: String { get }
    func write(name: String, labels: String, to text: inout String)
}

import Metrics
import Webhooks

/// Counts attempts and what became of deliveries.
struct DeliveryMetrics: Sendable {
    private let delivered = Counter(label: "webhook_deliveries_total", dimensions: [("outcome", "delivered")])
    private let failed = Counter(label: "webhook_deliveries_total", dimensions: [("outcome", "failed")])
    private let retried = Counter(label: "webhook_deliveries_total", dimensions: [("outcome", "retried")])
    private let expired = Counter(label: "webhook_deliveries_total", dimensions: [("outcome", "expired")])
    /// The duration of each attempt.
    private let attempts = [true, false].map { isDelivered in
        Timer(label: "webhook_attempt_seconds", dimensions: [("outcome", isDelivered ? "delivered" : "failed")])
    }
    /// From the event to the response that it was received.
    private let delays = Timer(label: "webhook_delay_seconds")

    func attempted(_ result: Settlement.Result, duration: Duration) {
        var isDelivered = false
        if case .delivered = result { isDelivered = true }
        let timer = isDelivered ? attempts.first : attempts.last
        timer?.record(duration: duration)
    }

    /// - Parameter milliseconds: since the event.
    func delivered(after milliseconds: Int64) { delays.recordMilliseconds(max(0, milliseconds)) }

    /// Counts what is durable.
    func settled(_ result: Settlement.Result) {
        switch result {
        case .delivered: delivered.increment()
        case .retry: retried.increment()
        case .givenUp, .disabled: failed.increment()
        case .expired: expired.increment()
        case .released: break
        }
    }
}

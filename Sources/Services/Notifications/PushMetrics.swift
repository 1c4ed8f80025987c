import Metrics

/// Counts pushes by what became of them, and measures how long they took.
struct PushMetrics: Sendable {
    private let delivered = Counter(label: "pushes_total", dimensions: [("outcome", "delivered")])
    private let gone = Counter(label: "pushes_total", dimensions: [("outcome", "gone")])
    private let rejected = Counter(label: "pushes_total", dimensions: [("outcome", "rejected")])
    private let retried = Counter(label: "pushes_total", dimensions: [("outcome", "retried")])
    private let dropped = Counter(label: "pushes_total", dimensions: [("outcome", "dropped")])
    /// Not sent, since there was nothing to tell any more, or the device was there.
    private let unneeded = Counter(label: "pushes_total", dimensions: [("outcome", "unneeded")])
    /// From what is told to the service's response.
    private let delays = Timer(label: "push_delay_seconds")

    enum Outcome { case gone, rejected, retried, dropped, unneeded }

    func delivered(after milliseconds: Int64) {
        delivered.increment()
        delays.recordMilliseconds(max(0, milliseconds))
    }

    func count(_ outcome: Outcome) {
        switch outcome {
        case .gone: gone.increment()
        case .rejected: rejected.increment()
        case .retried: retried.increment()
        case .dropped: dropped.increment()
        case .unneeded: unneeded.increment()
        }
    }
}

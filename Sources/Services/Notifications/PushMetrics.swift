import Metrics
import Notifications

/// Counts pushes by their kind and by what became of them, and measures how long they took.
struct PushMetrics: Sendable {
    enum Outcome: String, CaseIterable {
        case delivered, gone, rejected, retried
        /// Not taken in time.
        case dropped
        /// Not sent, since there was nothing to tell any more, or the device was there.
        case unneeded
    }

    private let counters: [PushKind: [Outcome: Counter]]
    /// From what is told to the service's response.
    private let delays: [PushKind: Timer]

    init() {
        func byKind<Value>(_ make: (PushKind) -> Value) -> [PushKind: Value] {
            Dictionary(uniqueKeysWithValues: PushKind.allCases.map { ($0, make($0)) })
        }
        counters = byKind { kind in
            Dictionary(
                uniqueKeysWithValues: Outcome.allCases.map { outcome in
                    let dimensions = [("kind", kind.rawValue), ("outcome", outcome.rawValue)]
                    return (outcome, Counter(label: "pushes_total", dimensions: dimensions))
                })
        }
        delays = byKind { Timer(label: "push_delay_seconds", dimensions: [("kind", $0.rawValue)]) }
    }

    func delivered(_ kind: PushKind, after milliseconds: Int64) {
        count(.delivered, kind)
        delays[kind]?.recordMilliseconds(max(0, milliseconds))
    }

    func count(_ outcome: Outcome, _ kind: PushKind) { counters[kind]?[outcome]?.increment() }
}

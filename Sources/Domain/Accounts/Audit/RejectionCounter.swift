import Model

/// Counts rejections between two flushes to the audit log, so that an attack is a handful of rows and not one for each
/// attempt.
///
/// Refusals with the same actor, action, outcome and address are one entry. There are at most `capacity` of them; the
/// rest is counted by outcome alone.
package struct RejectionCounter: Sendable {
    private let capacity: Int
    private var counts: [AuditEntry: Count] = [:]

    private struct Count {
        var number: Int64 = 0
        /// The last request.
        var request: RequestID?
    }

    package init(capacity: Int = 256) { self.capacity = max(1, capacity) }

    package var isEmpty: Bool { counts.isEmpty }

    /// Adds the entry's `count` and its request; its `id` and `at` are ignored.
    package mutating func add(_ entry: AuditEntry) {
        var key = entry
        (key.id, key.at, key.count, key.request) = (nil, nil, 0, nil)
        if counts[key] == nil, counts.count >= capacity {
            key = AuditEntry(actor: .unknown, action: "several", outcome: entry.outcome, count: 0, request: nil)
        }
        counts[key, default: Count()].number &+= entry.count
        counts[key]?.request = entry.request
    }

    /// Returns the entries in a stable order, and begins anew.
    package mutating func removeAll() -> [AuditEntry] {
        defer { counts = [:] }
        return counts.map { key, count in
            var entry = key
            (entry.count, entry.request) = (count.number, count.request)
            return entry
        }.sorted { ($0.outcome, $0.action, $0.address ?? "") < ($1.outcome, $1.action, $1.address ?? "") }
    }
}

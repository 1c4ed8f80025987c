/// Counts refusals between two flushes to the audit log, so that an attack is a handful of rows and not one for each
/// attempt.
///
/// Refusals with the same actor, action, outcome and address are one entry. There are at most `capacity` of them; the
/// rest is counted by outcome alone.
package struct RefusalCounter: Sendable {
    private let capacity: Int
    private var counts: [AuditEntry: Int64] = [:]

    package init(capacity: Int = 256) { self.capacity = max(1, capacity) }

    package var isEmpty: Bool { counts.isEmpty }

    /// Adds the entry's `count`; its `id` and `at` are ignored.
    package mutating func add(_ entry: AuditEntry) {
        var key = entry
        (key.id, key.at, key.count) = (nil, nil, 0)
        if counts[key] == nil, counts.count >= capacity {
            key = AuditEntry(actor: .unknown, action: "several", outcome: entry.outcome, count: 0)
        }
        counts[key, default: 0] &+= entry.count
    }

    /// Returns the entries in a stable order, and begins anew.
    package mutating func removeAll() -> [AuditEntry] {
        defer { counts = [:] }
        return counts.map { key, count in
            var entry = key
            entry.count = count
            return entry
        }.sorted { ($0.outcome, $0.action, $0.address ?? "") < ($1.outcome, $1.action, $1.address ?? "") }
    }
}

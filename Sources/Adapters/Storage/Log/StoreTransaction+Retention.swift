package import Model

// The log keeps recent changes to resume from, not all: snapshots hold the current state.
extension StoreTransaction {
    /// Removes up to `limit` of the oldest changes that are older than `cutoff`, in the order of their inserts, so the
    /// cost depends only on the number of removed changes. Resuming from an earlier position then yields `reset`.
    /// Streams without changes are removed as well. Returns the number of removed changes; fewer than `limit` if there
    /// are no more.
    package func trim(before cutoff: Timestamp, limit: Int = 500) throws -> Int {
        var trimmed: [String: (sequence: Int64, bytes: Int64)] = [:]
        var last: Int64?
        var count = 0
        try sql.visit(
            "SELECT id, stream, seq, at, type, bytes FROM changes ORDER BY id LIMIT ?1", [.integer(max(1, limit))]
        ) { row in
            guard try row.time(3) < cutoff else { return false }
            let (stream, counted) = (try row.text(1), try row.text(4) == "offer" ? 0 : try row.integer(5))
            trimmed[stream, default: (0, 0)].bytes += counted
            trimmed[stream, default: (0, 0)].sequence = max(trimmed[stream]?.sequence ?? 0, try row.integer(2))
            last = try row.integer(0)
            count += 1
            return true
        }
        guard let last else { return 0 }
        try sql.execute("DELETE FROM changes WHERE id <= ?1", [.integer(last)])
        for (stream, removed) in trimmed {
            try sql.execute(
                """
                UPDATE streams SET trimmed = CASE WHEN trimmed < ?2 THEN ?2 ELSE trimmed END, bytes = bytes - ?3
                WHERE name = ?1
                """, [.text(stream), .integer(removed.sequence), .integer(removed.bytes)])
        }
        try forgetEmptyStreams(trimmed.keys.sorted())
        return count
    }

    /// Removes the rows of streams whose changes were all removed. A stream that is created again begins at 1, so it
    /// needs an epoch that it never had: new streams get another one if a stream of the current one is removed. Keyed state
    /// and the log of events are never begun again, and keep theirs.
    func forgetEmptyStreams(_ names: [String]) throws {
        var removed: Set<String> = []
        for batch in names.batches {
            let rows = try sql.query(
                """
                DELETE FROM streams WHERE trimmed = seq AND name IN \(Placeholders.list(batch.count)) RETURNING epoch
                """, batch.map { .text($0) })
            for row in rows { removed.insert(try row.text(0)) }
        }
        let current = try sql.first("SELECT \(Self.epochOfNewStreams)")?.textIfPresent(0)
        guard let current, removed.contains(current) else { return }
        try sql.execute("UPDATE log SET stream_epoch = ?1 WHERE id = 1", [.text(Store.newEpoch(at: now))])
    }
}

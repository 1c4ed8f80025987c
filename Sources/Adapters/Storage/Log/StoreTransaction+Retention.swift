package import Model

/// How far a sweep through the streams has come.
package struct TrimProgress: Sendable, Hashable {
    /// The last stream looked at; nil when the sweep has reached the end.
    package var next: String?
    package var removed: Int
}

// The log is kept short enough to resume from, not for ever: snapshots hold what is true now.
extension StoreTransaction {
    /// Removes changes older than `cutoff` from up to `count` streams after `name`, in the order of their names. A
    /// position before what was removed then yields `reset`. Called again with `next`, it walks through all streams in
    /// small transactions; no index is kept for it.
    package func trim(before cutoff: Timestamp, from name: String?, count: Int = 100) throws -> TrimProgress {
        let rows = try sql.query(
            "SELECT name, seq, trimmed, at FROM streams WHERE name > ?1 ORDER BY name LIMIT ?2",
            [.text(name ?? ""), .integer(max(1, count))])
        var removed = 0
        for row in rows where try row.integer(2) < row.integer(1) {
            let stream = try row.text(0)
            if try row.time(3) < cutoff {
                removed += try sql.execute("DELETE FROM changes WHERE stream = ?1", [.text(stream)])
                try sql.execute("UPDATE streams SET trimmed = seq WHERE name = ?1", [.text(stream)])
                continue
            }
            let last = try sql.first(
                "SELECT MAX(seq) FROM changes WHERE stream = ?1 AND at < ?2", [.text(stream), .time(cutoff)])
            guard let sequence = try last?.integerIfPresent(0) else { continue }
            removed += try sql.execute(
                "DELETE FROM changes WHERE stream = ?1 AND seq <= ?2", [.text(stream), .integer(sequence)])
            try sql.execute(
                "UPDATE streams SET trimmed = ?2 WHERE name = ?1", [.text(stream), .integer(sequence)])
        }
        let isLast = rows.count < max(1, count)
        return TrimProgress(next: isLast ? nil : try rows.last?.text(0), removed: removed)
    }

    /// Forgets a stream that nothing will be appended to again, such as those of a call that has ended long ago.
    package func remove(_ stream: StreamName) throws {
        try sql.execute("DELETE FROM changes WHERE stream = ?1", [.stream(stream)])
        try sql.execute("DELETE FROM streams WHERE name = ?1", [.stream(stream)])
    }
}

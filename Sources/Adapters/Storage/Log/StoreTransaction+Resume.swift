package import Model

/// What a listener that resumes from a position must receive.
package enum Resumption: Sendable, Hashable {
    /// The changes after its position, oldest first, and the position after them. If `isComplete` is false, there are
    /// more.
    case changes([Change], upTo: Position, isComplete: Bool)
    /// The log no longer has the missed changes: the listener needs a snapshot.
    case reset(ResetReason)
}

extension StoreTransaction {
    /// The changes of `stream` after `position`: at most `limit`, and at most `byteLimit` bytes, but at least one.
    package func changes(
        of stream: StreamName, after position: Position, limit: Int = 500, byteLimit: Int = 1 << 20
    ) throws -> Resumption {
        let (current, trimmed) = try state(of: stream)
        guard position.epoch == current.epoch else { return .reset(.epoch) }
        guard position.sequence >= trimmed, position.sequence <= current.sequence else { return .reset(.gap) }
        guard position.sequence < current.sequence else { return .changes([], upTo: current, isComplete: true) }
        var expected = position.sequence
        var bytes = 0
        var changes: [Change] = []
        try sql.visit(
            "SELECT seq, type, data FROM changes WHERE stream = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
            [.stream(stream), .integer(position.sequence), .integer(max(1, limit))]
        ) { row in
            let reached = Position(epoch: current.epoch, sequence: try row.integer(0))
            expected &+= 1
            guard reached.sequence == expected else {
                throw SQLError(.unexpectedValue, "The log of \(stream) has a gap before \(reached.sequence).")
            }
            let data = try row.text(2)
            bytes += data.utf8.count
            guard changes.isEmpty || bytes <= byteLimit else { return false }
            changes.append(Change(stream: stream, position: reached, type: try row.text(1), data: data))
            return true
        }
        guard let last = changes.last else { return .reset(.gap) }
        return .changes(changes, upTo: last.position, isComplete: last.position == current)
    }
}

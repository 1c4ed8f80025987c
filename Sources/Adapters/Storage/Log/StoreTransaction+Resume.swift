package import Model

/// What a listener that has seen everything up to a position still has to get.
package enum Resumption: Sendable, Hashable {
    /// The changes after its position, oldest first, and where they lead. When `isComplete` is false there are more.
    case changes([Change], upTo: Position, isComplete: Bool)
    /// The log cannot say what it missed: it needs a snapshot.
    case reset(ResetReason)
}

/// Why a listener has to start over; the raw values are the protocol's.
package enum ResetReason: String, Sendable {
    /// Changes it has not seen were removed from the log, or its position lies beyond the log's end.
    case gap
    /// The log was rebuilt since.
    case epoch
}

extension StoreTransaction {
    /// What happened in `stream` after `position`, at most `limit` changes of it, and no more once their texts have
    /// `byteLimit` bytes: a first change always comes.
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
                throw SQLError(.unexpectedValue, "The log of \(stream) has a hole before \(reached.sequence).")
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

internal import Calls
package import Model

/// A part of the log that names a user.
package struct NamingEntries: Sendable {
    /// The sequences of the entries that name the user, by stream.
    package var streams: [StreamName: [Int64]] = [:]
    /// The last entry that was looked at; nil if there was none.
    package var last: Int64?
}

// The log keeps what was written while the user existed, with the name and texts of the user.
extension StoreTransaction {
    /// The last entry of the log; 0 if there is none.
    package func lastEntry() throws -> Int64 {
        try sql.first("SELECT MAX(id) FROM changes")?.integerIfPresent(0) ?? 0
    }

    /// Looks for entries that name the user in the next `limit` entries after `id`. Only reads, so that it may take its
    /// time.
    package func entriesNaming(_ user: UserID, after id: Int64, limit: Int) throws -> NamingEntries {
        var found = NamingEntries()
        let rows = try sql.first(
            "SELECT MAX(id) FROM (SELECT id FROM changes WHERE id > ?1 ORDER BY id LIMIT ?2) page",
            [.integer(id), .integer(limit)])
        guard let last = try rows?.integerIfPresent(0) else { return found }
        found.last = last
        let naming = try sql.query(
            "SELECT stream, seq FROM changes WHERE id > ?1 AND id <= ?2 AND data LIKE ?3",
            [.integer(id), .integer(last), .text("%\(user.text)%")])
        for row in naming {
            guard let stream = StreamName(try row.text(0)) else { continue }
            found.streams[stream, default: []].append(try row.integer(1))
        }
        return found
    }

    /// Removes the entries of a stream up to the last that names a user: a client that resumes from before it gets a
    /// reset. In a mailbox only those entries lose their payloads. Removes at most `limit` entries, fewer if there are
    /// no more; returns how many.
    package func eraseEntries(_ sequences: [Int64], of stream: StreamName, limit: Int) throws -> Int {
        guard let last = sequences.max() else { return 0 }
        if case .signals = stream {
            try supersede(sequences, of: stream)
            return 0
        }
        try sql.execute(
            "UPDATE streams SET trimmed = ?2 WHERE name = ?1 AND trimmed < ?2", [.stream(stream), .integer(last)])
        let removed = try sql.execute(
            """
            DELETE FROM changes WHERE id IN (SELECT id FROM changes WHERE stream = ?1 AND seq <= ?2 LIMIT ?3)
            """, [.stream(stream), .integer(last), .integer(limit)])
        guard removed < limit else { return removed }
        // Nothing is appended to the stream of a call that has ended; others get entries again, and are trimmed later.
        if case .call(let call) = stream,
            try sql.first("SELECT 1 FROM calls WHERE id = ?1 AND status <> 'ended'", [.id(call)]) == nil
        {
            try forgetEmptyStreams([stream.text])
        }
        return removed
    }

    /// Removes entries of a deleted user's own stream, and in the end the stream. Returns whether there are more.
    package func eraseStream(of user: UserID, limit: Int) throws -> Bool {
        let stream = StreamName.user(user)
        let removed = try sql.execute(
            "DELETE FROM changes WHERE id IN (SELECT id FROM changes WHERE stream = ?1 LIMIT ?2)",
            [.stream(stream), .integer(limit)])
        guard removed < limit else { return true }
        try sql.execute("UPDATE streams SET trimmed = seq WHERE name = ?1", [.stream(stream)])
        try forgetEmptyStreams([stream.text])
        return false
    }
}

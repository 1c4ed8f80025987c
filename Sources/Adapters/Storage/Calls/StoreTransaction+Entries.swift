package import Calls
internal import Model

extension StoreTransaction {
    /// Appends entries to any number of streams with one statement for the sequences and one for the log, which is the
    /// cost of a command that appends to the streams of a call, its participants and their mailboxes at once.
    @discardableResult
    package func append(_ entries: [StreamEntry]) throws -> [Int64] {
        if entries.count == 1, let entry = entries.first, entry.mail == nil {
            return [try append(entry.type, json: entry.data, to: entry.stream).sequence]
        }
        let reserved = try reserve(entries)
        var next = reserved.mapValues(\.first)
        let appended = try entries.map { entry in
            guard let position = next[entry.stream] else {
                throw SQLError(.failed, "The stream \(entry.stream) returned no sequence.")
            }
            next[entry.stream]?.sequence += 1
            return Change(stream: entry.stream, position: position, type: entry.type, data: entry.data)
        }
        for batch in Array(zip(appended, entries)).batches {
            try sql.execute(
                """
                INSERT INTO changes (stream, seq, type, data, at, sender, generation, bytes)
                VALUES \(Placeholders.rows(batch.count, of: 8))
                """,
                batch.flatMap { change, entry in
                    [
                        SQLValue.stream(change.stream), .integer(change.position.sequence), .text(change.type),
                        .text(change.data), .time(now), .id(entry.mail?.sender), .integer(entry.mail?.generation),
                        .integer(entry.keptBytes),
                    ]
                })
        }
        changes += appended
        for (stream, reached) in reserved { try enforceLimits(of: stream, reached) }
        return appended.map(\.position.sequence)
    }

    /// The sequences reserved in a stream, and its state with them.
    struct Reserved {
        var first: Position
        var last: Int64
        var trimmed: Int64
        var bytes: Int64
    }

    /// Reserves as many sequences in each stream as it gets entries.
    private func reserve(_ entries: [StreamEntry]) throws -> [StreamName: Reserved] {
        var counts: [(stream: StreamName, count: Int64, bytes: Int64)] = []
        for entry in entries {
            guard entry.stream.isDurable else {
                throw SQLError(.failed, "The stream \(entry.stream) is ephemeral: nothing can be appended to it.")
            }
            if let index = counts.firstIndex(where: { $0.stream == entry.stream }) {
                counts[index].count += 1
                counts[index].bytes += entry.countedBytes
            } else {
                counts.append((entry.stream, 1, entry.countedBytes))
            }
        }
        var reserved: [StreamName: Reserved] = [:]
        for batch in counts.batches {
            let rows = batch.indices.map { index in
                let base = (index - batch.startIndex) * 4
                return """
                    (?\(base + 1), \(Self.epochOfNewStreams), ?\(base + 2), 0, ?\(base + 3), ?\(base + 4))
                    """
            }
            let reached = try sql.query(
                """
                INSERT INTO streams (name, epoch, seq, trimmed, at, bytes) VALUES \(rows.joined(separator: ", "))
                ON CONFLICT (name) DO UPDATE SET
                    seq = streams.seq + excluded.seq, at = excluded.at, bytes = streams.bytes + excluded.bytes
                RETURNING name, epoch, seq, trimmed, bytes
                """, batch.flatMap { [SQLValue.stream($0.stream), .integer($0.count), .time(now), .integer($0.bytes)] })
            for row in reached {
                let name = try row.text(0)
                guard let (stream, count, _) = batch.first(where: { $0.stream.text == name }) else { continue }
                let last = try row.integer(2)
                reserved[stream] = Reserved(
                    first: Position(epoch: try row.text(1), sequence: last - count + 1), last: last,
                    trimmed: try row.integer(3), bytes: try row.integer(4))
            }
        }
        return reserved
    }
}

extension StreamEntry {
    /// The bytes that a mailbox keeps for it.
    var keptBytes: Int64 {
        mail == nil ? 0 : Int64(data.utf8.count) &+ MailboxLimits.standard.entryBytes
    }

    /// The bytes that count against the limit of a mailbox; offers do not count, since the current one is always kept.
    var countedBytes: Int64 { type == Signal.Kind.offer.rawValue ? 0 : keptBytes }
}

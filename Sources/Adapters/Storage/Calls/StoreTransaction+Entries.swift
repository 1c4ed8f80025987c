package import Calls
internal import Model

extension StoreTransaction {
    /// Appends entries to any number of streams with one statement for the sequences and one for the log, which is
    /// what a command costs that tells a call, its participants and their mailboxes at once.
    @discardableResult
    package func append(_ entries: [StreamEntry]) throws -> [Int64] {
        if entries.count == 1, let entry = entries.first, entry.mail == nil {
            return [try append(entry.type, json: entry.data, to: entry.stream).sequence]
        }
        let reserved = try reserve(entries)
        var next = reserved.mapValues(\.first)
        let appended = try entries.map { entry in
            guard let position = next[entry.stream] else {
                throw SQLError(.failed, "The stream \(entry.stream) gave no sequence.")
            }
            next[entry.stream]?.sequence += 1
            return Change(stream: entry.stream, position: position, type: entry.type, data: entry.data)
        }
        for some in Array(zip(appended, entries)).parts {
            try sql.execute(
                """
                INSERT INTO changes (stream, seq, type, data, at, sender, generation, bytes)
                VALUES \(Placeholders.rows(some.count, of: 8))
                """,
                some.flatMap { change, entry in
                    [
                        SQLValue.stream(change.stream), .integer(change.position.sequence), .text(change.type),
                        .text(change.data), .time(now), .id(entry.mail?.sender), .integer(entry.mail?.generation),
                        .integer(entry.keptBytes),
                    ]
                })
        }
        changes += appended
        for (stream, reached) in reserved { try bound(stream, reached) }
        return appended.map(\.position.sequence)
    }

    /// Where the entries of a stream begin, and what it holds with them.
    struct Reserved {
        var first: Position
        var last: Int64
        var trimmed: Int64
        var bytes: Int64
    }

    /// Takes as many sequences from each stream as it gets entries.
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
        for some in counts.parts {
            let rows = some.indices.map { index in
                let place = (index - some.startIndex) * 4
                return """
                    (?\(place + 1), (SELECT epoch FROM log WHERE id = 1), ?\(place + 2), 0, ?\(place + 3), ?\(place + 4))
                    """
            }
            let reached = try sql.query(
                """
                INSERT INTO streams (name, epoch, seq, trimmed, at, bytes) VALUES \(rows.joined(separator: ", "))
                ON CONFLICT (name) DO UPDATE SET
                    seq = streams.seq + excluded.seq, at = excluded.at, bytes = streams.bytes + excluded.bytes
                RETURNING name, epoch, seq, trimmed, bytes
                """, some.flatMap { [SQLValue.stream($0.stream), .integer($0.count), .time(now), .integer($0.bytes)] })
            for row in reached {
                let name = try row.text(0)
                guard let (stream, count, _) = some.first(where: { $0.stream.text == name }) else { continue }
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
    /// What a mailbox keeps for it.
    var keptBytes: Int64 {
        mail == nil ? 0 : Int64(data.utf8.count) &+ MailboxLimits.standard.entryBytes
    }

    /// What of it counts against the bound of a mailbox: standing offers stay in any case.
    var countedBytes: Int64 { type == Signal.Kind.offer.rawValue ? 0 : keptBytes }
}

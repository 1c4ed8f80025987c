package import Calls
internal import Model

extension StoreTransaction {
    /// Appends entries to any number of streams with one statement for the sequences and one for the log, which is
    /// what a command costs that tells a call, its participants and their mailboxes at once.
    @discardableResult
    package func append(_ entries: [StreamEntry]) throws -> [Int64] {
        if entries.count == 1, let entry = entries.first {
            return [try append(entry.type, json: entry.data, to: entry.stream).sequence]
        }
        var next = try reserve(entries)
        let appended = try entries.map { entry in
            guard let position = next[entry.stream] else {
                throw SQLError(.failed, "The stream \(entry.stream) gave no sequence.")
            }
            next[entry.stream]?.sequence += 1
            return Change(stream: entry.stream, position: position, type: entry.type, data: entry.data)
        }
        for some in appended.parts {
            try sql.execute(
                "INSERT INTO changes (stream, seq, type, data, at) VALUES \(Placeholders.rows(some.count, of: 5))",
                some.flatMap {
                    [
                        SQLValue.stream($0.stream), .integer($0.position.sequence), .text($0.type), .text($0.data),
                        .time(now),
                    ]
                })
        }
        changes += appended
        return appended.map(\.position.sequence)
    }

    /// Takes as many sequences from each stream as it gets entries, and returns the first of each.
    private func reserve(_ entries: [StreamEntry]) throws -> [StreamName: Position] {
        var counts: [(stream: StreamName, count: Int64)] = []
        for entry in entries {
            guard entry.stream.isDurable else {
                throw SQLError(.failed, "The stream \(entry.stream) is ephemeral: nothing can be appended to it.")
            }
            if let index = counts.firstIndex(where: { $0.stream == entry.stream }) {
                counts[index].count += 1
            } else {
                counts.append((entry.stream, 1))
            }
        }
        var first: [StreamName: Position] = [:]
        for some in counts.parts {
            let rows = some.indices.map { index in
                let place = (index - some.startIndex) * 3
                return "(?\(place + 1), (SELECT epoch FROM log WHERE id = 1), ?\(place + 2), 0, ?\(place + 3))"
            }
            let reached = try sql.query(
                """
                INSERT INTO streams (name, epoch, seq, trimmed, at) VALUES \(rows.joined(separator: ", "))
                ON CONFLICT (name) DO UPDATE SET seq = streams.seq + excluded.seq, at = excluded.at
                RETURNING name, epoch, seq
                """, some.flatMap { [SQLValue.stream($0.stream), .integer($0.count), .time(now)] })
            for row in reached {
                let name = try row.text(0)
                guard let (stream, count) = some.first(where: { $0.stream.text == name }) else { continue }
                first[stream] = Position(epoch: try row.text(1), sequence: try row.integer(2) - count + 1)
            }
        }
        return first
    }
}

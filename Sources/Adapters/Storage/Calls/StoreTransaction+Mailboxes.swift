package import Calls
package import Model

// Mailboxes: streams of the log whose obsolete entries lose their payloads.
extension StoreTransaction {
    package func mail(in mailbox: StreamName, at sequence: Int64) throws -> String? {
        try sql.first(
            "SELECT data FROM changes WHERE stream = ?1 AND seq = ?2", [.stream(mailbox), .integer(sequence)]
        ).map { try $0.text(0) }
    }

    /// The content of an endpoint's mailbox, as in the snapshot of its stream: `{"signals":[{seq,type,data}]}`.
    package func mailboxJSON(of endpoint: EndpointID, in call: CallID) throws -> String {
        let rows = try sql.query(
            "SELECT seq, type, data FROM changes WHERE stream = ?1 AND data <> ?2 ORDER BY seq",
            [.stream(.signals(call, endpoint)), .text(MailboxLimits.superseded)])
        let signals = try rows.map { (try $0.integer(0), try $0.text(1), try $0.text(2)) }
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("signals")
            writer.array(signals) { writer, signal in
                writer.object { writer in
                    writer.member("seq", signal.0)
                    writer.member("type", signal.1)
                    writer.name("data")
                    writer.write(json: signal.2)
                }
            }
        }
        return writer.text
    }

    package func supersede(
        _ kinds: Set<Signal.Kind>, from sender: EndpointID, in mailbox: StreamName, before generation: Int64
    ) throws {
        let rows = try sql.query(
            "SELECT seq, type, bytes FROM changes WHERE stream = ?1 AND sender = ?2 AND generation < ?3",
            [.stream(mailbox), .id(sender), .integer(generation)])
        let void = try rows.filter { row in try Signal.Kind(rawValue: row.text(1)).map(kinds.contains) ?? false }
        try removePayloads(void, of: mailbox)
    }

    /// Removes payloads, and entries without one, from a mailbox that exceeds its limits.
    func enforceLimits(of mailbox: StreamName, _ reached: Reserved) throws {
        guard case .signals = mailbox else { return }
        let limits = MailboxLimits.standard
        var excess = reached.bytes - limits.bytes
        while excess > 0 {
            let most = try sql.first(
                """
                SELECT sender, SUM(bytes) AS held FROM changes
                WHERE stream = ?1 AND sender IS NOT NULL AND type <> 'offer' GROUP BY sender ORDER BY held DESC LIMIT 1
                """, [.stream(mailbox)])
            guard let sender = try most?.value(0) else { break }
            var oldest: [SQLRow] = []
            try sql.visit(
                """
                SELECT seq, type, bytes FROM changes WHERE stream = ?1 AND sender = ?2 AND type <> 'offer' ORDER BY seq
                """, [.stream(mailbox), sender]
            ) { row in
                oldest.append(row)
                excess -= try row.integer(2)
                return excess > 0 && oldest.count < 64
            }
            guard !oldest.isEmpty else { break }
            try removePayloads(oldest, of: mailbox)
        }
        guard reached.last - reached.trimmed > limits.entries else { return }
        let trimmed = SQLValue.integer(reached.last - limits.entries / 2)
        // Entries with a payload stay for the snapshot, which a client that resumes from an earlier position gets.
        try sql.execute("UPDATE streams SET trimmed = ?2 WHERE name = ?1", [.stream(mailbox), trimmed])
        try sql.execute(
            "DELETE FROM changes WHERE stream = ?1 AND seq <= ?2 AND data = ?3",
            [.stream(mailbox), trimmed, .text(MailboxLimits.superseded)])
    }

    /// Removes the payloads of these entries.
    func supersede(_ sequences: [Int64], of mailbox: StreamName) throws {
        for batch in sequences.batches {
            let rows = try sql.query(
                """
                SELECT seq, type, bytes FROM changes WHERE stream = ?1 AND seq IN \(Placeholders.list(batch.count, from: 2))
                """, [.stream(mailbox)] + batch.map { .integer($0) })
            try removePayloads(rows, of: mailbox)
        }
    }

    /// - Parameter rows: seq, type and bytes of entries with a payload.
    private func removePayloads(_ rows: [SQLRow], of mailbox: StreamName) throws {
        guard !rows.isEmpty else { return }
        for batch in rows.batches {
            try sql.execute(
                """
                UPDATE changes SET data = ?1, sender = NULL, generation = NULL, bytes = 0
                WHERE stream = ?2 AND seq IN \(Placeholders.list(batch.count, from: 3))
                """, [.text(MailboxLimits.superseded), .stream(mailbox)] + batch.map { try $0.value(0) })
        }
        let counted = try rows.filter { try $0.text(1) != Signal.Kind.offer.rawValue }
        let bytes = try counted.reduce(0) { try $0 + $1.integer(2) }
        guard bytes > 0 else { return }
        try sql.execute(
            "UPDATE streams SET bytes = bytes - ?2 WHERE name = ?1", [.stream(mailbox), .integer(bytes)])
    }

    package func trimMailbox(
        of endpoint: EndpointID, in call: CallID, longerThan length: Int64, before sequence: Int64
    ) throws {
        let mailbox = SQLValue.stream(.signals(call, endpoint))
        let trimmed = try sql.execute(
            "UPDATE streams SET trimmed = ?2 - 1 WHERE name = ?1 AND seq - trimmed > ?3 AND trimmed < ?2 - 1",
            [mailbox, .integer(sequence), .integer(length)])
        guard trimmed > 0 else { return }
        try sql.execute("DELETE FROM changes WHERE stream = ?1 AND seq < ?2", [mailbox, .integer(sequence)])
    }

    /// The stream keeps its sequence, since the endpoint may join the call again.
    package func closeMailbox(of endpoint: EndpointID, in call: CallID) throws {
        let mailbox = SQLValue.stream(.signals(call, endpoint))
        try sql.execute("DELETE FROM changes WHERE stream = ?1", [mailbox])
        try sql.execute("UPDATE streams SET trimmed = seq, bytes = 0 WHERE name = ?1", [mailbox])
        try sql.execute(
            "DELETE FROM negotiations WHERE call_id = ?1 AND (first_endpoint = ?2 OR second_endpoint = ?2)",
            [.id(call), .id(endpoint)])
        try sql.execute(
            """
            UPDATE signals SET data = NULL
            WHERE call_id = ?1 AND (endpoint_id = ?2 OR to_endpoint = ?2) AND data IS NOT NULL
            """, [.id(call), .id(endpoint)])
    }
}

// The end of mailboxes.
extension StoreTransaction {
    /// The maximum number of rows that the end of a call removes at once; most calls have fewer.
    private static let rowsRemovedAtOnce = 200

    package func removeSignals(in call: CallID) throws {
        guard try !removeSignals(in: call, atMost: Self.rowsRemovedAtOnce) else { return }
        try sql.execute("INSERT INTO ended_mailboxes (call_id) VALUES (?1) ON CONFLICT DO NOTHING", [.id(call)])
    }

    /// Removes some of the remaining signals of calls that have ended. Returns whether there are more.
    package func removeEndedSignals(limit: Int = 500) throws -> Bool {
        guard let row = try sql.first("SELECT call_id FROM ended_mailboxes ORDER BY call_id LIMIT 1") else {
            return false
        }
        let call: CallID = try row.id(0)
        if try removeSignals(in: call, atMost: limit) {
            try sql.execute("DELETE FROM ended_mailboxes WHERE call_id = ?1", [.id(call)])
        }
        return true
    }

    /// Returns whether nothing is left.
    private func removeSignals(in call: CallID, atMost limit: Int) throws -> Bool {
        // Names that begin with "signals:<call>:", since ";" follows ":".
        let names: [SQLValue] = [.text("signals:\(call.text):"), .text("signals:\(call.text);")]
        let changes = try sql.execute(
            """
            DELETE FROM changes WHERE id IN (SELECT id FROM changes WHERE stream > ?1 AND stream < ?2 LIMIT ?3)
            """, names + [.integer(limit)])
        guard changes < limit else { return false }
        let signals = try sql.execute(
            """
            DELETE FROM signals WHERE (call_id, user_id, client_id) IN (
                SELECT call_id, user_id, client_id FROM signals WHERE call_id = ?1 LIMIT ?2)
            """, [.id(call), .integer(limit)])
        guard signals < limit else { return false }
        try sql.execute("DELETE FROM streams WHERE name > ?1 AND name < ?2", names)
        try sql.execute("DELETE FROM negotiations WHERE call_id = ?1", [.id(call)])
        return true
    }
}

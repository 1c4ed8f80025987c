package import Model

extension AuditEntry {
    /// `{"at":…,"actor":"key:…","action":…,"subject":…,"outcome":…,"address":…,"count":…,"request":…}`
    package var json: String {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.text
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("at", at)
            writer.member("actor", actor.text)
            writer.member("action", action)
            writer.member("subject", subject)
            writer.member("outcome", outcome)
            writer.member("address", address)
            writer.member("count", count)
            writer.member("request", request?.text)
        }
    }

    /// The same as columns, separated by tabs; `-` for what is absent.
    package var line: String {
        [
            at?.text ?? "-", actor.text, action, subject ?? "-", count == 1 ? outcome : "\(outcome) × \(count)",
            address ?? "-", request?.text ?? "-",
        ].joined(separator: "\t")
    }
}

extension AuditActor {
    /// `operator`, `key:<id>`, `user:<id>` or `unknown`.
    package var text: String {
        let (kind, id) = columns
        return id.map { "\(kind):\($0)" } ?? kind
    }
}

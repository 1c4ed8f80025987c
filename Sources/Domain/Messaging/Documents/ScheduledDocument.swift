package import Model

extension ScheduledMessage {
    /// Writes the document that its author alone sees.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("conversation", conversation)
            writer.member("clientID", clientID)
            writer.member("text", text)
            writer.member("replyTo", replyTo)
            writer.member("thread", thread)
            writer.member("sendAt", sendAt)
            writer.member("createdAt", createdAt)
            if let failure {
                writer.name("failure")
                writer.object { writer in
                    writer.member("type", failure.kind.rawValue)
                    writer.member("detail", failure.detail)
                }
            }
            writer.member("counter", counter)
        }
    }
}

extension ScheduledSummary {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("count", Int64(count))
            writer.member("failed", Int64(failed))
            writer.member("counter", counter)
        }
    }
}

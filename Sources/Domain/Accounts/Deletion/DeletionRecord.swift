import FoundationEssentials
package import Model

/// A deletion as the audit log has it, so that it can be repeated after a backup was restored.
package enum DeletionRecord {
    /// The actions of the audit log that delete a user, who is their subject.
    package static let actions: Set<String> = [
        "me.delete", "server.users.delete", "admin.users.delete", "account.delete",
    ]
    /// A longer line is none of the audit log.
    package static let maxLineLength = 16_384

    private struct Members: Decodable {
        var action: String
        var subject: String
        var outcome: String
    }

    /// The deleted user of a line; nil if it is about something else.
    ///
    /// It may be a line of `switchboard audit`, with or without `--json`, or of the server's log in either format.
    package static func user(in line: some StringProtocol) -> UserID? {
        guard line.utf8.count <= maxLineLength, actions.contains(where: { line.contains($0) }) else { return nil }
        let line = AccountRules.trimmed(String(line))
        guard let members = line.hasPrefix("{") ? json(line) : columns(line) ?? pairs(line),
            actions.contains(members.action), members.outcome == AuditEntry.done
        else { return nil }
        return UserID(members.subject)
    }

    private static func json(_ line: String) -> Members? {
        try? JSONDecoder().decode(Members.self, from: Data(line.utf8))
    }

    /// The tab-separated columns of `AuditEntry.line`.
    private static func columns(_ line: String) -> Members? {
        let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard columns.count >= 5 else { return nil }
        return Members(action: columns[2], subject: columns[3], outcome: columns[4])
    }

    /// `… audit: audit action=me.delete actor=… outcome=done subject=…`
    private static func pairs(_ line: String) -> Members? {
        var values: [Substring: Substring] = [:]
        for word in line.split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        guard let action = values["action"], let subject = values["subject"], let outcome = values["outcome"] else {
            return nil
        }
        return Members(action: String(action), subject: String(subject), outcome: String(outcome))
    }
}

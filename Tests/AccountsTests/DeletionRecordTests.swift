import Accounts
import Model
import Testing

/// Deletions in lines of the audit log and of the server's log.
@Suite struct DeletionRecordTests {
    let user = "01234567-89ab-7cde-8f01-23456789abcd"

    @Test(arguments: ["me.delete", "server.users.delete", "admin.users.delete", "account.delete"])
    func everyKindOfLineIsRead(_ action: String) throws {
        let id = try #require(UserID(user))
        let entry = AuditEntry(at: Timestamp(milliseconds: 0), actor: .user(id), action: action, subject: user)
        let log = "action=\(action) actor=user:\(user) outcome=done request=0123 subject=\(user)"
        for line in [
            entry.line, entry.json, "2026-11-24T12:00:00.000Z NOTICE audit: audit \(log)", entry.line + "\r",
            #"{"time":"…","level":"notice","label":"audit","message":"audit","action":"\#(action)","actor":"operator","#
                + #""outcome":"done","subject":"\#(user)"}"#,
        ] { #expect(DeletionRecord.user(in: line) == id, "\(line)") }
    }

    @Test func otherLinesAreNone() {
        for line in [
            "", "me.delete", "{", "audit action=me.delete outcome=done", "audit action=me.delete subject=\(user)",
            "audit action=account.disable outcome=done subject=\(user)",
            "audit action=server.users.delete outcome=scope subject=\(user)",
            "audit action=me.delete outcome=done subject=ann", "\t\tme.delete\t\(user)\trefused\t",
            #"{"action":"me.delete","subject":7,"outcome":"done"}"#,
            String(repeating: " ", count: DeletionRecord.maxLineLength)
                + "action=me.delete outcome=done subject=\(user)",
        ] { #expect(DeletionRecord.user(in: line) == nil, "\(line)") }
    }

    @Test func anAccountIsNamedInThreeWays() throws {
        let id = try #require(UserID(user))
        #expect(try AccountReference(user) == .user(.id(id)))
        #expect(try AccountReference("ext:7") == .user(.external("7")))
        #expect(try AccountReference("ext:a@b") == .user(.external("a@b")))
        #expect(try AccountReference(" Ann@example.org ") == .email("Ann@example.org"))
        for text in ["", "ann", "ext:", "@", "a@b"] {
            #expect(throws: Problem.self, "\(text)") { try AccountReference(text) }
        }
    }
}

import Accounts
import Languages
import Messaging
import Model

// Notices.
extension TransferReader {
    static func notice(_ reader: inout RecordReader) throws -> TransferNotice? {
        guard var object = try reader.object("notice") else { return nil }
        var notice = TransferNotice(kind: try object.choice("kind"))
        notice.users = try object.ids("users", most: Notice.maxUsers)
        notice.userCount = try object.optionalInteger("userCount").map { Int(clamping: max(0, $0)) }
        notice.name = try object.optionalText("name").map { try AccountRules.displayName($0, field: "notice.name") }
        notice.settings = try settings(&object)
        if object.has("role") { notice.role = try object.choice("role") }
        notice.disappearAfter = try object.optionalInteger("disappearAfter")
        try Disappearing.check(notice.disappearAfter)
        notice.message = try object.optionalID("message")
        if object.has("via") { notice.via = try object.choice("via") }
        notice.isByServer = try object.bool("server")
        try object.end("A notice")
        return notice
    }

    static func checkNotice(_ message: TransferMessage) throws {
        guard message.notice != nil, message.text == nil, message.call == nil, message.edits.isEmpty,
            message.reactions.isEmpty, message.forwardedFrom == nil, message.replyTo == nil, message.thread == nil,
            !message.isPinned
        else {
            throw Problem.invalid(
                "notice", "A message of kind notice has a notice, and neither text nor what hangs on messages.")
        }
    }
}

extension TransferNotice {
    func write(to writer: inout JSONWriter) {
        writer.name("notice")
        writer.object { writer in
            writer.member("kind", kind.rawValue)
            if !users.isEmpty {
                writer.name("users")
                writer.array(users) { $0.write($1) }
            }
            writer.member("userCount", userCount.map { Int64($0) })
            writer.member("name", name)
            if let settings {
                writer.name("settings")
                writer.object { writer in
                    writer.member("write", settings.write.rawValue)
                    writer.member("add", settings.add.rawValue)
                    writer.member("rename", settings.rename.rawValue)
                    writer.member("keepDays", Int64(settings.keepDays))
                    writer.member("intelligence", settings.intelligence?.rawValue)
                }
            }
            writer.member("role", role?.rawValue)
            writer.member("disappearAfter", disappearAfter)
            writer.member("message", message)
            writer.member("via", via?.rawValue)
            if isByServer { writer.member("server", true) }
        }
    }
}

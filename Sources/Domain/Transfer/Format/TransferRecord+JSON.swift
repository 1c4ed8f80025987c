import Languages
import Messaging
import Model
import Notifications

extension TransferRecord {
    /// The line of the record, without its end. What is read from it is the same record.
    package func json(source: String? = nil) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.member("type", type)
            writer.member("source", source)
            switch self {
            case .user(let user): user.write(to: &writer)
            case .conversation(let conversation): conversation.write(to: &writer)
            case .message(let message): message.write(to: &writer)
            case .member(let member): member.write(to: &writer)
            case .own(let own): own.write(to: &writer)
            }
        }
        return writer.bytes
    }
}

extension TransferUser {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("ext", ext)
        writer.member("email", email)
        writer.member("name", name)
        writer.texts("languages", languages)
        writer.member("createdAt", createdAt)
        writer.member("passwordHash", passwordHash)
        writer.member("notifications", notifications?.rawValue)
        if let quietHours {
            writer.name("quietHours")
            writer.object { writer in
                writer.member("from", QuietHours.text(quietHours.from))
                writer.member("to", QuietHours.text(quietHours.to))
                writer.member("zone", quietHours.zone)
            }
        }
        guard !pushes.isEmpty else { return }
        writer.name("pushes")
        writer.array(pushes) { writer, push in
            writer.object { writer in
                writer.member("device", push.device)
                writer.member("kind", push.kind.rawValue)
                writer.member("createdAt", push.createdAt)
                writer.member("updatedAt", push.updatedAt)
                writer.flag("shared", push.isShared)
            }
        }
    }
}

extension TransferConversation {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("kind", kind.rawValue)
        writer.texts("members", members)
        writer.member("name", name)
        writer.member("createdAt", createdAt)
        writer.member("disappearAfter", disappearAfter)
        guard settings != ConversationSettings() else { return }
        writer.name("settings")
        writer.object { writer in
            writer.member("write", settings.write.rawValue)
            writer.member("add", settings.add.rawValue)
            writer.member("rename", settings.rename.rawValue)
            writer.member("keepDays", settings.keepDays > 0 ? Int64(settings.keepDays) : nil)
            writer.member("intelligence", settings.intelligence?.rawValue)
        }
    }
}

extension TransferMessage {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("conversation", conversation)
        writer.member("author", author)
        writer.member("sentAt", sentAt)
        if kind != .text { writer.member("kind", kind.rawValue) }
        writer.member("text", text)
        writer.member("language", language?.string)
        call?.write(to: &writer)
        voice?.write(to: &writer)
        notice?.write(to: &writer)
        writer.member("replyTo", replyTo)
        writer.member("thread", thread)
        writer.member("forwardedFrom", forwardedFrom)
        writer.member("editedAt", editedAt)
        if !edits.isEmpty {
            writer.name("edits")
            writer.array(edits) { writer, edit in
                writer.object { writer in
                    writer.member("text", edit.text)
                    writer.member("writtenAt", edit.writtenAt)
                    writer.flag("withheld", edit.isWithheld)
                }
            }
        }
        writer.member("deletedAt", deletedAt)
        writer.member("expiresAt", expiresAt)
        if !reactions.isEmpty {
            writer.name("reactions")
            writer.array(reactions) { writer, reaction in
                writer.object { writer in
                    writer.member("user", reaction.user)
                    writer.member("emoji", reaction.emoji)
                    writer.member("at", reaction.at)
                    writer.flag("withheld", reaction.isWithheld)
                }
            }
        }
        writer.flag("pinned", isPinned)
        writer.flag("withheld", isWithheld)
        writer.flag("textWithheld", isTextWithheld)
    }
}

extension TransferMember {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("conversation", conversation)
        writer.member("user", user)
        if role != .member { writer.member("role", role.rawValue) }
        if state != .member { writer.member("state", state.rawValue) }
        writer.member("joinedAt", joinedAt)
        if let spans {
            writer.name("spans")
            writer.array(spans) { writer, span in
                writer.object { writer in
                    writer.member("after", span.after)
                    writer.member("until", span.until)
                }
            }
        }
        writer.member("read", read)
        writer.flag("unread", isUnread)
    }
}

extension TransferOwn {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("conversation", conversation)
        writer.member("user", user)
        writer.member("message", message)
        writer.member("starredAt", starredAt)
        writer.member("listenedAt", listenedAt)
        writer.flag("hidden", isHidden)
    }
}

extension JSONWriter {
    fileprivate mutating func flag(_ name: String, _ value: Bool) {
        if value { member(name, true) }
    }

    fileprivate mutating func texts(_ name: String, _ values: [String]) {
        guard !values.isEmpty else { return }
        self.name(name)
        array(values) { $0.write($1) }
    }
}

extension TransferVoice {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.name("voice")
        writer.object { writer in
            writer.member("durationMs", durationMs)
            writer.member("file", file)
            if !waveform.isEmpty {
                writer.name("waveform")
                writer.array(waveform) { $0.write(Int64($1)) }
            }
            writer.member("level", level.map { Int64($0) })
            writer.member("transcript", transcript)
            writer.member("language", language)
            guard !segments.isEmpty else { return }
            writer.name("segments")
            writer.array(segments) { writer, segment in
                writer.object { writer in
                    writer.member("start", segment.start)
                    writer.member("end", segment.end)
                    writer.member("text", segment.text)
                }
            }
        }
    }
}

extension TransferCall {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.name("call")
        writer.object { writer in
            writer.member("kind", kind)
            writer.member("answeredAt", answeredAt)
            writer.member("endedAt", endedAt)
            writer.member("reason", reason)
            writer.member("endedBy", endedBy)
            writer.name("participants")
            writer.array(participants) { writer, participant in
                writer.object { writer in
                    writer.member("user", participant.user)
                    writer.member("state", participant.state)
                }
            }
        }
    }
}

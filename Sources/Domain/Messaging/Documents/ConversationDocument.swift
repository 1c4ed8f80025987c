import Languages
package import Model

extension MemberConversation {
    /// Writes the conversation's document as this member sees it. A user who is invited to a group does not see what
    /// happens in it.
    package func write(to writer: inout JSONWriter) {
        conversation.write(
            to: &writer, for: member.user, pins: pins, disappearAfter: conversation.disappearAfter(for: member.user),
            withActivity: member.state != .invited || conversation.kind == .direct)
    }

    /// Writes the member's own part.
    package func writeMembership(_ own: OwnPart, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("role", member.role.rawValue)
            writer.member("state", member.state.rawValue)
            writer.member("joinedAt", member.own.joinedAt)
            writer.member("version", member.own.version)
            writer.name("spans")
            writer.array(access.spans.spans) { writer, span in
                writer.object { writer in
                    writer.member("from", span.from)
                    writer.member("until", span.until)
                }
            }
            own.writeMembers(to: &writer)
        }
    }
}

extension Conversation {
    /// Writes the document that all members see.
    ///
    /// - Parameters:
    ///   - user: its reader; nil for all members.
    ///   - pins: the numbers of pinned messages that the reader sees; nil for those that all members see.
    ///   - seconds: after which messages disappear, as the reader sees it; nil for what all members see.
    package func write(
        to writer: inout JSONWriter, for user: UserID? = nil, pins: [Int64]? = nil,
        disappearAfter seconds: Int64?? = nil, withActivity: Bool = true
    ) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("kind", kind.rawValue)
            writer.member("name", name)
            writer.member("createdAt", createdAt)
            if withActivity {
                let last = last(for: user)
                writer.member("lastNumber", last.number)
                writer.member("lastSentAt", last.number > 0 ? last.sentAt : nil)
                if let liveCall, liveCall.isVisible(to: user) { liveCall.write(to: &writer) }
            }
            writer.member("members", Int64(memberCount))
            if kind == .group {
                writer.name("settings")
                settings.write(to: &writer)
            }
            writer.member("disappearAfter", seconds ?? disappearAfter)
            writer.name("pins")
            writer.array(pins ?? self.pins.filter { $0.onlyFor == nil }.map(\.number)) { $0.write($1) }
            writer.member("version", version(for: user))
        }
    }
}

extension LiveCall {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.name("liveCall")
        writer.object { writer in
            writer.member("id", id)
            writer.member("kind", kind)
            writer.member("startedAt", startedAt)
            writer.member("number", number)
        }
    }
}

extension ConversationSettings {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("write", write.rawValue)
            writer.member("add", add.rawValue)
            writer.member("rename", rename.rawValue)
            writer.member("keepDays", Int64(keepDays))
            writer.member("intelligence", intelligence?.rawValue)
        }
    }
}

extension Member {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("user", user)
            writer.member("role", role.rawValue)
            writer.member("state", state.rawValue)
            writer.member("joinedAt", joinedAt)
            writer.member("version", version)
        }
    }
}

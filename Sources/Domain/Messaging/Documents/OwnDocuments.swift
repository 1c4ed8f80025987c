import Languages
package import Model

/// What a member's own devices see of the membership, besides the member itself.
package struct OwnPart: Hashable, Sendable {
    package var membership: Membership
    /// The last message that was read.
    package var read: Int64

    package init(membership: Membership, read: Int64) {
        self.membership = membership
        self.read = read
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("read", read)
        if let mute = membership.mute {
            writer.name("muted")
            writer.object { writer in
                writer.member("until", mute.until)
                writer.member("mentions", mute.allowsMentions)
            }
        }
        writer.member("pinned", membership.isPinned)
        writer.member("archived", membership.isArchived)
        writer.member("markedUnread", membership.isMarkedUnread)
        if let receipts = membership.receipts { writer.member("receipts", receipts) }
        membership.choices.translation?.write(to: &writer)
        writer.member("hints", membership.choices.hints?.rawValue)
        writer.member("intelligence", membership.choices.intelligence?.rawValue)
        if let draft = membership.draft {
            writer.name("draft")
            writer.object { writer in
                writer.member("text", draft.text)
                writer.member("replyTo", draft.replyTo)
                writer.member("revision", draft.revision)
            }
        }
    }
}

extension ConversationCommands {
    /// The user's own part of a conversation, without a check of access.
    package func ownPart(
        of user: UserID, in id: ConversationID, store: some MessagingStore
    ) throws -> OwnPart {
        OwnPart(
            membership: try store.membership(of: user, in: id), read: try store.marks(of: user, in: id)?.marks.read ?? 0
        )
    }
}

extension OwnMessage {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("number", number)
            writer.member("starred", isStarred)
            if isHidden { writer.member("hidden", true) }
            if isListened { writer.member("listened", true) }
            writer.name("reacted")
            writer.array(reacted) { $0.write($1) }
            writer.member("counter", counter)
        }
    }
}

extension MemberMarks {
    /// Writes the document that the member's own devices see.
    package func writeOwn(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("user", user)
            writer.member("read", marks.read)
            writer.member("delivered", marks.received)
        }
    }

    /// Writes the document that others see: not how far the member has read, but what of it is shown.
    package func writeShown(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("user", user)
            writer.member("delivered", marks.delivered)
            writer.name("shown")
            writer.array(marks.shown) { writer, shown in
                writer.array([shown.from, shown.to]) { $0.write($1) }
            }
        }
    }
}

extension Reaction {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("emoji", emoji)
            writer.member("user", user)
            writer.member("at", at)
        }
    }
}

extension MessageReceipt {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("user", user)
            writer.member("read", isRead)
            writer.member("readAt", readAt)
            writer.member("deliveredAt", deliveredAt)
        }
    }
}

extension TranslationSettings {
    /// Writes the member `translation` of an object.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.name("translation")
        writer.object { writer in
            writer.member("mode", mode.rawValue)
            writer.member("into", into?.string)
            writer.member("tone", tone?.rawValue)
        }
    }
}

package import Model

/// The marks of a conversation, as one member sees them.
package struct SeenMarks: Hashable, Sendable {
    package var own: MemberMarks
    package var others: [MemberMarks]
    /// What the member has noted on messages since a position.
    package var notes: [OwnMessage] = []
    /// What the member has scheduled.
    package var scheduled: ScheduledSummary
}

// Listening to marks.
extension ConversationCommands {
    package func marksView(of found: MemberConversation, in store: some MessagingStore) throws -> ConversationView {
        let user = found.member.user
        let seesMarks = try found.member.state == .member && sendsReceipts(user, in: found.conversation.id, store)
        return ConversationView(user: user, from: 0, seesMarks: seesMarks)
    }

    package func seenMarks(of found: MemberConversation, in store: some MessagingStore) throws -> SeenMarks {
        let (id, user) = (found.conversation.id, found.member.user)
        return SeenMarks(
            own: try store.marks(of: user, in: id) ?? MemberMarks(user: user),
            // A member who shows nothing looks like one who has not read anything.
            others: try othersMarks(in: id, by: user, store: store).filter {
                $0.marks.delivered > 0 || !$0.marks.shown.isEmpty
            }, scheduled: try store.scheduledSummary(of: user, in: id))
    }

    /// All marks, since nobody may learn when those of others rose, and the member's own notes after a counter.
    ///
    /// - Returns: nil if it is too much.
    package func marksChanges(
        of found: MemberConversation, after counter: Int64, in store: some MessagingStore
    ) throws -> SeenMarks? {
        let (id, user) = (found.conversation.id, found.member.user)
        let rows = try store.ownRows(of: user, in: id, changedAfter: counter, limit: limits.changes + 1)
        guard rows.count <= limits.changes else { return nil }
        var seen = try seenMarks(of: found, in: store)
        if try !marksView(of: found, in: store).seesMarks {
            // A user who no longer sees others' marks may still hold earlier ones. So there is a row for each member
            // that says that nothing is shown.
            seen.others = try marksOfOthers(found, in: store).map { MemberMarks(user: $0.user) }
        }
        seen.notes = try rows.map { try own($0, of: user, in: store) }
        return seen
    }

    /// Whether others are sent what a member has read and received: in small groups.
    package func tellsMarks(in conversation: Conversation) -> Bool {
        conversation.memberCount <= limits.markedMembers
    }

    /// What the user has noted on a message.
    package func note(
        on number: Int64, in id: ConversationID, of user: UserID, store: some MessagingStore
    ) throws -> OwnMessage? {
        try store.ownRows(of: user, in: id, number...number).first.map { try own($0, of: user, in: store) }
    }
}

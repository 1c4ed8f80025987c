package import Model

// Who has read and received a message.
extension ConversationCommands {
    /// Which members other than its author and the user have read or received a message, and when, in the order of
    /// their ids, after `cursor`. A page may have fewer than `limit`, since it leaves out members who have done
    /// neither.
    ///
    /// If the user turns read receipts off, they do not see others' either. Nobody sees receipts before a request is
    /// accepted, nor of messages from before they left and returned. Times are kept for the newest messages, for 90
    /// days.
    package func receipts(
        of number: Int64, in id: ConversationID, after cursor: UserID?, limit: Int, by user: UserID,
        store: some MessagingStore
    ) throws -> (receipts: [MessageReceipt], next: UserID?) {
        let found = try get(id, by: user, for: .listen, in: store)
        guard let message = try PageReader(found: found, user: user, store: store).stored(number) else {
            throw Problem.notFound("message", field: "number")
        }
        guard found.member.state == .member, message.deletedAt == nil,
            found.access.spans.span(of: number)?.until == nil,
            found.conversation.kind != .direct || found.conversation.memberCount == 2,
            try sendsReceipts(user, in: id, store)
        else { return ([], nil) }
        let limit = min(limits.page, max(1, limit))
        let page = try store.marks(in: id, after: cursor, limit: limit + 1)
        let receipts = try page.prefix(limit).compactMap { marks in
            marks.user == message.author || marks.user == user
                ? nil : try receipt(of: number, marks, found.conversation, in: store)
        }
        return (receipts, page.count > limit ? page[limit - 1].user : nil)
    }

    /// Nil if the member has neither read nor received it, or is gone.
    private func receipt(
        of number: Int64, _ member: MemberMarks, _ conversation: Conversation, in store: some MessagingStore
    ) throws -> MessageReceipt? {
        let isRead = member.marks.isShownAsRead(number)
        let isKept = conversation.memberCount <= limits.markedMembers && member.marks.delivered >= number
        guard isRead || isKept, try store.member(member.user, of: conversation.id)?.state == .member else { return nil }
        // Messages from before the member joined were not delivered to them.
        let isDelivered = try isRead || store.spans(of: member.user, in: conversation.id).contains(number)
        guard isDelivered else { return nil }
        return MessageReceipt(
            user: member.user, isRead: isRead, isDelivered: isDelivered,
            readAt: isRead ? try time(.read, of: member.user, number, conversation, in: store) : nil,
            deliveredAt: isKept ? try time(.delivered, of: member.user, number, conversation, in: store) : nil)
    }

    private func time(
        _ kind: MarkRise.Kind, of user: UserID, _ number: Int64, _ conversation: Conversation,
        in store: some MessagingStore
    ) throws -> Timestamp? {
        guard number >= oldestTimed(in: conversation) else { return nil }
        let rise = try store.rise(kind, of: user, over: number, in: conversation.id)
        guard let rise, rise.at > store.now.adding(seconds: -limits.receiptSeconds) else { return nil }
        return rise.at
    }
}

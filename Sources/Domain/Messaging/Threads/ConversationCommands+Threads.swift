import Languages
package import Model

/// A message of any conversation.
package struct MessageReference: Hashable, Sendable {
    package var conversation: ConversationID
    package var number: Int64

    package init(_ conversation: ConversationID, _ number: Int64) {
        self.conversation = conversation
        self.number = number
    }
}

/// The storage of threads. A thread is the messages that name its root, which is not among them.
package protocol ThreadStore {
    /// As `messages(in:_:visibleTo:isNewestFirst:limit:)`, for one thread.
    func replies(
        to root: Int64, in conversation: ConversationID, _ numbers: ClosedRange<Int64>, visibleTo user: UserID,
        isNewestFirst: Bool, limit: Int
    ) throws -> [Message]
    /// How many replies to roots within `roots` are withheld and the author's own, without deleted ones.
    func withheldReplyCounts(
        by author: UserID, to roots: ClosedRange<Int64>, in conversation: ConversationID
    ) throws -> [Int64: Int]
}

// Threads and forwarding.
extension ConversationCommands {
    /// - Throws: `not_found`, `forbidden` or `invalid_request` of `thread`, unless the user sees the root as it is now,
    ///   and it is in no thread itself.
    func checkThread(
        _ root: Int64?, _ found: MemberConversation, _ user: UserID, _ store: some MessagingStore
    ) throws {
        guard let root else { return }
        let message = try answered(root, "thread", found, user, store)
        try Self.checkIsNoNotice(message, "the root of a thread")
        if let outer = message.thread {
            throw Problem.invalid("thread", "This message is in a thread itself: name its root, which is \(outer).")
        }
    }

    /// Counts a reply at its root, or takes a deleted one from the count. Withheld ones are counted when they are read.
    func countReply(
        _ reply: Message, isDeleted: Bool, in conversation: inout Conversation, store: some MessagingStore
    ) throws {
        guard let number = reply.thread, var root = try store.message(number, in: conversation.id) else { return }
        if !reply.isWithheld { root.replies = max(0, root.replies + (isDeleted ? -1 : 1)) }
        root.change(to: conversation.change(), isWithheld: reply.isWithheld && !isDeleted)
        try store.update(root)
    }

    /// The text that is forwarded, as the user sees it, and who wrote it first.
    func forwarded(
        _ source: MessageReference, by user: UserID, in store: some MessagingStore
    ) throws -> (text: MessageText, language: MessageLanguage?, author: UserID) {
        let found: MemberConversation
        do {
            found = try get(source.conversation, by: user, in: store)
        } catch let problem as Problem where problem.kind == .notFound || problem.kind == .forbidden {
            throw Problem.notFound("message", field: "forward")
        }
        guard let message = try PageReader(found: found, user: user, store: store).message(source.number) else {
            throw Problem.notFound("message", field: "forward")
        }
        try found.checkIsOpen(source.number, field: "forward")
        guard message.kind == .text, let text = message.text else {
            throw Problem(
                .conflict, "This message cannot be forwarded: only texts that are not deleted.", field: "forward")
        }
        var forwarded = try MessageText(text, field: "forward")
        forwarded.analysis = TextAnalysis(ranges: message.ranges)
        return (forwarded, message.language, message.forwardedFrom ?? message.author)
    }
}

import Model

// Notices, each written in the transaction of the change that it tells.
extension ConversationCommands {
    /// Adds a notice to a conversation, which the caller writes. Notes have none, and a request of a stranger has none,
    /// so that nothing but its three messages reaches the other.
    ///
    /// A change is never refused because of its notice. If notices come too fast, or one would repeat the last one, no
    /// notice is written. The documents have all changes.
    ///
    /// - Parameter isWithheld: whether only its author sees it, whoever is blocked.
    func note(
        _ notice: Notice, by author: UserID, isWithheld: Bool = false, in conversation: inout Conversation,
        store: some MessagingStore
    ) throws {
        guard conversation.kind == .group || conversation.kind == .direct && conversation.memberCount > 1,
            try isDue(notice, by: author, in: conversation, store)
        else { return }
        let isWithheld =
            try isWithheld || !notice.isByServer && self.isWithheld(from: author, conversation, in: store)
        conversation.addMessage(by: author, isWithheld: isWithheld, at: max(conversation.lastSentAt, store.now))
        let version = conversation.change()
        var message = Message(
            conversation: conversation.id, number: conversation.lastNumber,
            clientID: noticeID(conversation.id, conversation.lastNumber, store.now), author: author,
            sentAt: conversation.lastSentAt, kind: .notice, text: nil, version: version, textVersion: version,
            isWithheld: isWithheld)
        message.notice = notice
        message.expiresAt = conversation.disappearAfter(for: author).map { message.sentAt.adding(seconds: $0) }
        try store.insert(message, digest: [])
    }

    private func isDue(
        _ notice: Notice, by author: UserID, in conversation: Conversation, _ store: some MessagingStore
    ) throws -> Bool {
        let since = store.now.adding(seconds: -limits.noticeSeconds)
        if let last = try store.message(conversation.lastNumber, in: conversation.id), last.notice == notice,
            last.author == author, last.sentAt > since
        {
            return false
        }
        let authors = try store.noticeAuthors(
            in: conversation.id, after: conversation.lastNumber - limits.noticeWindow, since: since)
        return authors.count < limits.notices && authors.count { $0 == author } < limits.noticesOfMember
    }

    /// - Throws: `conflict` if the message is a notice.
    /// - Parameter what: cannot be done to one.
    static func checkIsNoNotice(_ message: Message, _ what: String) throws(Problem) {
        guard message.kind != .notice else {
            throw Problem(.conflict, "A notice cannot be \(what): the server tells by it what happened.")
        }
    }
}

package import Model

/// What is sent.
package struct OutgoingMessage: Hashable, Sendable {
    package var clientID: ClientID
    package var text: MessageText
    /// A message of the same conversation.
    package var replyTo: Int64?
    /// Of the whole request, so that a repetition can be told from another request with the same client id.
    package var digest: [UInt8]

    package init(clientID: ClientID, text: MessageText, replyTo: Int64? = nil, digest: [UInt8]) {
        self.clientID = clientID
        self.text = text
        self.replyTo = replyTo
        self.digest = digest
    }
}

// Writing.
extension ConversationCommands {
    /// Sends a message: its number and place in the order are those of the commit. A request that is repeated with its
    /// client id has the first one's result, for ever.
    package func send(
        _ outgoing: OutgoingMessage, to id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> (message: Message, isDuplicate: Bool) {
        if let known = try store.message(sentWith: outgoing.clientID, by: user) {
            guard known.digest == outgoing.digest, known.message.conversation == id else {
                throw Problem(
                    .clientIDReused, "This client id was used for another message.", field: "clientID")
            }
            return (known.message, true)
        }
        var (conversation, access) = try sending(to: id, by: user, in: store)
        if let replied = outgoing.replyTo { try checkReply(to: replied, in: conversation, access, user, store) }
        let isWithheld = try isWithheld(from: user, conversation, in: store)
        conversation.lastNumber += 1
        conversation.lastSentAt = max(conversation.lastSentAt, store.now)
        let version = conversation.change()
        let message = Message(
            conversation: id, number: conversation.lastNumber, clientID: outgoing.clientID, author: user,
            sentAt: conversation.lastSentAt, text: outgoing.text.text,
            ranges: RangeFinder.ranges(in: outgoing.text.text).ranges, version: version, textVersion: version,
            replyTo: outgoing.replyTo, isWithheld: isWithheld)
        try store.insert(message, digest: outgoing.digest)
        try store.update(conversation)
        return (message, false)
    }

    /// Gives a message of one's own another text. The former is kept for those who may see the message.
    ///
    /// - Parameter textVersion: of the text that was edited: another one is a conflict that has the current one.
    package func edit(
        _ number: Int64, in id: ConversationID, text: MessageText, basedOn textVersion: Int64, by user: UserID,
        store: some MessagingStore
    ) throws -> Message {
        var (found, message) = try change(number, in: id, by: user, store: store)
        guard message.author == user else { throw Problem(.forbidden, "Only its author may edit a message.") }
        guard let former = message.text else { throw Problem(.conflict, "This message was deleted.") }
        // A repetition after the first was executed.
        if former == text.text { return message }
        guard message.textVersion == textVersion else {
            throw Problem(
                .conflict, "The text has changed since version \(textVersion): look at it again.", field: "textVersion",
                members: ["textVersion": "\(message.textVersion)"])
        }
        guard try store.edits(of: number, in: id).count < limits.edits else {
            throw Problem(.conflict, "A message can be edited \(limits.edits) times.")
        }
        let edit = MessageEdit(
            textVersion: message.textVersion, text: former, writtenAt: message.editedAt ?? message.sentAt,
            isWithheld: message.isTextWithheld)
        try store.insert(edit, of: number, in: id)
        message.isTextWithheld = try isWithheld(from: user, found.conversation, in: store)
        message.text = text.text
        message.ranges = RangeFinder.ranges(in: text.text).ranges
        message.editedAt = store.now
        message.version = found.conversation.change()
        message.textVersion = message.version
        try store.update(message)
        try store.update(found.conversation)
        return message
    }

    /// Deletes a message for all: its text and its former ones are gone, and its number stays. Its author may, and in a group
    /// an administrator. Deleting twice changes nothing.
    package func delete(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> Message {
        var (found, message) = try change(number, in: id, by: user, store: store)
        if message.author != user { try found.access.check(.deleteOthersMessage) }
        guard message.deletedAt == nil else { return message }
        try delete(&message, in: &found.conversation, store: store)
        return message
    }

    func delete(_ message: inout Message, in conversation: inout Conversation, store: some MessagingStore) throws {
        message.text = nil
        message.ranges = []
        message.deletedAt = store.now
        message.version = conversation.change()
        message.textVersion = message.version
        message.isTextWithheld = false
        try store.removeEdits(of: message.number, in: conversation.id)
        try store.update(message)
        try store.update(conversation)
    }

    private func sending(
        to id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> (Conversation, ConversationAccess) {
        let found = try get(id, by: user, for: .write, in: store)
        try checkActive(user, in: store)
        // A request: the other one has not accepted it.
        if found.conversation.kind == .direct, found.conversation.memberCount < 2 {
            let sent = try store.messageCount(by: user, in: id, limit: limits.requestMessages)
            guard sent < limits.requestMessages else {
                throw Problem(
                    .forbidden,
                    "You can send \(limits.requestMessages) messages until the other person accepts the request.")
            }
        }
        return (found.conversation, found.access)
    }

    private func checkReply(
        to number: Int64, in conversation: Conversation, _ access: ConversationAccess, _ user: UserID,
        _ store: some MessagingStore
    ) throws {
        guard access.sees(number), let message = try store.message(number, in: conversation.id),
            message.isVisible(to: user)
        else { throw Problem.notFound("message", field: "replyTo") }
    }

    private func isWithheld(
        from user: UserID, _ conversation: Conversation, in store: some MessagingStore
    ) throws -> Bool {
        guard conversation.kind == .direct else { return false }
        let members = try store.members(of: conversation.id, after: nil, limit: 2)
        guard let other = members.first(where: { $0.user != user }) else { return false }
        return try store.isBlocked(user, by: other.user)
    }

    private func change(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> (found: MemberConversation, message: Message) {
        let found = try get(id, by: user, in: store)
        guard found.member.state == .member else { throw Problem(.forbidden, "You are not in this conversation.") }
        guard found.access.sees(number), let message = try store.message(number, in: id), message.isVisible(to: user)
        else { throw Problem.notFound("message", field: "message") }
        return (found, message)
    }
}

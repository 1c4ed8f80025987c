import Languages
package import Model
import Voice

// Writing.
extension ConversationCommands {
    /// Sends a message: its number and place in the order are those of the commit. A request that is repeated with its
    /// client id stores nothing, for ever: it has what the author sees of the message now.
    package func send(
        _ outgoing: OutgoingMessage, to id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> (message: SeenMessage, isDuplicate: Bool) {
        switch try check(outgoing, to: id, by: user, in: store) {
        case .duplicate(let message): (message, true)
        case .new(let checked): (try self.store(checked, in: store), false)
        }
    }

    /// Checks a message that is to be sent. It writes nothing, so that a refused one leaves no trace in a transaction
    /// that stores others.
    package func check(
        _ outgoing: OutgoingMessage, to id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> CheckedMessage {
        if let known = try store.message(sentWith: outgoing.clientID, by: user) {
            // The digest of a message that has disappeared is gone.
            guard known.digest.isEmpty || known.digest == outgoing.digest, known.message.conversation == id else {
                throw Self.reusedClientID
            }
            return .duplicate(try seenAgain(known.message, by: user, in: store))
        }
        let (found, accepting) = try sending(to: id, by: user, in: store)
        // After the access, which refuses for good what would be sent again after another message.
        if let before = outgoing.afterClientID {
            _ = try number(of: .sent(before), in: id, field: "afterClientID", by: user, store: store)
        }
        try checkNamed(by: outgoing, found, user, store)
        var conversation = found.conversation
        if accepting != nil { conversation.memberCount += 1 }
        let content = try content(of: outgoing, conversation, by: user, in: store)
        return .new(
            NewMessage(
                outgoing: outgoing, found: found, accepting: accepting, text: content.text, voice: content.voice,
                forwardedFrom: content.forwardedFrom, forwardedLanguage: content.language,
                isWithheld: try isWithheld(from: user, found.conversation, in: store)))
    }

    /// The response to an author who repeats a message: the message as they see it now or, if they no longer see it,
    /// only that it was stored.
    private func seenAgain(_ message: Message, by user: UserID, in store: some MessagingStore) throws -> SeenMessage {
        do {
            let found = try get(message.conversation, by: user, in: store)
            if let seen = try PageReader(found: found, user: user, store: store).seen(message) { return seen }
        } catch let problem as Problem where problem.kind == .notFound || problem.kind == .forbidden {}
        return .stored(message)
    }

    /// Stores a message that was checked in the same transaction: its number and place in the order are those of the
    /// commit.
    package func store(_ checked: NewMessage, in store: some MessagingStore) throws -> SeenMessage {
        let outgoing = checked.outgoing
        var found = checked.found
        let user = found.member.user
        if let other = checked.accepting { try admit(other, to: &found.conversation, in: store) }
        var conversation = found.conversation
        conversation.addMessage(by: user, isWithheld: checked.isWithheld, at: max(conversation.lastSentAt, store.now))
        let version = conversation.change()
        let analysis = checked.text.map { analyzer.analysis(of: $0) }
        var message = Message(
            conversation: conversation.id, number: conversation.lastNumber, clientID: outgoing.clientID, author: user,
            sentAt: conversation.lastSentAt, kind: checked.voice == nil ? .text : .voice, text: checked.text?.text,
            ranges: analysis?.ranges ?? [], version: version,
            textVersion: version, replyTo: outgoing.replyTo, isWithheld: checked.isWithheld)
        message.language = try checked.forwardedLanguage ?? analysis.flatMap { try language($0, by: user, in: store) }
        message.voice = checked.voice
        message.thread = outgoing.thread
        message.expiresAt = conversation.disappearAfter(for: user).map { message.sentAt.adding(seconds: $0) }
        message.forwardedFrom = checked.forwardedFrom
        try store.insert(message, digest: outgoing.digest)
        try attach(outgoing.voice, message, in: store)
        try noteMentions(of: message, in: store)
        try countReply(message, isDeleted: false, in: &conversation, store: store)
        try store.update(conversation)
        if let revision = outgoing.draft { try sent(draft: revision, of: user, in: conversation.id, store) }
        if let number = outgoing.readUpTo {
            _ = try raise(read: number, delivered: nil, of: user, found, in: store)
        }
        return .sent(message)
    }

    /// Changes the text of one of the user's own messages. The former text is kept for users who may see the message.
    ///
    /// - Parameter textVersion: of the text that was edited: another one is a conflict that has the current one. Nil if
    ///   the message was not read before, since its author named it by its client id.
    package func edit(
        _ number: Int64, in id: ConversationID, text: MessageText, basedOn textVersion: Int64?, by user: UserID,
        store: some MessagingStore
    ) throws -> SeenMessage {
        var (found, message) = try change(number, in: id, by: user, store: store)
        guard message.author == user else { throw Problem(.forbidden, "Only its author may edit a message.") }
        // The texts of a request are counted.
        try checkAccepted(found, "edit messages")
        guard message.kind != .call else { throw Problem(.conflict, "A call cannot be edited.") }
        guard message.kind != .voice else { throw Problem(.conflict, "A voice message cannot be edited.") }
        try Self.checkIsNoNotice(message, "edited")
        guard let former = message.text else { throw Problem(.conflict, "This message was deleted.") }
        // A repetition after the first was executed.
        if former == text.text { return try found.seen(message, by: user, in: store) }
        if let textVersion, message.textVersion != textVersion {
            throw Problem(
                .conflict, "The text has changed since version \(textVersion): look at it again.", field: "textVersion",
                members: ["textVersion": "\(message.textVersion)"])
        }
        guard try store.editCount(of: number, in: id) < limits.edits else {
            throw Problem(.conflict, "A message can be edited \(limits.edits) times.")
        }
        let edit = MessageEdit(
            textVersion: message.textVersion, text: former, ranges: message.ranges, language: message.language,
            writtenAt: message.editedAt ?? message.sentAt, isWithheld: message.isTextWithheld)
        try store.insert(edit, of: number, in: id)
        message.isTextWithheld = try isWithheld(from: user, found.conversation, in: store)
        let analysis = analyzer.analysis(of: text)
        message.text = text.text
        message.ranges = analysis.ranges
        message.language = try language(analysis, by: user, in: store)
        message.editedAt = store.now
        message.change(to: found.conversation.change(), isWithheld: message.isTextWithheld)
        message.textVersion = message.version
        try store.noteChangedText(of: number, in: id)
        try store.update(message)
        try store.update(found.conversation)
        if !message.isTextWithheld {
            try removeDerived(of: number, in: id, store)
            try store.removeMentions(by: number, in: id)
            try noteMentions(of: message, in: store)
        }
        return try found.seen(message, by: user, in: store)
    }

    /// Deletes a message for all: its text and its former ones are gone, and its number stays. Its author may, and in a
    /// group an administrator. Deleting twice changes nothing.
    package func delete(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> SeenMessage {
        var (found, message) = try change(number, in: id, by: user, store: store)
        if message.author != user { try found.access.check(.deleteOthersMessage) }
        guard message.deletedAt == nil else { return try found.seen(message, by: user, in: store) }
        guard message.kind != .call else {
            throw Problem(
                .conflict, "A call stays in the conversation for the others: delete it for yourself, with for=me.",
                field: "for")
        }
        guard message.kind != .notice else {
            throw Problem(
                .conflict, "A notice stays in the conversation for the others: delete it for yourself, with for=me.",
                field: "for")
        }
        try delete(&message, in: &found.conversation, store: store)
        return try found.seen(message, by: user, in: store)
    }

    /// - Parameter time: when it was deleted; nil for now.
    /// - Returns: what it cost: one, and one for each reaction and each 256 characters (``maxErasureCost``).
    @discardableResult
    func delete(
        _ message: inout Message, in conversation: inout Conversation, at time: Timestamp? = nil,
        store: some MessagingStore
    ) throws -> Int {
        let before = message
        message.clear(at: time ?? store.now)
        message.change(to: conversation.change(), isWithheld: false)
        message.textVersion = message.version
        try store.noteChangedText(of: message.number, in: conversation.id)
        let former = try store.removeEdits(of: message.number, in: conversation.id)
        try removeDerived(of: message.number, in: conversation.id, store)
        try store.removeReactions(to: message.number, in: conversation.id)
        try store.removeMentions(by: message.number, in: conversation.id)
        if message.kind == .call { try store.setMissed(by: [], message.number, in: conversation.id) }
        if let file = before.voice?.file { try store.removeVoiceFile(file) }
        try countReply(message, isDeleted: true, in: &conversation, store: store)
        if conversation.unpin(message.number) { conversation.version = message.version }
        try store.update(message)
        try store.update(conversation)
        return 1 + before.reactions.reduce(0) { $0 + $1.count } + ((before.text?.utf8.count ?? 0) + former) / 256
    }

    private func content(
        of outgoing: OutgoingMessage, _ conversation: Conversation, by user: UserID, in store: some MessagingStore
    ) throws -> (text: MessageText?, voice: VoiceRecord?, forwardedFrom: UserID?, language: MessageLanguage?) {
        switch (outgoing.text, outgoing.forward, outgoing.voice) {
        case (let text?, nil, nil): return (text, nil, nil, nil)
        case (nil, let source?, nil):
            let found = try forwarded(source, by: user, in: store)
            return (found.text, nil, found.author, found.language)
        case (nil, nil, let voice?): return (nil, try record(of: voice, conversation, by: user, in: store), nil, nil)
        default:
            throw Problem.invalid(
                "text", "A message has a text, or is forwarded, or has the file of a voice message: one of them.")
        }
    }

    /// - Returns: `accepting` is in the conversation from this message on, since the two have become friends.
    private func sending(
        to id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> (found: MemberConversation, accepting: UserID?) {
        let found = try get(id, by: user, for: .write, in: store)
        try checkActive(user, in: store)
        // A request that the other person has not accepted.
        if found.conversation.kind == .direct, found.conversation.memberCount < 2 {
            let others = try store.members(of: id, after: nil, limit: 2).map(\.user).filter { $0 != user }
            if let other = others.first, try store.areFriends(user, other) {
                return (found, other)
            }
            let sent = try store.messageCount(by: user, in: id, limit: limits.requestMessages)
            guard sent < limits.requestMessages else {
                throw Problem(
                    .forbidden,
                    "You can send \(limits.requestMessages) messages until the other person accepts the request.")
            }
        }
        return (found, nil)
    }

    /// What a message names that is to be sent, now or later: what it replies to, its thread and its draft.
    func checkNamed(
        by outgoing: OutgoingMessage, _ found: MemberConversation, _ user: UserID, _ store: some MessagingStore
    ) throws {
        if let replied = outgoing.replyTo {
            try Self.checkIsNoNotice(answered(replied, "replyTo", found, user, store), "answered")
        }
        try checkThread(outgoing.thread, found, user, store)
        if let revision = outgoing.draft { try Draft.check(revision, field: "draft") }
    }

    /// A message that the user sees as it is now, to be answered.
    ///
    /// - Parameter field: of the request, which names the message.
    func answered(
        _ number: Int64, _ field: String, _ found: MemberConversation, _ user: UserID, _ store: some MessagingStore
    ) throws -> Message {
        guard let message = try PageReader(found: found, user: user, store: store).stored(number) else {
            throw Problem.notFound("message", field: field)
        }
        try found.checkIsOpen(number, field: field)
        return message
    }

    func isWithheld(
        from user: UserID, _ conversation: Conversation, in store: some MessagingStore
    ) throws -> Bool {
        guard let other = try other(than: user, in: conversation, store) else { return false }
        return try store.isBlocked(user, by: other)
    }

    /// The other one of a direct conversation.
    func other(
        than user: UserID, in conversation: Conversation, _ store: some MessagingStore
    ) throws -> UserID? {
        guard conversation.kind == .direct else { return nil }
        return try store.members(of: conversation.id, after: nil, limit: 2).first { $0.user != user }?.user
    }

    /// A message that a member changes for all, and sees as it is now.
    func change(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> (found: MemberConversation, message: Message) {
        let found = try get(id, by: user, in: store)
        guard found.member.state == .member else { throw Problem(.forbidden, "You are not in this conversation.") }
        guard let message = try PageReader(found: found, user: user, store: store).stored(number) else {
            throw Problem.notFound("message", field: "number")
        }
        try found.checkIsOpen(number)
        return (found, message)
    }
}

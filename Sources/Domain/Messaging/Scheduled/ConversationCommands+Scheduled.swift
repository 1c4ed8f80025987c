package import Model

/// What has become of a request to schedule or change a message.
package enum ScheduledOutcome: Hashable, Sendable {
    case waits(ScheduledMessage, isDuplicate: Bool)
    /// It was sent, now or before.
    case sent(SeenMessage)
}

/// A change of a scheduled message; properties that are nil stay unchanged.
package struct ScheduledChange: Hashable, Sendable {
    package var text: MessageText?
    /// `.some(nil)` is now.
    package var sendAt: Timestamp??

    package init(text: MessageText? = nil, sendAt: Timestamp?? = nil) {
        self.text = text
        self.sendAt = sendAt
    }
}

// Messages that are sent at their time.
extension ConversationCommands {
    /// Stores a message until its time. A request that is repeated with its client id has the first one's result, also
    /// after the message was sent.
    package func schedule(
        _ outgoing: OutgoingMessage, at sendAt: Timestamp, to id: ConversationID, by user: UserID,
        in store: some MessagingStore
    ) throws -> ScheduledOutcome {
        if let known = try store.scheduled(outgoing.clientID, by: user) {
            guard known.digest == outgoing.digest, known.conversation == id else { throw Self.reusedClientID }
            return .waits(known, isDuplicate: true)
        }
        if try store.message(sentWith: outgoing.clientID, by: user) != nil {
            return .sent(try send(outgoing, to: id, by: user, in: store).message)
        }
        guard let text = outgoing.text else {
            throw Problem.invalid(
                "sendAt", "Only a text can be sent later: a forwarded message and a voice message are sent at once.")
        }
        try ScheduledMessage.check(sendAt, at: store.now)
        let found = try get(id, by: user, for: .write, in: store)
        try checkActive(user, in: store)
        try checkAccepted(found, "send messages later")
        try checkNamed(by: outgoing, found, user, store)
        try checkScheduledCount(of: user, in: id, store)
        var scheduled = ScheduledMessage(
            conversation: id, author: user, clientID: outgoing.clientID, text: text.text, replyTo: outgoing.replyTo,
            thread: outgoing.thread, sendAt: sendAt, createdAt: store.now, digest: outgoing.digest)
        try save(&scheduled, in: store)
        if let revision = outgoing.draft { try sent(draft: revision, of: user, in: id, store) }
        return .waits(scheduled, isDuplicate: false)
    }

    /// The user's scheduled messages of a conversation, by time.
    package func scheduled(
        in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> [ScheduledMessage] {
        _ = try get(id, by: user, for: .listen, in: store)
        return try store.scheduled(by: user, in: id, limit: limits.scheduled)
    }

    /// Changes a scheduled message, or sends it now. A message that has failed is tried again at its new time.
    package func change(
        scheduled clientID: ClientID, in id: ConversationID, _ change: ScheduledChange, by user: UserID,
        store: some MessagingStore
    ) throws -> ScheduledOutcome {
        _ = try get(id, by: user, for: .listen, in: store)
        guard var scheduled = try store.scheduled(clientID, by: user), scheduled.conversation == id else {
            try checkNotSent(clientID, in: id, by: user, store)
            throw Problem.notFound("message", field: "clientID")
        }
        let before = scheduled
        if let text = change.text { scheduled.text = text.text }
        switch change.sendAt {
        case .some(nil): return .sent(try send(scheduled, in: store))
        case .some(let time?):
            try ScheduledMessage.check(time, at: store.now)
            (scheduled.sendAt, scheduled.failure) = (time, nil)
        case nil: break
        }
        if scheduled != before { try save(&scheduled, in: store) }
        return .waits(scheduled, isDuplicate: false)
    }

    /// Removes a scheduled message. Removing twice changes nothing. If it was sent already, this is a conflict.
    package func unschedule(
        _ clientID: ClientID, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws {
        _ = try get(id, by: user, for: .listen, in: store)
        guard let scheduled = try store.scheduled(clientID, by: user), scheduled.conversation == id else {
            return try checkNotSent(clientID, in: id, by: user, store)
        }
        try store.removeScheduled(scheduled, counter: store.nextCounter())
    }

    /// Sends a message if it is due: then it is not scheduled any more, in the same transaction. Access is checked now.
    ///
    /// - Throws: a problem that is to be noted by `fail`.
    package func sendDue(_ clientID: ClientID, by author: UserID, in store: some MessagingStore) throws {
        guard let scheduled = try due(clientID, by: author, store) else { return }
        _ = try send(scheduled, in: store)
    }

    /// Notes why a message that is due was not sent.
    package func fail(
        _ clientID: ClientID, by author: UserID, because problem: Problem, in store: some MessagingStore
    ) throws {
        guard var scheduled = try due(clientID, by: author, store) else { return }
        scheduled.failure = ScheduledMessage.Failure(kind: problem.kind, detail: problem.detail)
        try save(&scheduled, in: store)
    }

    /// A user who leaves loses the messages that wait.
    func removeScheduled(
        by author: UserID, in id: ConversationID, _ store: some MessagingStore
    ) throws {
        guard try store.scheduledSummary(of: author, in: id).count > 0 else { return }
        try store.removeScheduled(by: author, in: id, counter: store.nextCounter())
    }

    private func due(
        _ clientID: ClientID, by author: UserID, _ store: some MessagingStore
    ) throws -> ScheduledMessage? {
        guard let scheduled = try store.scheduled(clientID, by: author), scheduled.failure == nil,
            scheduled.sendAt <= store.now
        else { return nil }
        return scheduled
    }

    private func send(_ scheduled: ScheduledMessage, in store: some MessagingStore) throws -> SeenMessage {
        try store.removeScheduled(scheduled, counter: store.nextCounter())
        var outgoing = OutgoingMessage(
            clientID: scheduled.clientID, text: try MessageText(scheduled.text), replyTo: scheduled.replyTo,
            digest: scheduled.digest)
        outgoing.thread = scheduled.thread
        return try send(outgoing, to: scheduled.conversation, by: scheduled.author, in: store).message
    }

    private func save(_ scheduled: inout ScheduledMessage, in store: some MessagingStore) throws {
        scheduled.counter = try store.nextCounter()
        try store.save(scheduled)
    }

    private func checkNotSent(
        _ clientID: ClientID, in id: ConversationID, by user: UserID, _ store: some MessagingStore
    ) throws {
        guard let sent = try store.message(sentWith: clientID, by: user), sent.message.conversation == id else {
            return
        }
        throw Problem(.conflict, "This message was sent: it is number \(sent.message.number).")
    }

    private func checkScheduledCount(
        of user: UserID, in id: ConversationID, _ store: some MessagingStore
    ) throws {
        guard try store.scheduledSummary(of: user, in: id).count < limits.scheduled else {
            throw Problem(.conflict, "\(limits.scheduled) messages wait in this conversation, the most there may be.")
        }
        guard try store.scheduledCount(by: user, limit: limits.scheduledOfUser) < limits.scheduledOfUser else {
            throw Problem(.conflict, "\(limits.scheduledOfUser) messages of yours wait, the most there may be.")
        }
    }

    static let reusedClientID = Problem(
        .clientIDReused, "This client id was used for another message.", field: "clientID")
}

package import Model

// What a reader notes on messages for themselves. Nobody else learns of it, and no version changes.
extension ConversationCommands {
    /// Stars a message, or removes the star, also of a message from before the user left. Doing it twice changes
    /// nothing.
    package func star(
        _ number: Int64, in id: ConversationID, isStarred: Bool, by user: UserID, store: some MessagingStore
    ) throws -> OwnMessage {
        let found = try get(id, by: user, in: store)
        guard let message = try PageReader(found: found, user: user, store: store).stored(number) else {
            throw Problem.notFound("message", field: "number")
        }
        var row = try ownRow(number, of: user, in: id, store)
        if isStarred, row.starredAt == nil {
            try found.checkIsOpen(number)
            guard message.deletedAt == nil else { throw Problem(.conflict, "This message was deleted.") }
            row.starredAt = store.now
            try save(&row, of: user, in: store)
        } else if !isStarred, row.starredAt != nil {
            row.starredAt = nil
            try save(&row, of: user, in: store)
        }
        return try own(row, of: user, in: store)
    }

    /// Deletes a message for the user alone, for ever. Deleting twice changes nothing.
    package func hide(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> OwnMessage {
        let found = try get(id, by: user, in: store)
        guard found.access.sees(number), let message = try store.message(number, in: id), message.isVisible(to: user)
        else { throw Problem.notFound("message", field: "number") }
        var row = try ownRow(number, of: user, in: id, store)
        if !row.isHidden {
            row.isHidden = true
            row.starredAt = nil
            try save(&row, of: user, in: store)
        }
        return try own(row, of: user, in: store)
    }

    /// Starred messages of all conversations that the user still sees, the newest star first. A page may have fewer
    /// messages than `limit`, since some may be deleted or out of sight.
    package func starred(
        by user: UserID, after position: StarredPosition?, limit: Int, in store: some MessagingStore
    ) throws -> (messages: [SeenMessage], next: StarredPosition?) {
        let limit = min(limits.page, max(1, limit))
        let rows = try store.starred(of: user, after: position, limit: limit + 1)
        var known: [ConversationID: MemberConversation?] = [:]
        var (messages, bytes) = ([SeenMessage](), 0)
        for (index, row) in rows.prefix(limit).enumerated() {
            let found = try known[row.conversation] ?? readable(row.conversation, by: user, in: store)
            known[row.conversation] = .some(found)
            guard let found else { continue }
            let message = try PageReader(found: found, user: user, store: store).message(row.number)
            guard let message, message.deletedAt == nil else { continue }
            bytes += message.size
            if bytes > limits.pageBytes, index > 0, !messages.isEmpty {
                return (messages, StarredPosition(rows[index - 1]))
            }
            messages.append(message)
        }
        return (messages, rows.count > limit ? StarredPosition(rows[limit - 1]) : nil)
    }

    /// Hides all present messages from this user alone, for ever. If the user has left the group, they no longer see
    /// it.
    ///
    /// - Parameter number: of the last message that is hidden; nil for all so far.
    package func clear(
        _ id: ConversationID, upTo number: Int64? = nil, by user: UserID, in store: some MessagingStore
    ) throws {
        let found = try get(id, by: user, in: store)
        var spans = found.access.spans
        spans.clear(after: Self.last(upTo: number, in: found))
        guard spans != found.access.spans else { return }
        try store.save(spans, of: user, in: id)
        guard found.member.state == .left, spans.spans.isEmpty else { return }
        // It is none of theirs any more, and not counted.
        var member = found.member
        member.conversationAtLeaving = nil
        try store.save(member, of: id)
    }

    /// Clears a conversation and takes it off the user's list until there is something new in it.
    ///
    /// - Parameter number: of the last message that is hidden; nil for all so far.
    package func deleteForOneself(
        _ id: ConversationID, upTo number: Int64? = nil, by user: UserID, in store: some MessagingStore
    ) throws {
        let found = try get(id, by: user, in: store)
        try clear(id, upTo: number, by: user, in: store)
        var membership = try store.membership(of: user, in: id)
        membership.remove(after: Self.last(upTo: number, in: found))
        try save(&membership, of: user, in: id, store)
    }

    private static func last(upTo number: Int64?, in found: MemberConversation) -> Int64 {
        min(number ?? .max, found.conversation.lastNumber)
    }

    /// The user's own notes on some messages, which are in the order of their numbers. Messages without notes are left
    /// out.
    package func own(
        of messages: [SeenMessage], in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> [OwnMessage] {
        guard let first = messages.first?.number, let last = messages.last?.number, first <= last else { return [] }
        let rows = try store.ownRows(of: user, in: id, first...last)
        let reactions = Dictionary(grouping: try store.reactions(of: user, to: first...last, in: id), by: \.number)
        let numbers = Set(messages.map(\.number))
        return rows.filter { numbers.contains($0.number) }.map { Self.own($0, reactions[$0.number] ?? []) }
            .filter { $0.isStarred || $0.isListened || !$0.reacted.isEmpty }
    }

    /// The user's reactions to a message have changed.
    func touchOwn(
        _ number: Int64, of user: UserID, in id: ConversationID, _ store: some MessagingStore
    ) throws {
        var row = try ownRow(number, of: user, in: id, store)
        try save(&row, of: user, in: store)
    }

    func own(_ row: OwnRow, of user: UserID, in store: some MessagingStore) throws -> OwnMessage {
        Self.own(row, try store.reactions(of: user, to: row.number...row.number, in: row.conversation))
    }

    private static func own(_ row: OwnRow, _ reactions: [Reaction]) -> OwnMessage {
        OwnMessage(
            number: row.number, isStarred: row.starredAt != nil, isHidden: row.isHidden,
            isListened: row.listenedAt != nil, reacted: reactions.map(\.emoji), counter: row.counter)
    }

    func ownRow(
        _ number: Int64, of user: UserID, in id: ConversationID, _ store: some MessagingStore
    ) throws -> OwnRow {
        try store.ownRows(of: user, in: id, number...number).first ?? OwnRow(conversation: id, number: number)
    }

    func save(_ row: inout OwnRow, of user: UserID, in store: some MessagingStore) throws {
        row.counter = try store.nextCounter()
        try store.save(row, of: user)
    }

    private func readable(
        _ id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation? {
        do {
            return try get(id, by: user, in: store)
        } catch let problem as Problem where problem.kind == .notFound || problem.kind == .forbidden {
            return nil
        }
    }
}

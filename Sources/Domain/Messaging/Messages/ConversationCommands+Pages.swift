package import Model

/// Which messages a page is to have.
package enum PageAnchor: Hashable, Sendable {
    case newest
    /// Those before a number, the nearest ones.
    case before(Int64)
    case after(Int64)
    /// Half of them at a number or before it, half after it.
    case around(Int64)
    /// Those that were sent at a time or later.
    case from(Timestamp)
}

/// A page of messages, in the order of their numbers.
package struct MessagePage: Hashable, Sendable {
    package var messages: [SeenMessage]
    /// The numbers for which the page speaks: the reader may not see a number that is not among its messages. Nil if
    /// there are none.
    package var range: ClosedRange<Int64>?
    /// The conversation's sequence: every change up to it is in the page.
    package var sequence: Int64
    /// Whether there are messages to be seen before the range, and after it.
    package var hasEarlier: Bool
    package var hasLater: Bool
}

// Reading.
extension ConversationCommands {
    /// - Parameter thread: whose replies are read, by the number of its root, which is not among them; nil for all
    ///   messages.
    package func page(
        _ anchor: PageAnchor, of id: ConversationID, thread: Int64? = nil, limit: Int, by user: UserID,
        in store: some MessagingStore
    ) throws -> MessagePage {
        try page(anchor, of: get(id, by: user, in: store), thread: thread, limit: limit, in: store)
    }

    func page(
        _ anchor: PageAnchor, of found: MemberConversation, thread: Int64? = nil, limit: Int,
        in store: some MessagingStore
    ) throws -> MessagePage {
        let found = found.asRead
        let reader = PageReader(found: found, user: found.member.user, store: store, thread: thread)
        let limit = min(limits.page, max(1, limit))
        let last = found.conversation.lastNumber
        let (earlier, middle): (Int, Int64)
        switch anchor {
        case .newest: (earlier, middle) = (limit, last)
        case .before(let number): (earlier, middle) = (limit, min(last, Self.before(number)))
        case .after(let number): (earlier, middle) = (0, max(0, min(last, number)))
        case .from(let time):
            (earlier, middle) = (0, try lastNumber(before: time, in: found.conversation, store: store))
        case .around(let number): (earlier, middle) = ((limit + 1) / 2, max(0, min(last, number)))
        }
        return try reader.page(earlier: earlier, upTo: middle, later: limit - earlier).bounded(
            bytes: limits.pageBytes, nearest: middle)
    }

    package func message(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> SeenMessage {
        let found = try get(id, by: user, in: store)
        let reader = PageReader(found: found, user: user, store: store)
        guard let message = try reader.message(number) else { throw Problem.notFound("message", field: "number") }
        return message
    }

    /// A changed message as the user sees it; nil if they do not see it, or are not in the conversation.
    package func seen(
        _ message: Message, by user: UserID, in store: some MessagingStore
    ) throws -> SeenMessage? {
        let found: MemberConversation
        do {
            found = try get(message.conversation, by: user, for: .listen, in: store)
        } catch let problem as Problem where problem.kind == .notFound || problem.kind == .forbidden {
            return nil
        }
        return try PageReader(found: found, user: user, store: store).seen(message)
    }

    /// The former texts of a message, the oldest first; none of a deleted one. A user who left sees those that were
    /// there then. A user who had blocked the author sees none that were written meanwhile.
    package func edits(
        of number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> [MessageEdit] {
        let shown = try message(number, in: id, by: user, store: store)
        guard shown.deletedAt == nil else { return [] }
        return try store.edits(of: number, in: id).filter {
            $0.textVersion < shown.textVersion && (!$0.isWithheld || shown.author == user)
        }
    }

    /// A page of the former texts, which ends where its bytes are reached.
    ///
    /// - Parameter version: `next` of the page before; 0 at the start.
    package func edits(
        of number: Int64, in id: ConversationID, after version: Int64, limit: Int, by user: UserID,
        store: some MessagingStore
    ) throws -> (edits: [MessageEdit], next: Int64?) {
        let shown = try message(number, in: id, by: user, store: store)
        guard shown.deletedAt == nil else { return ([], nil) }
        let limit = min(limits.page, max(1, limit))
        var (edits, bytes, last) = ([MessageEdit](), 0, version)
        while true {
            let batch = try store.edits(of: number, in: id, after: last, limit: Self.editsRead)
            for edit in batch {
                guard edit.textVersion < shown.textVersion else { return (edits, nil) }
                if !edit.isWithheld || shown.author == user {
                    bytes += edit.text.utf8.count
                    guard edits.isEmpty || edits.count < limit && bytes <= limits.pageBytes else {
                        return (edits, last)
                    }
                    edits.append(edit)
                }
                last = edit.textVersion
            }
            guard batch.count == Self.editsRead else { return (edits, nil) }
        }
    }

    private static let editsRead = 8

    /// The number of the last message that was sent before a time, or 0. The order of the numbers is that of the times,
    /// so it is found by halving.
    private func lastNumber(
        before time: Timestamp, in conversation: Conversation, store: some MessagingStore
    ) throws -> Int64 {
        var (known, above) = (Int64(0), conversation.lastNumber + 1)
        while above - known > 1 {
            let middle = known + (above - known) / 2
            if let sent = try store.sentAt(middle, in: conversation.id), sent >= time {
                above = middle
            } else {
                known = middle
            }
        }
        return known
    }

    private static func before(_ number: Int64) -> Int64 { number > 1 ? number - 1 : 0 }
}

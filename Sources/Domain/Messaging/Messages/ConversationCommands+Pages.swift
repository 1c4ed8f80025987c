package import Model

/// Which messages a page is to have.
package enum PageAnchor: Hashable, Sendable {
    case newest
    /// Those before a number, the nearest ones.
    case before(Int64)
    case after(Int64)
    /// Half of them at a number or before it, half after it.
    case around(Int64)
}

/// A page of messages, in the order of their numbers.
package struct MessagePage: Hashable, Sendable {
    package var messages: [Message]
    /// The numbers that the page speaks for: one that is not among its messages is not to be seen by the reader. Nil if
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
    package func page(
        _ anchor: PageAnchor, of id: ConversationID, limit: Int, by user: UserID, in store: some MessagingStore
    ) throws -> MessagePage {
        let found = try get(id, by: user, in: store)
        let reader = PageReader(found: found, user: user, store: store)
        let limit = min(limits.page, max(1, limit))
        let last = found.conversation.lastNumber
        switch anchor {
        case .newest: return try reader.page(earlier: limit, upTo: last, later: 0)
        case .before(let number): return try reader.page(earlier: limit, upTo: min(last, Self.before(number)), later: 0)
        case .after(let number): return try reader.page(earlier: 0, upTo: max(0, min(last, number)), later: limit)
        case .around(let number):
            let earlier = (limit + 1) / 2
            return try reader.page(earlier: earlier, upTo: max(0, min(last, number)), later: limit - earlier)
        }
    }

    package func message(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> Message {
        let found = try get(id, by: user, in: store)
        let reader = PageReader(found: found, user: user, store: store)
        guard let message = try reader.message(number) else { throw Problem.notFound("message", field: "message") }
        return message
    }

    /// The former texts of a message, the oldest first; none of a deleted one. Who left sees those that were there, and who
    /// had blocked the author none that were written meanwhile.
    package func edits(
        of number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> [MessageEdit] {
        let shown = try message(number, in: id, by: user, store: store)
        return try store.edits(of: number, in: id).filter {
            $0.textVersion < shown.textVersion && (!$0.isWithheld || shown.author == user)
        }
    }

    private static func before(_ number: Int64) -> Int64 { number > 1 ? number - 1 : 0 }
}

/// Reads messages as one member sees them.
private struct PageReader<Store: MessagingStore> {
    let found: MemberConversation
    let user: UserID
    let store: Store

    private var id: ConversationID { found.conversation.id }

    /// Up to `earlier` messages at `middle` and before it, and up to `later` after it.
    func page(earlier: Int, upTo middle: Int64, later: Int) throws -> MessagePage {
        let last = found.conversation.lastNumber
        // One more tells whether there are others.
        let before = try read(1, middle, isNewestFirst: true, limit: earlier + 1)
        let after = try read(middle + 1, last, isNewestFirst: false, limit: later + 1)
        let messages = before.prefix(earlier).reversed() + after.prefix(later)
        var page = MessagePage(
            messages: try messages.map { try asSeen($0) }, range: nil, sequence: found.conversation.sequence,
            hasEarlier: before.count > earlier, hasLater: after.count > later)
        // Towards a side on which there is nothing more, the page speaks for all numbers that it asked for.
        let earliest = page.hasEarlier ? messages.first?.number ?? middle + 1 : 1
        let latest = page.hasLater ? messages.last?.number ?? middle : last
        let (first, end) = (earlier > 0 ? earliest : middle + 1, later > 0 ? latest : middle)
        if first <= end { page.range = first...end }
        return page
    }

    func message(_ number: Int64) throws -> Message? {
        guard found.access.sees(number), let message = try store.message(number, in: id), message.isVisible(to: user)
        else { return nil }
        return try asSeen(message)
    }

    private func read(_ first: Int64, _ last: Int64, isNewestFirst: Bool, limit: Int) throws -> [Message] {
        guard first <= last, found.member.state != .invited || found.conversation.kind == .direct else { return [] }
        var ranges = found.access.spans.visible(in: first...last)
        if isNewestFirst { ranges.reverse() }
        var messages: [Message] = []
        for range in ranges where messages.count < limit {
            messages += try store.messages(
                in: id, range, visibleTo: user, isNewestFirst: isNewestFirst, limit: limit - messages.count)
        }
        return messages
    }

    /// Who left sees messages as they were then, but for those that were deleted since; and nobody but their author sees
    /// texts that are withheld.
    private func asSeen(_ message: Message) throws -> Message {
        let until = found.access.spans.span(of: message.number)?.untilSequence ?? .max
        let isAuthor = message.author == user
        guard message.deletedAt == nil, message.textVersion > until || message.isTextWithheld && !isAuthor else {
            return message
        }
        let edits = try store.edits(of: message.number, in: id)
        guard let index = edits.lastIndex(where: { $0.textVersion <= until && (!$0.isWithheld || isAuthor) }) else {
            return message
        }
        var seen = message
        seen.text = edits[index].text
        seen.ranges = RangeFinder.ranges(in: edits[index].text).ranges
        (seen.textVersion, seen.version) = (edits[index].textVersion, edits[index].textVersion)
        seen.editedAt = index == 0 ? nil : edits[index].writtenAt
        seen.isTextWithheld = false
        return seen
    }
}

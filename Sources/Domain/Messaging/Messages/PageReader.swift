import Model

/// Reads messages as one member sees them.
struct PageReader<Store: MessagingStore> {
    let found: MemberConversation
    let user: UserID
    let store: Store
    /// Of this thread alone, by the number of its root; nil for all messages.
    var thread: Int64?

    var id: ConversationID { found.conversation.id }

    /// Up to `earlier` messages at `middle` and before it, down to those after `first`; and up to `later` after it.
    func page(earlier: Int, upTo middle: Int64, later: Int, after first: Int64 = 0) throws -> MessagePage {
        let last = found.conversation.lastNumber
        // One more tells whether there are others.
        let before = try read(first + 1, middle, isNewestFirst: true, limit: earlier + 1)
        let after = try read(middle + 1, last, isNewestFirst: false, limit: later + 1)
        let messages = before.prefix(earlier).reversed() + after.prefix(later)
        var page = MessagePage(
            messages: try asSeen(Array(messages)), range: nil, sequence: found.conversation.sequence,
            hasEarlier: before.count > earlier, hasLater: after.count > later)
        // Towards a side on which there is nothing more, the page speaks for all numbers that it asked for.
        let earliest = page.hasEarlier ? messages.first?.number ?? middle + 1 : first + 1
        let latest = page.hasLater ? messages.last?.number ?? middle : last
        let (start, end) = (earlier > 0 ? earliest : middle + 1, later > 0 ? latest : middle)
        if start <= end { page.range = start...end }
        return page
    }

    func message(_ number: Int64) throws -> SeenMessage? {
        guard let message = try stored(number) else { return nil }
        return try asSeen(message)
    }

    /// The message as the user sees it; nil if they do not.
    func seen(_ message: Message) throws -> SeenMessage? {
        guard try isVisible(message) else { return nil }
        return try asSeen(message)
    }

    /// The message as it is stored, if the user may see it and has not deleted it for themselves. A message that is due
    /// comes as a tombstone, which must not be stored.
    func stored(_ number: Int64) throws -> Message? {
        guard found.access.sees(number), let message = try store.message(number, in: id), try isVisible(message) else {
            return nil
        }
        return message.asOf(store.now)
    }

    private func isVisible(_ message: Message) throws -> Bool {
        try found.access.sees(message.number) && message.isVisible(to: user)
            && !store.ownRows(of: user, in: id, message.number...message.number).contains(where: \.isHidden)
    }

    private func read(_ first: Int64, _ last: Int64, isNewestFirst: Bool, limit: Int) throws -> [Message] {
        guard first <= last else { return [] }
        var ranges = found.access.visible(in: first...last)
        if isNewestFirst { ranges.reverse() }
        var messages: [Message] = []
        for range in ranges where messages.count < limit {
            let left = limit - messages.count
            messages +=
                try thread.map {
                    try store.replies(
                        to: $0, in: id, range, visibleTo: user, isNewestFirst: isNewestFirst, limit: left)
                } ?? store.messages(in: id, range, visibleTo: user, isNewestFirst: isNewestFirst, limit: left)
        }
        return messages
    }

    /// The text that the user sees. A user who left sees the text of that time, unless the message was deleted since
    /// then. Only its author sees a text that is withheld. Users who left are not told how something ended that was
    /// going on then, so they see nothing of it from then on.
    func withSeenText(_ message: Message) throws -> Message {
        let until = found.access.spans.span(of: message.number)?.untilSequence ?? .max
        let isAuthor = message.author == user
        let isOfThen = message.textVersion <= until && (until == .max || !message.isUnderWay)
        guard message.deletedAt == nil, !isOfThen || message.isTextWithheld && !isAuthor else { return message }
        if message.kind == .call {
            var seen = message
            (seen.call, seen.textVersion) = (message.call?.asItBegan, until)
            return seen
        }
        if message.kind == .voice {
            var seen = message
            (seen.voice, seen.textVersion) = (message.voice?.asItWasSent, until)
            return seen
        }
        guard
            let (edit, isFirst) = try store.edit(
                of: message.number, in: id, upTo: until, includingWithheld: isAuthor)
        else { return message }
        var seen = message
        seen.text = edit.text
        seen.ranges = edit.ranges
        seen.language = edit.language
        seen.textVersion = edit.textVersion
        seen.editedAt = isFirst ? nil : edit.writtenAt
        seen.isTextWithheld = false
        return seen
    }
}

package import Model

/// What of a conversation has changed for a reader since a position, in the order of the changes.
package struct ConversationChanges: Hashable, Sendable {
    package enum Row: Hashable, Sendable {
        case conversation(Conversation)
        case member(Member)
        case message(SeenMessage)

        /// The sequence of the change.
        package var version: Int64 {
            switch self {
            case .conversation(let conversation): conversation.version
            case .member(let member): member.version
            case .message(let message): message.version
            }
        }
    }

    package var rows: [Row]
    /// Numbers of newer messages that are left out, since there are too many.
    package var gap: ClosedRange<Int64>?
}

// Listening.
extension ConversationCommands {
    /// What a listener is told later is for the numbers of this view. It changes when the user hides a message.
    package func view(of found: MemberConversation, in store: some MessagingStore) throws -> ConversationView {
        let spans = found.access.spans
        let hidden = try store.hiddenNumbers(
            of: found.member.user, in: found.conversation.id, 1...Int64.max, limit: limits.hidden)
        let former = spans.spans.compactMap { span -> (numbers: ClosedRange<Int64>, end: Int64)? in
            guard let until = span.until, until > span.from else { return nil }
            return ((span.from + 1)...until, span.untilSequence ?? .max)
        }
        return ConversationView(
            user: found.member.user, from: spans.isOpen ? spans.from : .max, former: former.map(\.numbers),
            formerEnds: former.map(\.end), hidden: hidden)
    }

    /// The conversation, if the user may listen to it.
    package func listen(
        _ id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> MemberConversation { try get(id, by: user, for: .listen, in: store) }

    /// The newest messages, at most `bytes` of text, for the snapshot of a listener.
    package func window(
        of id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> MessagePage {
        try page(.newest, of: id, limit: limits.window, by: user, in: store).bounded(bytes: limits.windowBytes)
    }

    /// What has changed after `sequence`, as a listener sees it. `held` are the numbers of the messages that the
    /// listener holds: of others only newer ones are returned.
    ///
    /// - Returns: nil if it is too much: a snapshot costs less.
    package func changes(
        of found: MemberConversation, after sequence: Int64, holding held: ClosedRange<Int64>?,
        in store: some MessagingStore
    ) throws -> ConversationChanges? {
        let conversation = found.conversation
        guard sequence <= conversation.sequence else { return nil }
        var changes = ConversationChanges(rows: [])
        guard sequence < conversation.sequence else { return changes }
        var shown = conversation
        shown.version = conversation.version(for: found.member.user)
        let reader = PageReader(found: found, user: found.member.user, store: store)
        let members = try store.members(of: conversation.id, changedAfter: sequence, limit: limits.changes + 1)
        changes.rows += members.map { .member($0.shown(in: conversation.kind)) }
        // The messages that are newer than the position, or as many of the newest as a window has. A message that is
        // newer than those that the client holds was not received, whenever it was sent: a reply in several parts may
        // have broken off.
        let last = min(try store.lastNumber(of: conversation.id, at: sequence), held?.upperBound ?? .max)
        let newer = try reader.page(earlier: limits.window, upTo: conversation.lastNumber, later: 0, after: last)
        changes.rows += newer.messages.map { .message($0) }
        // The document alone tells the number of a last message that the user has cleared or hidden.
        let lacksLast = conversation.lastNumber > last && newer.messages.last?.number != conversation.lastNumber
        if shown.version > sequence || lacksLast { changes.rows.append(.conversation(shown)) }
        if newer.hasEarlier, let first = newer.range?.lowerBound, first > last + 1 {
            changes.gap = (last + 1)...(first - 1)
        }
        let changed = try store.changedMessages(
            in: conversation.id, after: sequence, numbers: held ?? 1...Int64.max, limit: limits.changes + 1)
        guard members.count + changed.count <= limits.changes else { return nil }
        for message in changed where message.number <= last {
            if let seen = try reader.seen(message) { changes.rows.append(.message(seen)) }
        }
        changes.rows.sort { $0.version < $1.version }
        return changes
    }
}

extension MessagePage {
    /// The page's messages that are nearest to a number, with at most so many bytes, but at least one.
    package func bounded(bytes: Int, nearest number: Int64 = .max) -> MessagePage {
        var end = messages.firstIndex { $0.number > number } ?? messages.endIndex
        var start = end
        var (size, isLater) = (0, true)
        while start > 0 || end < messages.count {
            // On both sides in turn, while there is something on both.
            isLater = start == 0 || end < messages.count && !isLater
            size += messages[isLater ? end : start - 1].size
            guard size <= bytes || start == end else { break }
            if isLater { end += 1 } else { start -= 1 }
        }
        guard end - start < messages.count, let first = messages[start..<end].first?.number,
            let last = messages[start..<end].last?.number
        else { return self }
        var page = self
        page.messages = Array(messages[start..<end])
        if start > 0 { page.hasEarlier = true }
        if end < messages.count { page.hasLater = true }
        if let range {
            let (lower, upper) = (start > 0 ? first : range.lowerBound, end < messages.count ? last : range.upperBound)
            page.range = lower...max(lower, upper)
        }
        return page
    }
}

extension Message {
    /// Roughly the bytes of its document.
    package var size: Int {
        400 + (text?.utf8.count ?? 0) + ranges.count * 60 + (call?.participants.count ?? 0) * 80
            + reactions.reduce(0) { $0 + 60 + $1.users.count * 40 }
    }
}

package import Model

// Marks say how far members have read and received. They have a counter of their own, since the conversation's sequence
// would tell all members that somebody has read.
extension ConversationCommands {
    /// Raises the user's marks. Lower ones change nothing, and marks beyond the last message are reduced to it.
    ///
    /// - Parameters:
    ///   - read: the last message that was read on any device, and those before it.
    ///   - delivered: the last message that a device has received.
    package func mark(
        read: Int64?, delivered: Int64?, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> MemberMarks {
        let found = try get(id, by: user, for: .listen, in: store)
        return try raise(read: read, delivered: delivered, of: user, found, in: store)
    }

    /// How far the user is.
    package func ownMarks(
        in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> MemberMarks {
        _ = try get(id, by: user, in: store)
        return try store.marks(of: user, in: id) ?? MemberMarks(user: user)
    }

    /// The marks of members that the user sees, without their own: of small groups, and while the user lets others see
    /// theirs. Of what others have read it has what they show.
    package func othersMarks(
        in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> [MemberMarks] {
        let found = try get(id, by: user, for: .listen, in: store)
        guard try sendsReceipts(user, in: id, store) else { return [] }
        return try marksOfOthers(found, in: store)
    }

    /// What the others show, whether the member sees it or not.
    func marksOfOthers(_ found: MemberConversation, in store: some MessagingStore) throws -> [MemberMarks] {
        guard found.member.state == .member, found.conversation.memberCount <= limits.markedMembers else { return [] }
        return try store.marksOfMembers(of: found.conversation.id, limit: limits.markedMembers).filter {
            $0.user != found.member.user
        }.map { other in
            var shown = other
            shown.marks.hideRead()
            return shown
        }
    }

    func raise(
        read: Int64?, delivered: Int64?, of user: UserID, _ found: MemberConversation, in store: some MessagingStore
    ) throws -> MemberMarks {
        let id = found.conversation.id
        let before = try store.marks(of: user, in: id) ?? MemberMarks(user: user)
        if read != nil { try endMarkedUnread(of: user, in: id, store) }
        let newest = try newest(found, user, store)
        let shows = try showsReceipts(user, found, in: store)
        let isBlocked = try isWithheld(from: user, found.conversation, in: store)
        let isSmall = found.conversation.memberCount <= limits.markedMembers
        var marks = before
        marks.marks.raise(
            read: read ?? 0, delivered: isSmall ? delivered ?? 0 : 0, after: found.access.spans.from, newest: newest,
            showsReceipts: shows, isBlocked: isBlocked)
        guard marks != before else { return before }
        marks.counter = try store.nextCounter()
        try store.save(marks, in: id)
        if shows, !isBlocked {
            try note(from: before, to: marks, found.conversation, keepsDelivered: isSmall, in: store)
        }
        return marks
    }

    /// Whether the user lets others see here what they have read: as the membership says, else the user's setting.
    func sendsReceipts(_ user: UserID, in id: ConversationID, _ store: some MessagingStore) throws -> Bool {
        try store.membership(of: user, in: id).receipts ?? store.sendsReceipts(user)
    }

    /// Whether others see what the user reads now; they may have blocked the user. Nothing is shown before a request is
    /// accepted, nor while the user has blocked the other person. For the sender, both look as if the user had not read
    /// yet.
    private func showsReceipts(
        _ user: UserID, _ found: MemberConversation, in store: some MessagingStore
    ) throws -> Bool {
        guard found.member.state == .member else { return false }
        if found.conversation.kind == .direct {
            guard found.conversation.memberCount == 2, let other = try other(than: user, in: found.conversation, store),
                try !store.isBlocked(other, by: user)
            else { return false }
        }
        return try sendsReceipts(user, in: found.conversation.id, store)
    }

    /// The newest message that the user sees: marks do not go beyond it.
    private func newest(
        _ found: MemberConversation, _ user: UserID, _ store: some MessagingStore
    ) throws -> Int64 {
        guard let newest = found.access.spans.newest(lastNumber: found.conversation.lastNumber) else { return 0 }
        guard found.conversation.kind == .direct else { return newest }
        return try store.messages(
            in: found.conversation.id, 1...newest, visibleTo: user, isNewestFirst: true, limit: 1
        ).first?.number ?? 0
    }

    private func endMarkedUnread(of user: UserID, in id: ConversationID, _ store: some MessagingStore) throws {
        var membership = try store.membership(of: user, in: id)
        guard membership.isMarkedUnread else { return }
        membership.isMarkedUnread = false
        try save(&membership, of: user, in: id, store)
    }

    /// Notes when marks rose, for the newest messages.
    private func note(
        from before: MemberMarks, to after: MemberMarks, _ conversation: Conversation, keepsDelivered: Bool,
        in store: some MessagingStore
    ) throws {
        let oldest = oldestTimed(in: conversation)
        func note(_ kind: MarkRise.Kind, _ from: Int64, _ to: Int64) throws {
            guard from < to, to >= oldest else { return }
            try store.insert(
                MarkRise(user: after.user, kind: kind, from: from, to: to, at: store.now), in: conversation.id)
        }
        try store.removeRises(of: after.user, upTo: oldest - 1, in: conversation.id)
        if let last = after.marks.shown.last, last.to > before.marks.read {
            try note(.read, max(last.from, before.marks.read), last.to)
        }
        if keepsDelivered { try note(.delivered, before.marks.delivered, after.marks.delivered) }
    }

    /// The first number of which it is kept when it was read.
    func oldestTimed(in conversation: Conversation) -> Int64 {
        max(1, conversation.lastNumber - limits.timedReceipts + 1)
    }
}

import Languages
package import Model

// The membership that is its owner's alone.
extension ConversationCommands {
    package func membership(
        in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> Membership {
        _ = try get(id, by: user, in: store)
        return try store.membership(of: user, in: id)
    }

    /// Changes the user's own settings of the conversation. A draft whose revision is not higher than that of the
    /// stored one is ignored: the result has the stored one. If the user has deleted the conversation for themselves,
    /// it is listed again when they pin it, or mark it as unread, which makes it count as unread.
    package func change(
        _ id: ConversationID, membership change: MembershipChange, by user: UserID, in store: some MessagingStore
    ) throws -> Membership {
        let found = try get(id, by: user, in: store)
        if change.draft != nil { try found.access.check(.listen) }
        var membership = try store.membership(of: user, in: id)
        let before = membership
        if let mute = change.mute { membership.mute = mute }
        if let isPinned = change.isPinned {
            if isPinned, !membership.isPinned { try checkPinned(by: user, in: store) }
            membership.isPinned = isPinned
        }
        if let isArchived = change.isArchived { membership.isArchived = isArchived }
        if let isMarkedUnread = change.isMarkedUnread { membership.isMarkedUnread = isMarkedUnread }
        if change.isPinned == true || change.isMarkedUnread == true { membership.removedAfter = nil }
        if let receipts = change.receipts { membership.receipts = receipts }
        if let draft = change.draft, draft.revision > membership.draft?.revision ?? 0 { membership.draft = draft }
        if let translation = change.translation { membership.choices.translation = translation }
        if let hints = change.hints { membership.choices.hints = hints }
        if let intelligence = change.intelligence { membership.choices.intelligence = intelligence }
        guard membership != before else { return before }
        if membership.choices.intelligence != before.choices.intelligence { try store.checkLevels(in: id) }
        try save(&membership, hasNewChoices: membership.choices != before.choices, of: user, in: id, store)
        return membership
    }

    /// The draft of this revision was sent: it is removed, unless a newer one is stored.
    func sent(
        draft revision: Int64, of user: UserID, in id: ConversationID, _ store: some MessagingStore
    ) throws {
        var membership = try store.membership(of: user, in: id)
        guard revision >= membership.draft?.revision ?? 0 else { return }
        membership.draft = Draft(stored: "", replyTo: nil, revision: revision)
        try save(&membership, of: user, in: id, store)
    }

    func save(
        _ membership: inout Membership, hasNewChoices: Bool = false, of user: UserID, in id: ConversationID,
        _ store: some MessagingStore
    ) throws {
        membership.counter = try store.nextCounter()
        if hasNewChoices { membership.choicesSince = membership.counter }
        try store.save(membership, of: user, in: id)
    }

    private func checkPinned(by user: UserID, in store: some MessagingStore) throws {
        guard try store.pinnedConversationCount(of: user) < limits.pinnedConversations else {
            throw Problem(
                .conflict, "You have pinned \(limits.pinnedConversations) conversations, the most one may pin.",
                field: "pinned")
        }
    }
}

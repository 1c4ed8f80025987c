package import Model

// Pins, which are a part of the conversation's document.
extension ConversationCommands {
    /// Pins a message for everybody. Pinning twice changes nothing.
    package func pin(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> MemberConversation {
        var (found, message) = try open(number, in: id, for: .pin, by: user, store: store)
        try checkAccepted(found, "pin messages")
        guard message.deletedAt == nil else { throw Problem(.conflict, "This message was deleted.") }
        try Self.checkIsNoNotice(message, "pinned")
        guard !found.pins.contains(number) else { return found }
        let seen = found.conversation.pins.filter { $0.isVisible(to: user) }
        guard seen.count < limits.pins else {
            throw Problem(.conflict, "\(limits.pins) messages are pinned, the most there may be: unpin one first.")
        }
        // Also a pin that only the user sees.
        let isWithheld = try message.isWithheld || isWithheld(from: user, found.conversation, in: store)
        found.conversation.pins.insert(PinnedMessage(number, onlyFor: isWithheld ? user : nil), at: 0)
        found.conversation.changeDocument(for: isWithheld ? user : nil)
        var notice = Notice(.pinned)
        notice.number = number
        try note(notice, by: user, isWithheld: isWithheld, in: &found.conversation, store: store)
        try store.update(found.conversation)
        found.pins.insert(number, at: 0)
        return found
    }

    /// Unpins a message for everybody. Unpinning twice changes nothing.
    package func unpin(
        _ number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> MemberConversation {
        var found = try get(id, by: user, for: .pin, in: store)
        if found.pins.contains(number) { try found.checkIsOpen(number) }
        let others = found.conversation.pins.contains { $0.number == number && $0.onlyFor == nil }
        guard found.pins.contains(number), found.conversation.unpin(number, by: user) else { return found }
        found.conversation.changeDocument(for: others ? nil : user)
        try store.update(found.conversation)
        found.pins.removeAll { $0 == number }
        return found
    }

    /// Of those that all see, or the user alone, without numbers that the user does not see.
    func pins(of found: MemberConversation, in store: some MessagingStore) throws -> [Int64] {
        let user = found.member.user
        let pins = found.conversation.pins.filter { $0.isVisible(to: user) && found.access.sees($0.number) }
        guard !pins.isEmpty else { return [] }
        var left = Set(pins.map(\.number))
        left.subtract(try store.hidden(of: left.sorted(), by: user, in: found.conversation.id))
        return pins.map(\.number).filter { left.remove($0) != nil }
    }
}

package import Model

// What becomes of a deleted user's conversations, in parts that may be repeated.
extension ConversationCommands {
    /// The limit for one transaction that erases messages: some milliseconds of the writer's time. A message with many
    /// former texts or reactions is a part of its own.
    static let maxErasureCost = 1_000

    /// Deletes what the user has written for all. Messages keep their numbers; conversations of two people stay.
    ///
    /// - Parameter clientID: of the last message that was deleted before; nil at the start.
    /// - Returns: the last one of this part; nil if there are no more.
    package func eraseMessages(
        of user: UserID, after clientID: ClientID?, limit: Int, in store: some MessagingStore
    ) throws -> ClientID? {
        var (last, cost): (ClientID?, Int) = (nil, 0)
        for found in try store.messages(by: user, after: clientID, limit: limit)
        where cost < Self.maxErasureCost {
            last = found.clientID
            try store.eraseDigest(of: found.number, in: found.conversation)
            // A deletion of another one may have changed it, in whose thread that was.
            guard var message = try store.message(found.number, in: found.conversation), message.deletedAt == nil,
                var conversation = try store.conversation(found.conversation)
            else { continue }
            cost += try delete(&message, in: &conversation, store: store)
        }
        return last
    }

    /// Makes the user leave all groups, and shows the user's new profile in direct conversations.
    ///
    /// - Parameter id: of the last conversation that was left before; nil at the start.
    /// - Returns: the last one of this part; nil if there are no more.
    package func leaveGroups(
        of user: UserID, after id: ConversationID?, limit: Int, in store: some MessagingStore
    ) throws -> ConversationID? {
        let conversations = try store.conversations(of: user, after: id, limit: limit)
        for id in conversations {
            guard let conversation = try store.conversation(id), let member = try store.member(user, of: id),
                member.state != .left || member.isInvitationSilent
            else { continue }
            if conversation.kind == .group {
                try remove(member, from: conversation, in: store)
            } else {
                try show(member, in: conversation, store)
            }
        }
        return conversations.last
    }

    private func show(_ member: Member, in conversation: Conversation, _ store: some MessagingStore) throws {
        var (member, conversation) = (member, conversation)
        conversation.version = conversation.change()
        member.version = conversation.version
        try store.update(conversation)
        try store.save(member, of: conversation.id)
    }
}

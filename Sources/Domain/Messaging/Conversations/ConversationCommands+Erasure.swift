package import Model

// What becomes of a deleted user's conversations, in parts that may be repeated.
extension ConversationCommands {
    /// Deletes what the user has written for all. Messages keep their numbers; conversations of two people stay.
    ///
    /// - Parameter clientID: of the last message that was deleted before; nil at the start.
    /// - Returns: the last one of this part; nil if there are no more.
    package func eraseMessages(
        of user: UserID, after clientID: ClientID?, limit: Int, in store: some MessagingStore
    ) throws -> ClientID? {
        let messages = try store.messages(by: user, after: clientID, limit: limit)
        for var message in messages {
            try store.eraseDigest(of: message.number, in: message.conversation)
            guard message.deletedAt == nil, var conversation = try store.conversation(message.conversation) else {
                continue
            }
            try delete(&message, in: &conversation, store: store)
        }
        return messages.last?.clientID
    }

    /// Has the user leave all groups.
    ///
    /// - Parameter id: of the last conversation that was left before; nil at the start.
    /// - Returns: the last one of this part; nil if there are no more.
    package func leaveGroups(
        of user: UserID, after id: ConversationID?, limit: Int, in store: some MessagingStore
    ) throws -> ConversationID? {
        let conversations = try store.conversations(of: user, after: id, limit: limit)
        for id in conversations {
            guard let conversation = try store.conversation(id), conversation.kind == .group,
                let member = try store.member(user, of: id), member.state != .left
            else { continue }
            try remove(member, from: conversation, in: store)
        }
        return conversations.last
    }
}

package import Model

// Who is writing. This is not stored.
extension ConversationCommands {
    /// Whether the user may learn who is writing. A user who has not accepted a request may not.
    package func checkTyping(in id: ConversationID, by user: UserID, store: some MessagingStore) throws {
        let found = try get(id, by: user, for: .listen, in: store)
        guard found.member.state == .member else {
            throw Problem(.forbidden, "You were asked whether somebody may write to you: accept first.")
        }
    }

    /// Whether others are told that the user is writing: not before a request is accepted, nor while one of the two has
    /// blocked the other. Neither can be told from the response.
    package func tellsTyping(of user: UserID, in id: ConversationID, store: some MessagingStore) throws -> Bool {
        let found = try get(id, by: user, for: .write, in: store)
        guard found.conversation.kind == .direct else { return found.conversation.kind == .group }
        guard found.conversation.memberCount == 2,
            let other = try store.members(of: id, after: nil, limit: 2).first(where: { $0.user != user })?.user
        else { return false }
        return try !store.isBlocked(user, by: other) && !store.isBlocked(other, by: user)
    }
}

import Model

// How often users who have declined are asked again.
extension ConversationCommands {
    /// Somebody declines an invitation to a group, or a request to write.
    func noteDecline(of member: Member, in conversation: Conversation, _ store: some MessagingStore) throws {
        var subjects = [DeclineSubject.conversation(conversation.id)]
        if let inviter = member.invitedBy { subjects.append(.inviter(inviter)) }
        for subject in subjects {
            let count = try store.declines(of: member.user, subject)?.count ?? 0
            try store.save(
                Declines(count: min(count, limits.declines) + 1, last: store.now), of: member.user, subject)
        }
    }

    /// Whether an invitation by somebody who is not a friend does not reach the user: if the user has declined one to
    /// the same group, or by the same person, not long ago or too often; if the user refuses all invitations; or if the
    /// user has blocked that person.
    func isInvitationSilent(
        for user: UserID, to id: ConversationID, by inviter: UserID, in store: some MessagingStore
    ) throws -> Bool {
        if try store.isBlocked(inviter, by: user) || store.messageRequests(of: user) == .refuse { return true }
        for subject in [DeclineSubject.conversation(id), .inviter(inviter)] {
            guard let declines = try store.declines(of: user, subject) else { continue }
            if declines.count >= limits.declines { return true }
            if store.now < declines.last.adding(seconds: limits.declinedSeconds) { return true }
        }
        return false
    }
}

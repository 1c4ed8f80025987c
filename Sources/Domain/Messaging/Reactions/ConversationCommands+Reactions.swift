package import Model

// Reactions. Each changes the message's version, and neither its text nor what an edit of it is based on.
extension ConversationCommands {
    /// Reacts to a message. Reacting twice with the same emoji changes nothing.
    package func react(
        with emoji: ReactionEmoji, to number: Int64, in id: ConversationID, by user: UserID,
        store: some MessagingStore
    ) throws -> SeenMessage {
        var (found, message) = try open(number, in: id, for: .write, by: user, store: store)
        try checkAccepted(found, "react")
        guard message.deletedAt == nil else { throw Problem(.conflict, "This message was deleted.") }
        try Self.checkIsNoNotice(message, "reacted to")
        let own = try store.reactions(of: user, to: number...number, in: id)
        if !own.contains(where: { $0.emoji == emoji.text }) {
            try check(emoji, of: user, own, to: message, found, in: store)
            let isWithheld = try isWithheld(from: user, found.conversation, in: store)
            let reaction = Reaction(
                conversation: id, number: number, user: user, emoji: emoji.text, at: store.now,
                sequence: found.conversation.change(), isWithheld: isWithheld)
            try store.insert(reaction)
            if !isWithheld { message.reactions.add(user, emoji: emoji.text) }
            message.change(to: reaction.sequence, isWithheld: isWithheld)
            try store.update(message)
            try store.update(found.conversation)
            try touchOwn(number, of: user, in: id, store)
        }
        return try found.seen(message, by: user, in: store)
    }

    /// Takes a reaction back. Taking it back twice changes nothing.
    package func removeReaction(
        _ emoji: ReactionEmoji, to number: Int64, in id: ConversationID, by user: UserID, store: some MessagingStore
    ) throws -> SeenMessage {
        var (found, message) = try open(number, in: id, for: .listen, by: user, store: store)
        let own = try store.reactions(of: user, to: number...number, in: id)
        if message.deletedAt == nil, let reaction = own.first(where: { $0.emoji == emoji.text }) {
            try remove(reaction, from: &message, in: &found.conversation, store: store)
            try touchOwn(number, of: user, in: id, store)
        }
        return try found.seen(message, by: user, in: store)
    }

    /// The users who have reacted, in order, after a sequence; with one emoji or with any.
    package func reactions(
        to number: Int64, in id: ConversationID, emoji: ReactionEmoji?, after sequence: Int64, limit: Int,
        by user: UserID, store: some MessagingStore
    ) throws -> (reactions: [Reaction], next: Int64?) {
        let found = try get(id, by: user, in: store)
        let reader = PageReader(found: found, user: user, store: store)
        guard let message = try reader.message(number) else { throw Problem.notFound("message", field: "number") }
        guard !message.reactions.isEmpty else { return ([], nil) }
        let limit = min(limits.page, max(1, limit))
        let page = try store.reactions(
            to: number, in: id, emoji: emoji?.text, after: sequence, visibleTo: user, limit: limit + 1)
        guard page.count > limit else { return (page, nil) }
        return (Array(page.prefix(limit)), page[limit - 1].sequence)
    }

    /// Removes some reactions of a deleted user.
    ///
    /// - Returns: how many; 0 if there are no more.
    package func eraseReactions(of user: UserID, limit: Int, in store: some MessagingStore) throws -> Int {
        let reactions = try store.reactions(by: user, limit: limit)
        for reaction in reactions {
            guard var conversation = try store.conversation(reaction.conversation),
                var message = try store.message(reaction.number, in: reaction.conversation)
            else {
                try store.remove(reaction)
                continue
            }
            try remove(reaction, from: &message, in: &conversation, store: store)
        }
        return reactions.count
    }

    /// Removals are seen by everybody, like deletions.
    private func remove(
        _ reaction: Reaction, from message: inout Message, in conversation: inout Conversation,
        store: some MessagingStore
    ) throws {
        try store.remove(reaction)
        if !reaction.isWithheld, let index = message.reactions.firstIndex(where: { $0.emoji == reaction.emoji }) {
            message.reactions[index].count -= 1
            message.reactions[index].users.removeAll { $0 == reaction.user }
            let kept = message.reactions[index]
            if kept.count <= 0 {
                message.reactions.remove(at: index)
            } else if kept.users.count < min(kept.count, MessageReaction.maxUsers) {
                message.reactions[index].users = try store.reactions(
                    to: message.number, in: message.conversation, emoji: kept.emoji, after: 0, visibleTo: nil,
                    limit: MessageReaction.maxUsers
                ).map(\.user)
            }
        }
        message.change(to: conversation.change(), isWithheld: false)
        try store.update(message)
        try store.update(conversation)
    }

    private func check(
        _ emoji: ReactionEmoji, of user: UserID, _ own: [Reaction], to message: Message, _ found: MemberConversation,
        in store: some MessagingStore
    ) throws {
        guard own.count < limits.reactionsOfUser else {
            throw Problem(.conflict, "You can react to a message with \(limits.reactionsOfUser) emoji.")
        }
        let seen = try found.seen(message, by: user, in: store).reactions
        guard seen.contains(where: { $0.emoji == emoji.text }) || seen.count < limits.reactionKinds else {
            throw Problem(
                .conflict, "A message has reactions of at most \(limits.reactionKinds) emoji: use one that is there.",
                field: "emoji")
        }
        guard seen.reduce(0, { $0 + $1.count }) < limits.reactions else {
            throw Problem(.conflict, "A message has at most \(limits.reactions) reactions.")
        }
    }
}

extension ConversationCommands {
    /// A message that the user sees as it is now, in a span that is open.
    func open(
        _ number: Int64, in id: ConversationID, for action: ConversationAction, by user: UserID,
        store: some MessagingStore
    ) throws -> (found: MemberConversation, message: Message) {
        let found = try get(id, by: user, for: action, in: store)
        try checkActive(user, in: store)
        guard let message = try PageReader(found: found, user: user, store: store).stored(number) else {
            throw Problem.notFound("message", field: "number")
        }
        try found.checkIsOpen(number)
        return (found, message)
    }

    /// - Parameter what: the user wants to do.
    func checkAccepted(_ found: MemberConversation, _ what: String) throws {
        guard found.conversation.kind == .direct, found.conversation.memberCount < 2 else { return }
        throw Problem(.forbidden, "You can \(what) when the other person has accepted the request.")
    }
}

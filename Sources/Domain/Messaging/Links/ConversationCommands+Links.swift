package import Model

// Links by which people join a group.
extension ConversationCommands {
    /// Makes a link.
    ///
    /// - Parameters:
    ///   - hash: the digest of its token.
    ///   - expiresAt: nil for the default, a week.
    ///   - maxUses: how many people may join by it; nil for any number.
    package func makeLink(
        to id: ConversationID, linkID: GroupLinkID, hash: [UInt8], expiresAt: Timestamp?, maxUses: Int?,
        by user: UserID, in store: some MessagingStore
    ) throws -> GroupLink {
        let found = try get(id, by: user, for: .makeLink, in: store)
        try checkActive(user, in: store)
        let expiresAt = expiresAt ?? store.now.adding(seconds: limits.linkSeconds)
        let range =
            store.now.adding(
                seconds: limits.leastLinkSeconds)...store.now.adding(seconds: limits.mostLinkSeconds)
        guard range.contains(expiresAt) else {
            throw Problem.invalid(
                "expiresAt",
                "A link expires after \(limits.leastLinkSeconds) seconds at the earliest, and after "
                    + "\(limits.mostLinkSeconds / 86_400) days at the latest.")
        }
        guard maxUses.map({ (1...limits.members).contains($0) }) ?? true else {
            throw Problem.invalid("maxUses", "maxUses must be a whole number from 1 to \(limits.members).")
        }
        let known = try removeExpiredLinks(of: id, in: store)
        guard known.count < limits.links, known.count(where: { $0.maker == user }) < limits.linksOfMember else {
            throw Problem(
                .conflict,
                "A group has at most \(limits.links) links, and \(limits.linksOfMember) by one member: remove one first."
            )
        }
        let link = GroupLink(
            id: linkID, conversation: id, maker: user, createdAt: store.now, expiresAt: expiresAt, maxUses: maxUses,
            sequence: found.conversation.sequence)
        try store.insert(link, hash: hash)
        return link
    }

    /// The links of a group that have not expired: all of them for its administrators, and for others their own.
    package func links(
        of id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> [GroupLink] {
        let found = try get(id, by: user, for: .makeLink, in: store)
        return try store.groupLinks(of: id).filter {
            !$0.hasExpired(at: store.now) && ($0.maker == user || found.member.role >= .admin)
        }
    }

    /// Removes a link: one's own, or as an administrator any. Removing twice changes nothing.
    package func removeLink(
        _ link: GroupLinkID, of id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws {
        let found = try get(id, by: user, for: .makeLink, in: store)
        guard let known = try store.groupLinks(of: id).first(where: { $0.id == link }) else { return }
        // Other members must not learn that this link exists.
        guard known.maker == user || found.member.role >= .admin else { return }
        try store.remove(known)
    }

    /// The group that the link is for. Nil if the link is wrong, has expired, is used up, has ended, was made by
    /// somebody who has blocked the user, or was made before the user was removed; the caller cannot tell which.
    package func linked(
        hash: [UInt8], by user: UserID, in store: some MessagingStore
    ) throws -> (link: GroupLink, conversation: Conversation)? {
        guard let link = try store.groupLink(hash: hash), !link.hasExpired(at: store.now),
            let conversation = try store.conversation(link.conversation), try isValid(link, of: conversation, store),
            try !store.isBlocked(user, by: link.maker)
        else { return nil }
        let member = try store.member(user, of: conversation.id)
        if member?.state == .member { return (link, conversation) }
        guard !link.isUsedUp else { return nil }
        if let removedAt = member?.removedAt, link.sequence < removedAt { return nil }
        return (link, conversation)
    }

    /// Has the user join a group. Joining twice changes nothing, and is one use.
    package func join(
        byLink hash: [UInt8], by user: UserID, in store: some MessagingStore
    ) throws -> (found: MemberConversation, isNew: Bool) {
        try checkActive(user, in: store)
        guard var (link, conversation) = try linked(hash: hash, by: user, in: store) else {
            throw Problem(
                .notFound,
                "There is no such link of a group, or it has ended. GET /v1/links/{token} says what a link is for.",
                field: "token")
        }
        let known = try store.member(user, of: conversation.id)
        if known?.state == .member { return (try get(conversation.id, by: user, in: store), false) }
        // What was left is counted already.
        if known?.conversationAtLeaving == nil { try checkCount(of: user, in: store) }
        // The invited are counted already.
        let count = try store.memberCount(of: conversation.id) + (known?.state == .invited ? 0 : 1)
        guard count <= limits.members else {
            throw Problem(.conflict, "A group has at most \(limits.members) members.")
        }
        link.uses += 1
        try store.update(link)
        try admit(user, to: &conversation, in: store)
        try noteJoined(user, via: .link, &conversation, store)
        try store.update(conversation)
        return (try get(conversation.id, by: user, in: store), true)
    }

    /// Removes the links whose makers have left or may no longer make any: they do not work again if that changes back.
    func endLinks(of conversation: Conversation, in store: some MessagingStore) throws {
        for link in try store.groupLinks(of: conversation.id) where try !mayKeep(link, of: conversation, store) {
            try store.remove(link)
        }
    }

    private func mayKeep(
        _ link: GroupLink, of conversation: Conversation, _ store: some MessagingStore
    ) throws -> Bool {
        guard let maker = try store.member(link.maker, of: conversation.id) else { return false }
        let access = ConversationAccess(
            kind: conversation.kind, settings: conversation.settings, state: maker.state, role: maker.role,
            spans: MembershipSpans())
        return access.problem(.makeLink) == nil
    }

    private func isValid(
        _ link: GroupLink, of conversation: Conversation, _ store: some MessagingStore
    ) throws -> Bool { try store.isActive(link.maker) && mayKeep(link, of: conversation, store) }

    private func removeExpiredLinks(
        of id: ConversationID, in store: some MessagingStore
    ) throws -> [GroupLink] {
        var kept: [GroupLink] = []
        for link in try store.groupLinks(of: id) {
            if link.hasExpired(at: store.now) { try store.remove(link) } else { kept.append(link) }
        }
        return kept
    }
}
